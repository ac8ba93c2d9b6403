"""The records, ids and rules of memory: frozen data, without I/O."""
