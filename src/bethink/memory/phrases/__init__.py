"""Explicit corrections and requests to forget, recognized without a model in twelve languages."""
