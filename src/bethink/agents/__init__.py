"""Memory for coding agents: what their hooks say, which spaces they belong to, and how they are connected."""
