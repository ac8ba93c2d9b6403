"""Interfaces that the specification names and that nothing else here needs: each is a thin layer on the API."""
