"""The plugin for Claude Code: manifest, hooks and the hook script."""
