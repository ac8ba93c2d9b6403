"""The commands by name: sections, groups, aliases and renamed commands. Help is printed from here alone."""

from collections.abc import Mapping

from bethink.base.features import feature_commands

COMMANDS: Mapping[str, tuple[str, str]] = {
    "demo": ("demo", "Explore three months of sample conversations."),
    "connect": ("connect", "Connect Claude Code, Codex, Cursor or VS Code."),
    "ui": ("ui", "Open the web UI."),
    "add": ("add", "Store a note, or files with --file."),
    "recall": ("recall", "Search memory."),
    "context": ("recall", "Print the memory block for a prompt."),
    "ask": ("ask", "Answer a question from memory, with citations."),
    "show": ("show", "Show a memory and its sources, or the latest sessions."),
    "forget": ("forget", "Permanently delete memories and derived data."),
    "review": ("review", "Approve or reject pending facts and document changes."),
    "serve": ("serve", "Run the HTTP server."),
    "mcp": ("serve", "Run an MCP server for one space, over stdio."),
    "worker": ("worker", "Run background jobs: learning, indexing, webhooks."),
    "doctor": ("doctor", "Check the installation and suggest fixes."),
    "status": ("status", "Show the database, the space and pending work."),
    "sessions": ("show", "List sessions, newest first."),
    "fact list": ("facts", "List facts."),
    "fact history": ("versions", "List the versions of a fact."),
    "fact correct": ("correct", "Replace the text of a fact."),
    "fact pin": ("facts", "Always include a fact in context."),
    "fact unpin": ("facts", "Unpin a fact."),
    "fact rate": ("facts", "Rate a fact as useful, wrong or outdated."),
    "doc list": ("versions", "List documents."),
    "doc history": ("versions", "List the versions of a document."),
    "doc diff": ("versions", "Compare two versions of a document."),
    "doc edit": ("correct", "Replace the text of a document."),
    "doc revert": ("versions", "Restore an earlier version of a document."),
    "doc update": ("worker", "Update documents from learned facts."),
    "learn rules": ("rules", "Show or set what a space learns."),
    "learn jobs": ("jobs", "List background jobs."),
    "learn thread": ("threads", "Inspect or step through an agent's working memory."),
    "data export": ("export", "Export a space."),
    "data sync": ("sync", "Sync two databases in both directions."),
    "data migrate": ("migrate", "Apply pending schema migrations."),
    "data reindex": ("reindex", "Rebuild vectors for the configured embedder."),
    "data models": ("models", "List and download local models."),
    "admin spaces": ("spaces", "List spaces."),
    "admin erasures": ("erasures", "List deletions and their receipts."),
    "admin receipt": ("erasures", "Verify deletion receipts."),
    "admin changes": ("changes", "Show recent changes in a space."),
    "admin config": ("init", "Show settings."),
    "admin init": ("init", "Write a settings file and create a database."),
    "admin completion": ("init", "Print shell completion."),
    **feature_commands(),
}
"""The module and the summary of each command, so that --help loads none of them."""

SECTIONS: Mapping[str, tuple[str, ...]] = {
    "Get started": ("try", "demo", "connect", "ui"),
    "Use memory": ("add", "recall", "context", "ask", "show", "forget", "review"),
    "Run it": ("serve", "mcp", "worker", "doctor"),
}
"""The commands that --help lists, by section."""

GROUPS: Mapping[str, str] = {
    "guard": "Check whether agents follow your instructions.",
    "fact": "List, correct, pin and rate facts.",
    "doc": "List, compare, edit and revert documents.",
    "learn": "Set learning rules, preview, relearn, inspect jobs.",
    "test": "Run memory tests and evaluations.",
    "data": "Import, export, sync, back up, restore, migrate.",
    "admin": "Manage spaces, keys, people, retention and webhooks.",
}
RUN_ALONE: Mapping[str, str] = {"test": "run"}
"""The command that a group runs if it is called alone. The others print their help."""
DISTRIBUTION_GROUP = "admin"
"""The group of the commands that our other distributions add."""
ALIASES: Mapping[str, str] = {"import": "data import", "facts": "fact", "docs": "doc", "tests": "test"}
"""Other names of commands and groups, outside the lists. `status`, `sessions` and `log` are commands of their own."""

RENAMED: Mapping[str, str] = {
    "add-file": "add --file",
    "correct": "fact correct",
    "pin": "fact pin",
    "unpin": "fact unpin",
    "pins": "fact list --pinned",
    "feedback": "fact rate",
    "diff": "doc diff",
    "revert": "doc revert",
    "consolidate": "doc update",
    "rules": "learn rules",
    "preview": "learn preview",
    "relearn": "learn relearn",
    "jobs": "learn jobs",
    "step": "learn thread",
    "eval": "test eval",
    "export": "data export",
    "sync": "data sync",
    "backup": "data backup",
    "restore": "data restore",
    "verify": "data verify",
    "migrate": "data migrate",
    "reindex": "data reindex",
    "models": "data models",
    "spaces": "admin spaces",
    "keys": "admin keys",
    "access": "admin access",
    "person": "admin person",
    "retention": "admin retention",
    "retention hold": "admin hold place",
    "retention holds": "admin hold list",
    "retention lift": "admin hold lift",
    "erasures": "admin erasures",
    "verify-receipt": "admin receipt verify",
    "changes": "admin changes",
    "webhooks": "admin webhooks",
    "config": "admin config",
    "init": "admin init",
    "completion": "admin completion",
    "cells": "admin shards",
    "shards": "admin shards",
    "temporal": "admin temporal",
}
"""Old names of commands, for one release."""


def listed_commands(group: str = "") -> dict[str, str]:
    """Return the commands that help lists in a group, or at the top, with their summaries. Loads none of them."""
    if not group:
        return {name: COMMANDS[name][1] for names in SECTIONS.values() for name in names if name in COMMANDS}
    start = f"{group} "
    return {name.removeprefix(start): COMMANDS[name][1] for name in sorted(COMMANDS) if name.startswith(start)}


def listed_groups() -> dict[str, str]:
    """Return the groups that have commands, with their summaries."""
    return {name: line for name, line in GROUPS.items() if listed_commands(name)}
