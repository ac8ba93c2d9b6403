"""What was said: messages in sessions, append-only, and the marks of what is to be learnt from."""
