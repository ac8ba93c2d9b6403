"""Files generated from the database. The same content gives the same bytes."""

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from anyio import CancelScope, to_thread

from bethink.errors import Misconfigured
from bethink.memory.documents import changes
from bethink.memory.documents.overviews import may_be_written, memory_text, summary_text
from bethink.model.consolidation import Selection
from bethink.model.documents import CONSOLIDATED, MEMORY, ROOT, SUMMARY, Document
from bethink.model.facts import Fact, SessionMemory
from bethink.model.moments import EPOCH, to_micros
from bethink.model.recall import Ref, RefKind
from bethink.model.words import gist
from bethink.store import consolidation, facts
from bethink.store.db import Tx
from bethink.store.learnt_statements import learnt_from

_RAW = "raw_memories.md"
_TEMPORARY = ".bethink-"
_SUMMARIES = "rollout_summaries"
_PAGES = "pages"
_INDEX = "index.md"
_LONGEST_NAME = 60
_NAMED = {path.rpartition("/")[2]: path for path in (MEMORY, SUMMARY)}
_OLDEST_ZIP = (1980, 1, 1, 0, 0, 0)


def exported(tx: Tx, *, space: str, selection: Selection | None = None) -> dict[str, str]:
    """Return every file of a space by name: pages, their index, overviews, and notes on sessions, the latest first.

    `selection` says which sessions, with those of the last run; without it, the last successful run decides.
    """
    chosen = consolidation.seen(tx, space=space) if selection is None else selection
    both = {each.memory.session_id: each.memory for each in (*chosen.previous, *chosen.current)}
    sources = facts.all_sources(tx, space=space)
    known = [
        fact
        for fact in may_be_written(facts.everything(tx, space=space), now=tx.now)
        if not sources.get(fact.id) or any(each.session_id in both for each in sources[fact.id])
    ]
    refs = [Ref(RefKind.SESSION_MEMORY, session) for session in both]
    gone: dict[str, set[str]] = {}
    for stated in learnt_from(tx, space=space, sources=refs, as_of=None) if refs else ():
        if gist(stated.now.text) != gist(stated.text) or not stated.now.holds:
            gone.setdefault(stated.source.session_id, set()).add(gist(stated.text))
    memories = [_current(memory, gone.get(session, set())) for session, memory in both.items()]
    return artefacts(memories, changes.read_tree(tx, space=space).documents, known)


def artefacts(
    memories: Iterable[SessionMemory], documents: Mapping[str, Document], known: Sequence[Fact]
) -> dict[str, str]:  # fmt: skip
    """Return every file by name, made of notes on sessions, pages and facts."""
    latest = sorted(memories, key=lambda each: (-to_micros(each.last_said), each.session_id))
    newest = sorted(known, key=lambda fact: (-to_micros(fact.created_at or EPOCH), fact.id))
    pages = {
        path: (_file_of(path), each)
        for path, each in sorted(documents.items())
        if path not in (ROOT, CONSOLIDATED) and not path.startswith(f"{CONSOLIDATED}/") and not each.redacted
    }
    files = {_RAW: _raw_memories(latest)}
    files |= {f"{_SUMMARIES}/{_stem(each)}.md": _summary(each) for each in latest}
    if latest or newest or pages:
        made = {MEMORY: memory_text(newest, latest), SUMMARY: summary_text(newest, latest)}
        files |= {name: _overview(documents.get(path), made[path]) + "\n" for name, path in _NAMED.items()}
    files |= {file: _page(each) for file, each in pages.values()}
    files |= {_INDEX: _index(pages.values())} if pages else {}
    return dict(sorted(files.items()))


def _current(memory: SessionMemory, gone: Collection[str]) -> SessionMemory:
    """Return notes on a session without the lines that no longer hold."""
    lines = memory.raw_memory.splitlines()
    kept = [line for line in lines if gist(line.removeprefix("- ")) not in gone]
    if len(kept) == len(lines):
        return memory
    return replace(memory, raw_memory="\n".join(kept), summary="\n".join(kept))


def _overview(document: Document | None, made: str) -> str:
    """Return an overview: made by code of what holds now, unless a user wrote one."""
    return document.body if document is not None and document.author.kind == "user" else made


def _page(document: Document) -> str:
    parts = (f"# {document.title}", document.description, document.body)
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _index(pages: Iterable[tuple[str, Document]]) -> str:
    lines = ["# Index", ""]
    for file, each in pages:
        about = " ".join(each.description.split())
        title = " ".join(each.title.split())
        lines.append(f"- [{title}]({quote(file)}){f': {about}' if about else ''}")
    return "\n".join(lines) + "\n"


def _file_of(path: str) -> str:
    """Return the name of the file of a page: its slugs, as far as a file system can have them."""
    steps = [_plain_name(step) for step in path.removeprefix(f"{ROOT}/").split("/")]
    return "/".join([_PAGES, *steps]) + ".md"


def _plain_name(slug: str) -> str:
    plain = "".join(mark if mark.isalnum() or mark in "-_" else "-" for mark in slug)[:_LONGEST_NAME]
    # Some file systems take two names for one that differ by case only.
    if plain == slug and plain == plain.lower():
        return plain
    return f"{plain}-{hashlib.blake2b(slug.encode(), digest_size=3).hexdigest()}"


def write_folder(folder: str | Path, files: Mapping[str, str]) -> None:
    """Make a folder contain exactly these files. A symlinked folder is refused, a symlinked file is replaced."""
    root = Path(folder)
    kept = {root / name for name in files}
    for place in sorted({root, root / _SUMMARIES, *(parent for file in kept for parent in _between(root, file))}):
        if place.is_symlink():
            raise Misconfigured(f"{place} is a symlink.", hint="Use a folder that only memory writes to.")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in files.items():
        _replace(root / name, text)
    ours = (*root.glob("*.md"), *(root / _SUMMARIES).glob("*.md"), *_below(root / _PAGES))
    for stale in (*ours, *root.rglob(f"{_TEMPORARY}*")):
        if stale not in kept and stale.is_file():
            stale.unlink(missing_ok=True)
    for place in sorted((each for each in _below(root / _PAGES) if each.is_dir()), reverse=True):
        with suppress(OSError):
            place.rmdir()


def _between(root: Path, file: Path) -> list[Path]:
    """Return the folders of a file below the root."""
    return [parent for parent in file.parents if parent != root and root in parent.parents]


def _below(folder: Path) -> list[Path]:
    """Return what is below a folder, unless it is a link to elsewhere."""
    return [] if folder.is_symlink() else list(folder.rglob("*"))


def folder_of(space: str) -> str:
    """Return a folder name for a space: readable, and unique."""
    plain = "".join(mark if mark.isalnum() else "-" for mark in space)[:40]
    return f"{plain}-{hashlib.blake2b(space.encode(), digest_size=6).hexdigest()}"


async def clear_files(folder: str | Path, space: str) -> None:
    """Remove the files of a space. Its next consolidation writes whatever is left.

    The folder is removed, too, unless it contains other files: its name is the name of the space.
    """
    with CancelScope(shield=True):  # their sources are already gone, so finish even if the caller is cancelled
        await to_thread.run_sync(clear_folder, Path(folder) / folder_of(space))


def clear_folder(root: Path) -> None:
    """Remove the files that memory wrote into a folder, and the folder if nothing else is in it."""
    if root.is_dir():
        write_folder(root, {})
        for place in (root / _SUMMARIES, root / _PAGES, root):
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
