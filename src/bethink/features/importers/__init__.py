"""Imports conversations and memories from other tools, and previews the facts they would give."""

COMMANDS = {
    "data import": "Import conversations and memories from other tools.",
    "try": "Preview what Bethink would learn from your coding sessions.",
    "learn preview": "Show what would be learned, without storing it.",
}
