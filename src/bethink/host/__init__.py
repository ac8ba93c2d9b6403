"""Backends that run requests (local, remote, off), and the functions that build them."""
