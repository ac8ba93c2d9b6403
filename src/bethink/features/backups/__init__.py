"""Online backups: create, verify and restore. A restore repeats later deletions."""

COMMANDS = {
    "data backup": "Back up the database while it is in use.",
    "data restore": "Restore a backup.",
    "data verify": "Check a database or backup for corruption.",
}
