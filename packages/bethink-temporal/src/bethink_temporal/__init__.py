"""Runs background jobs on a Temporal cluster. The jobs table remains authoritative. Start with `fleet.py`."""
