"""Jobs driven by a Temporal cluster, for fleets that run one. The jobs table stays the truth: see `fleet.py` first."""
