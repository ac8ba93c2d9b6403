"""Many PostgreSQL databases as one memory: a directory says which shard holds which space."""
