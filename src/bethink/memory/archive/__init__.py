"""A space in one file, with everything in it: written, checked, read back, and exchanged between two memories."""
