"""Search: finds the memories that answer a question, and explains the ranking."""
