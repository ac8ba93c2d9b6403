"""Reads the transcripts that coding agents write: what was said and done, line by line, and nothing else."""
