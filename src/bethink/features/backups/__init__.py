"""Backups of a whole memory: made while others write, checked, and restored without what was erased since."""

COMMANDS = {
    "backup": "Copy the whole memory into a file, while others use it.",
    "restore": "Replace the whole memory by a backup.",
    "verify": "Check that the memory, or a backup of it, is whole.",
}
