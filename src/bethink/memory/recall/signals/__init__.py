"""The signals of recall: each is a small class that scores one property of every candidate."""
