"""The plugin for Claude Code: its manifest, its hooks, and the script that they run."""
