"""Many PostgreSQL databases as one memory: a directory says which cell holds which space."""
