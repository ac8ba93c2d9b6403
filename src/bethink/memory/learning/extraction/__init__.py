"""Extract the memory and the facts of one session."""
