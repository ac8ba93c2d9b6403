"""Interfaces that only the specification asks for: each is a thin layer on the API."""
