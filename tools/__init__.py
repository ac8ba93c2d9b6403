"""Commands for those who work on Bethink."""
