"""The two databases, and the threads that own their connections."""
