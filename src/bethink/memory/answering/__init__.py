"""Answers from memory, written by the model and verified sentence by sentence. Start with `service.py`."""
