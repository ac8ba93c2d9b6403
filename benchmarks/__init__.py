"""Measurements; each prints its figures last and fails when one falls short of its goal."""
