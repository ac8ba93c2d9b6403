"""What was said becomes what is known: one call per session, every output with its sources."""
