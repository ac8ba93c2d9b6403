"""How a memory is lost before it is restored, and all bytes in which a text could have stayed."""

import random
from enum import StrEnum
from pathlib import Path

from bethink.config.settings import Settings
from faults.places import Place
from faults.raw import Raw


class Loss(StrEnum):
    """What happened to the database that is replaced."""

    NOTHING = "nothing lost"
    """It can be read, and says what was erased. The file of tombstones is gone."""
    GONE = "database gone"
    """Only the file of tombstones is left."""
    DAMAGED = "database damaged"
    """The same, and there is a file that is none."""


def lose(place: Place, settings: Settings, dice: random.Random) -> Loss:
    """Lose the database, or the file beside it."""
    loss = dice.choice(list(Loss) if place.database == "sqlite" else [Loss.NOTHING, Loss.GONE])
    tombstones = settings.tombstones_path
    if loss is Loss.NOTHING and tombstones is not None:
        tombstones.unlink(missing_ok=True)
    elif place.database == "postgres":
        with Raw(place.raw) as raw:
            tables = [row[0] for row in raw.rows(_TABLES)]
            raw.run(f"DROP TABLE {', '.join(tables)} CASCADE")
    else:
        for end in ("-wal", "-shm", ""):
            Path(place.target + end).unlink(missing_ok=True)
        if loss is Loss.DAMAGED:
            Path(place.target).write_bytes(dice.randbytes(8192))
    return loss


_TABLES = """SELECT relname FROM pg_class
WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace"""


def raw_text(place: Place, settings: Settings) -> bytes:
    """Return every byte of the database and of what lies beside it; on a server, of every row."""
    if place.database == "postgres":
        with Raw(place.raw) as raw:
            return repr(raw.tables()).encode()
    own = Path(place.target)
    beside = [path for path in own.parent.glob(f"{own.name}*") if path.is_file() and ".damaged-" not in path.name]
    tombstones = settings.tombstones_path
    return b"".join(path.read_bytes() for path in [*beside, *([tombstones] if tombstones else [])] if path.exists())
