"""What is known: statements with the messages they rest on."""
