"""Answers a question from what was learnt, and shows why."""
