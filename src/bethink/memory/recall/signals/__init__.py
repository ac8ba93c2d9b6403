"""The signals of recall: each is one small class, and says one thing about every candidate."""
