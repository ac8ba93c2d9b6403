"""Extract the summary and the facts of one session."""
