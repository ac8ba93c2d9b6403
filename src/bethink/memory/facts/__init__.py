"""Facts: statements with the messages they rest on."""
