"""Fault campaigns: each prints its figures last, fails when an invariant broke, and prints the seed that repeats it."""
