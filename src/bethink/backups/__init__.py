"""Backups of a whole memory: made while others write, checked, and restored without what was erased since."""
