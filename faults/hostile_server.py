"""A server with a bug on purpose, for the campaign of hostile requests."""

import sys
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

from bethink.cli.app import main as command
from bethink.extend import Redactor
from bethink.memory.log import messages
from bethink.model.records import Message
from bethink.store.messages import Prepared


class Mutant(StrEnum):
    """A bug on purpose."""

    REDACT_INSIDE = "redact_inside"
    """Texts are redacted and analyzed in the transaction that stores them."""


_prepare, _find_existing = messages.prepare, messages.find_existing


class _Later(list[Prepared]):
    """Rows that are prepared by the first function of the transaction that needs them."""

    def __init__(self, drafts: Iterable[Message], redactor: Redactor) -> None:
        super().__init__()
        self.drafts, self.redactor = list(drafts), redactor


def _prepare_later(
    drafts: Iterable[Message], redactor: Redactor, pause: Callable[[], None] | None = None
) -> list[Prepared]:
    del pause
    return _Later(drafts, redactor)


def _find_prepared(tx: Any, *, space: str, rows: list[Prepared]) -> Any:
    if isinstance(rows, _Later) and not rows:
        _ = tx.now  # the transaction begins
        rows.extend(_prepare(rows.drafts, rows.redactor))
    return _find_existing(tx, space=space, rows=rows)


def main() -> int:
    """Serve with a bug."""
    Mutant(sys.argv.pop())
    changed: Any = messages
    changed.prepare, changed.find_existing = _prepare_later, _find_prepared
    sys.argv = ["bethink", "serve", "--proxy"]
    return command()


if __name__ == "__main__":
    sys.exit(main())
