"""Models that run on this machine: what a manifest says of one, which can be downloaded, and how."""
