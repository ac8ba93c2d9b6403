"""Readers of coding agent transcripts, line by line."""
