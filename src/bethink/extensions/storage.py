"""Databases, transactions, and the rows of a space: what copies a space to another database."""

from bethink.memory.archive.load import load_whole
from bethink.memory.archive.sync import RowChanges
from bethink.memory.archive.write import write_whole
from bethink.store import archived, erasures, jobs
from bethink.store.archived import Table, Values
from bethink.store.db import NO_LIMIT, Database, Row, Tx
from bethink.store.engines.postgres import PostgresDatabase
from bethink.store.sql import Dialect, Query, spelt

__all__ = [
    "NO_LIMIT",
    "Database",
    "Dialect",
    "PostgresDatabase",
    "Query",
    "Row",
    "RowChanges",
    "Table",
    "Tx",
    "Values",
    "archived",
    "erasures",
    "jobs",
    "load_whole",
    "spelt",
    "write_whole",
]
