"""Files generated from the database. The same content gives the same bytes."""

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from anyio import CancelScope, to_thread

from bethink.errors import Misconfigured
from bethink.model.consolidation import Selection
from bethink.model.documents import MEMORY, SUMMARY, Document
from bethink.model.moments import to_micros
from bethink.model.records import SessionMemory

_RAW = "raw_memories.md"
_TEMPORARY = ".bethink-"
_SUMMARIES = "rollout_summaries"
_NAMED = {path.rpartition("/")[2]: path for path in (MEMORY, SUMMARY)}
_OLDEST_ZIP = (1980, 1, 1, 0, 0, 0)


def artefacts(selection: Selection, documents: Mapping[str, Document]) -> dict[str, str]:
    """Return every file of a space by name, with the current and the last selection, the latest first."""
    both = {each.memory.session_id: each.memory for each in (*selection.previous, *selection.current)}
    memories = sorted(both.values(), key=lambda each: (-to_micros(each.last_said), each.session_id))
    files = {_RAW: _raw_memories(memories)}
    files |= {f"{_SUMMARIES}/{_stem(each)}.md": _summary(each) for each in memories}
    files |= {name: documents[path].body + "\n" for name, path in _NAMED.items() if path in documents}
    return dict(sorted(files.items()))


def write_folder(folder: str | Path, files: Mapping[str, str]) -> None:
    """Make a folder contain exactly these files. A symlinked folder is refused, a symlinked file is replaced."""
    root = Path(folder)
    for place in (root, root / _SUMMARIES):
        if place.is_symlink():
            raise Misconfigured(f"{place} is a symlink.", hint="Use a folder that only memory writes to.")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in files.items():
        _replace(root / name, text)
    kept = {root / name for name in files}
    for stale in (*root.glob("*.md"), *(root / _SUMMARIES).glob("*.md"), *root.rglob(f"{_TEMPORARY}*")):
        if stale not in kept:
            stale.unlink()


def folder_of(space: str) -> str:
    """Return a folder name for a space: readable, and unique."""
    plain = "".join(mark if mark.isalnum() else "-" for mark in space)[:40]
    return f"{plain}-{hashlib.blake2b(space.encode(), digest_size=6).hexdigest()}"


async def clear_files(folder: str | Path, space: str) -> None:
    """Remove the files of a space. Its next consolidation writes whatever is left.

    The folder is removed, too, unless it contains other files: its name is the name of the space.
    """
    with CancelScope(shield=True):  # their sources are already gone, so finish even if the caller is cancelled
        await to_thread.run_sync(_clear, Path(folder) / folder_of(space))


def _clear(root: Path) -> None:
    if root.is_dir():
        write_folder(root, {})
        for place in (root / _SUMMARIES, root):
            with suppress(OSError):
                place.rmdir()


def archive(files: Mapping[str, str]) -> bytes:
    """Return the same files as one archive in memory, for a server without a disk."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(name, date_time=_OLDEST_ZIP), text)
    return made.getvalue()


def _replace(path: Path, text: str) -> None:
    if path.is_symlink():
        path.unlink()  # remove the link, but keep its target
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=_TEMPORARY)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _raw_memories(memories: Iterable[SessionMemory]) -> str:
    parts = ["# Raw Memories", ""]
    told = list(memories)
    parts.append("Merged raw memories (latest first):" if told else "No raw memories yet.")
    for each in told:
        parts += [
            "",
            f"## Session `{each.session_id}`",
            f"updated_at: {each.last_said.isoformat()}",
            f"rollout_summary_file: {_SUMMARIES}/{_stem(each)}.md",
            "",
            each.raw_memory,
        ]
    return "\n".join(parts) + "\n"


def _summary(memory: SessionMemory) -> str:
    head = [f"session_id: {memory.session_id}", f"updated_at: {memory.last_said.isoformat()}"]
    return "\n".join([*head, "", memory.summary]) + "\n"


def _stem(memory: SessionMemory) -> str:
    moment = memory.last_said.strftime("%Y-%m-%dT%H-%M-%S")
    # The last digits of an id are random, so two sessions of the same second have different files.
    name = "".join(mark for mark in memory.session_id if mark.isalnum())[-6:]
    return "-".join(part for part in (moment, name, memory.slug) if part)
