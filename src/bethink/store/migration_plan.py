"""Statements that a migration would run, and the locks that each takes."""

import re
from collections.abc import Iterator

from bethink.base.frozen import frozen
from bethink.store.migrate import SchemaStatus, migrations, schema
from bethink.store.sql import Dialect

_TOKEN = re.compile(r"\$\$.*?\$\$|'(?:[^']|'')*'|--[^\n]*|\bBEGIN\b.*?\bEND(?=;)|;", re.DOTALL)
_COMMENT = re.compile(r"^\s*(--[^\n]*\n\s*)*")
_LOCKS = (
    (r"CREATE (?:UNIQUE )?INDEX\b.*?\bON (?:ONLY )?(\w+)", "SHARE on {}: writers wait"),
    (r"CREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER\b.*?\bON (\w+)", "SHARE ROW EXCLUSIVE on {}: writers wait"),
    (r"ALTER TABLE (?:IF EXISTS |ONLY )*(\w+)", "ACCESS EXCLUSIVE on {}: readers and writers wait"),
    (r"CREATE POLICY \w+ ON (\w+)", "ACCESS EXCLUSIVE on {}: readers and writers wait"),
    (r"DROP (?:TRIGGER|POLICY)\b.*?\bON (\w+)", "ACCESS EXCLUSIVE on {}: readers and writers wait"),
    (r"DROP (?:TABLE|INDEX|VIEW) (?:IF EXISTS )?(\w+)", "ACCESS EXCLUSIVE on {}: readers and writers wait"),
    (r"CREATE OR REPLACE VIEW (\w+)", "ACCESS EXCLUSIVE on {}: its readers wait"),
    (r"(?:INSERT INTO|UPDATE|DELETE FROM) (?:ONLY )?(\w+)", "ROW EXCLUSIVE on {}: only writers of the same rows wait"),
    (r"DO\b", "those of the statements it executes"),
)
"""Locks of a statement on PostgreSQL until the migration is committed, by its first words."""


@frozen
class PlannedStatement:
    """One statement of a migration, and the locks it takes until the migration is committed."""

    version: int
    statement: str
    locks: str


def statements(text: str) -> Iterator[str]:
    """Split a script into its statements, without the comments before them."""
    begin = 0
    for token in _TOKEN.finditer(text):
        if token[0] == ";":
            if statement := _COMMENT.sub("", text[begin : token.start()]).strip():
                yield statement
            begin = token.end()
    if statement := _COMMENT.sub("", text[begin:]).strip():
        yield statement


def locks(statement: str, dialect: Dialect) -> str:
    """Return the locks that a statement takes."""
    if dialect is Dialect.SQLITE:
        return "the file: writers wait, readers do not"
    for pattern, lock in _LOCKS:
        if match := re.match(pattern, statement, re.IGNORECASE | re.DOTALL):
            return lock.format(*match.groups())
    referred = dict.fromkeys(re.findall(r"\bREFERENCES (\w+)", statement))
    return f"SHARE ROW EXCLUSIVE on {', '.join(referred)}: writers wait" if referred else "none that block others"


def plan(status: SchemaStatus, dialect: Dialect) -> list[PlannedStatement]:
    """Return the statements that would bring a schema up to date, in order; empty for a current one."""
    scripts = [(version, text) for version, _, text in migrations(dialect) if version in status.missing]
    if not status.version:
        scripts = [(status.newest, schema(dialect))]
    return [
        PlannedStatement(version=version, statement=statement, locks=locks(statement, dialect))
        for version, text in scripts
        for statement in statements(text)
    ]
