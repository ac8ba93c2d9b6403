"""Databases, transactions and rows of a space, for copying a space to another database."""

from bethink.memory.archive.load import load_for_move
from bethink.memory.archive.sync import RowChanges
from bethink.memory.archive.write import write_for_move
from bethink.store import archived, erasures, jobs
from bethink.store.archived import Table, Values
from bethink.store.db import NO_LIMIT, Database, Row, Tx
from bethink.store.engines.postgres import PostgresDatabase
from bethink.store.sql import Dialect, Query, compile_query

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
    "compile_query",
    "erasures",
    "jobs",
    "load_for_move",
    "write_for_move",
]
