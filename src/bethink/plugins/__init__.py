"""What we ship for the sockets."""
