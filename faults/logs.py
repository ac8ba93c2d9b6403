"""What the workers of a campaign log, and which of it faults do not explain."""

import logging
from pathlib import Path

from faults.places import Place

_EXPECTED = ("DatabaseBusyError", "DatabaseUnavailableError", "OutcomeUnknownError")
"""Why a job may fail here: the database was held by someone who was stopped, never the job itself."""


def log_of(place: Place) -> Path:
    """Say where the workers of a campaign log."""
    return place.ledger.parent / "workers.log"


def log_to(path: Path) -> None:
    """Send what this process logs to a file that others write to as well."""
    logging.basicConfig(filename=path, level=logging.WARNING, format="%(message)s", force=True)


def unexplained(path: Path | None) -> list[str]:
    """Name every job that failed for a reason that faults do not explain."""
    lines = path.read_text(encoding="utf-8").splitlines() if path is not None and path.exists() else []
    odd = [line for line in lines if " failed (" in line and not any(f"({name})" in line for name in _EXPECTED)]
    return [f"a worker says: {line}" for line in odd]
