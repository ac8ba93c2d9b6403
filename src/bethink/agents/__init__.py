"""Memory for coding agents: their hooks, spaces and connections."""
