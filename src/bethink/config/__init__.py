"""Settings: their sources, defaults and descriptions."""
