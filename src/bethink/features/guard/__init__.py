"""The guard: checks of what users told coding agents, made from their sentences and judged on hook inputs."""

COMMANDS = {"guard try": "Count how often agents followed your instructions."}
