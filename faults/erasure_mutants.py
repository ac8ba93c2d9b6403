# pyright: reportUnknownMemberType=false
"""Bugs on purpose in forgetting: a campaign that does not notice them proves nothing."""

from enum import StrEnum
from typing import Any

import apsw

from bethink.memory.deletion import proof
from bethink.memory.deletion.settling import Settler
from bethink.memory.learning.documents.pages import PageSandbox
from bethink.store.engines.sqlite import SqliteDatabase
from bethink.store.engines.sqlite_slack import Slack


class ErasureMutant(StrEnum):
    """What is broken."""

    CITATIONS_ONLY = "citations_only"
    """Only what names a source goes with it."""
    NO_REPLAY = "no_replay"
    """Nobody finishes what another process began."""
    FILES_AFTER_COMMIT = "files_after_commit"
    """Only the process that forgets clears files, with nothing written down."""
    NO_OVERWRITING = "no_overwriting"
    """Freed pages of the file keep their bytes."""
    NO_CLEARING = "no_clearing"
    """What a row left behind when its page was split is kept."""


def break_down(mutant: ErasureMutant | None) -> None:
    """Break this process, and with it every child, as told."""
    if mutant is ErasureMutant.CITATIONS_ONLY:
        proof.find_unproven = _nothing_unproven
        setattr(PageSandbox, "_other_sources", _nothing_shown)  # noqa: B010 - of another signature
    elif mutant is ErasureMutant.NO_REPLAY:
        setattr(Settler, "finish", _nothing)  # noqa: B010
    elif mutant is ErasureMutant.FILES_AFTER_COMMIT:
        setattr(Settler, "_is_clear", _as_if)  # noqa: B010
    elif mutant is ErasureMutant.NO_OVERWRITING:
        set_up = SqliteDatabase._set_up

        def kept(self: SqliteDatabase, connection: apsw.Connection, path: str) -> None:
            set_up(self, connection, path)
            connection.pragma("secure_delete", False)  # noqa: FBT003 - apsw's own signature

        SqliteDatabase._set_up = kept
    elif mutant is ErasureMutant.NO_CLEARING:
        setattr(Slack, "clear", _cleared)  # noqa: B010


def _nothing_unproven(*_: Any, **__: Any) -> proof.UnprovenTexts:
    return proof.UnprovenTexts()


def _nothing_shown(*_: Any) -> list[Any]:
    return []


async def _nothing(*_: Any) -> int:
    return 0


def _cleared(*_: Any) -> bool:
    return True


async def _as_if(*_: Any) -> bool:
    return True
