"""Backends that carry out requests (local, remote, off), and what puts their parts together."""
