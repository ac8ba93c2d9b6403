"""Facts: statements with their source messages."""
