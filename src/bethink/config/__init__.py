"""Settings: where they come from, and what each of them is."""
