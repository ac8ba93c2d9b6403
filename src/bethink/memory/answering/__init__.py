"""Answers from memory, written by the model and proven sentence by sentence: `service.py` first."""
