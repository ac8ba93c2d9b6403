"""Imports conversations and memories of other programs, and previews what would be learned from them."""

COMMANDS = {
    "import": "Import conversations and memories of other programs.",
    "try": "Show what memory would make of your last weeks with Claude Code and Codex.",
    "preview": "Show what would be learnt from messages, and store nothing.",
}
