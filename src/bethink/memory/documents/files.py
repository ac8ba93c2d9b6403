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

from bethink.errors import ConfigurationError
from bethink.memory.documents import changes
from bethink.memory.documents.overviews import memory_text, summary_text, writable_facts
from bethink.model.consolidation import Selection
from bethink.model.documents import CONSOLIDATED, MEMORY, ROOT, SUMMARY, Document
from bethink.model.facts import Fact, SessionSummary
from bethink.model.moments import EPOCH, to_micros
from bethink.model.refs import Ref, RefKind
from bethink.model.views import NOW
from bethink.model.words import gist
from bethink.store import consolidation, facts
from bethink.store.db import Tx
from bethink.store.learned_statements import learned_from

_RAW = "raw_memories.md"
_TEMPORARY = ".bethink-"
_SUMMARIES = "rollout_summaries"
_PAGES = "pages"
_INDEX = "index.md"
_MAX_NAME = 60
_OVERVIEW_PATHS = {path.rpartition("/")[2]: path for path in (MEMORY, SUMMARY)}
_OLDEST_ZIP = (1980, 1, 1, 0, 0, 0)


def export_files(tx: Tx, *, space: str, selection: Selection | None = None) -> dict[str, str]:
    """Return every file of a space by name: pages, their index, overviews, and session summaries, latest first.

    `selection` has the sessions to include; by default, those of the last successful run.
    """
    chosen = consolidation.last_selection(tx, space=space) if selection is None else selection
    both = {item.memory.session_id: item.memory for item in (*chosen.previous, *chosen.current)}
    sources = facts.all_sources(tx, space=space)
    current_facts = [
        fact
        for fact in writable_facts(facts.list_current(tx, space=space), now=tx.now)
        if not sources.get(fact.id) or any(item.session_id in both for item in sources[fact.id])
    ]
    refs = [Ref(RefKind.SESSION_SUMMARY, session) for session in both]
    outdated: dict[str, set[str]] = {}
    for stated in learned_from(tx, space=space, sources=refs, view=NOW) if refs else ():
        if gist(stated.now.text) != gist(stated.text) or not stated.now.is_valid:
            outdated.setdefault(stated.source.session_id, set()).add(gist(stated.text))
    memories = [_current(memory, outdated.get(session, set())) for session, memory in both.items()]
    return build_files(memories, changes.read_tree(tx, space=space).documents, current_facts)


def build_files(
    memories: Iterable[SessionSummary], documents: Mapping[str, Document], current_facts: Sequence[Fact]
) -> dict[str, str]:  # fmt: skip
    """Return every file by name, built from session summaries, pages and facts."""
    latest = sorted(memories, key=lambda item: (-to_micros(item.last_said), item.session_id))
    newest = sorted(current_facts, key=lambda fact: (-to_micros(fact.created_at or EPOCH), fact.id))
    pages = {
        path: (_file_of(path), item)
        for path, item in sorted(documents.items())
        if path not in (ROOT, CONSOLIDATED) and not path.startswith(f"{CONSOLIDATED}/") and not item.redacted
    }
    files = {_RAW: _raw_memories(latest)}
    files |= {f"{_SUMMARIES}/{_stem(item)}.md": _summary(item) for item in latest}
    if latest or newest or pages:
        overviews = {MEMORY: memory_text(newest, latest), SUMMARY: summary_text(newest, latest)}
        files |= {
            name: _overview(documents.get(path), overviews[path]) + "\n" for name, path in _OVERVIEW_PATHS.items()
        }
    files |= {file: _page(item) for file, item in pages.values()}
    files |= {_INDEX: _index(pages.values())} if pages else {}
    return dict(sorted(files.items()))


def _current(memory: SessionSummary, outdated: Collection[str]) -> SessionSummary:
    """Return a session summary without outdated lines."""
    lines = memory.raw_memory.splitlines()
    retained = [line for line in lines if gist(line.removeprefix("- ")) not in outdated]
    if len(retained) == len(lines):
        return memory
    return replace(memory, raw_memory="\n".join(retained), summary="\n".join(retained))


def _overview(document: Document | None, generated: str) -> str:
    """Return an overview: generated from current facts, unless a user wrote one."""
    return document.body if document is not None and document.author.kind == "user" else generated


def _page(document: Document) -> str:
    parts = (f"# {document.title}", document.description, document.body)
    return "\n\n".join(part.strip() for part in parts if part.strip()) + "\n"


def _index(pages: Iterable[tuple[str, Document]]) -> str:
    lines = ["# Index", ""]
    for file, page in pages:
        about = " ".join(page.description.split())
        title = " ".join(page.title.split())
        lines.append(f"- [{title}]({quote(file)}){f': {about}' if about else ''}")
    return "\n".join(lines) + "\n"


def _file_of(path: str) -> str:
    """Return the name of the file of a page: its slugs, as far as a file system can have them."""
    steps = [_plain_name(step) for step in path.removeprefix(f"{ROOT}/").split("/")]
    return "/".join([_PAGES, *steps]) + ".md"


def _plain_name(slug: str) -> str:
    plain = "".join(mark if mark.isalnum() or mark in "-_" else "-" for mark in slug)[:_MAX_NAME]
    # Some file systems treat names that differ only by case as the same.
    if plain == slug and plain == plain.lower():
        return plain
    return f"{plain}-{hashlib.blake2b(slug.encode(), digest_size=3).hexdigest()}"


def write_folder(folder: str | Path, files: Mapping[str, str]) -> None:
    """Make a folder contain exactly these files. A symlinked folder is rejected, a symlinked file is replaced."""
    root = Path(folder)
    paths = {root / name for name in files}
    for directory in sorted({root, root / _SUMMARIES, *(parent for file in paths for parent in _between(root, file))}):
        if directory.is_symlink():
            raise ConfigurationError(f"{directory} is a symlink.", hint="Use a folder that only memory writes to.")
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, text in files.items():
        _replace(root / name, text)
    ours = (*root.glob("*.md"), *(root / _SUMMARIES).glob("*.md"), *_below(root / _PAGES))
    for stale in (*ours, *root.rglob(f"{_TEMPORARY}*")):
        if stale not in paths and stale.is_file():
            stale.unlink(missing_ok=True)
    for directory in sorted((entry for entry in _below(root / _PAGES) if entry.is_dir()), reverse=True):
        with suppress(OSError):
            directory.rmdir()


def _between(root: Path, file: Path) -> list[Path]:
    """Return the folders of a file below the root."""
    return [parent for parent in file.parents if parent != root and root in parent.parents]


def _below(folder: Path) -> list[Path]:
    """Return the paths below a folder, unless it is a symlink."""
    return [] if folder.is_symlink() else list(folder.rglob("*"))


def folder_of(space: str) -> str:
    """Return a folder name for a space: readable, and unique."""
    plain = "".join(mark if mark.isalnum() else "-" for mark in space)[:40]
    return f"{plain}-{hashlib.blake2b(space.encode(), digest_size=6).hexdigest()}"


async def clear_files(folder: str | Path, space: str) -> None:
    """Remove the files of a space. The next consolidation writes the remaining data.

    The folder is removed, too, unless it contains other files: its name is the name of the space.
    """
    with CancelScope(shield=True):  # their sources are already deleted, so finish even if the caller is canceled
        await to_thread.run_sync(clear_folder, Path(folder) / folder_of(space))


def clear_folder(root: Path) -> None:
    """Remove the files that memory wrote into a folder, and the folder if nothing else is in it."""
    if root.is_dir():
        write_folder(root, {})
        for directory in (root / _SUMMARIES, root / _PAGES, root):
            with suppress(OSError):
                directory.rmdir()


def archive(files: Mapping[str, str]) -> bytes:
    """Return the files as one zip archive in memory, for a server without a disk."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in sorted(files.items()):
            packed.writestr(zipfile.ZipInfo(name, date_time=_OLDEST_ZIP), text)
    return buffer.getvalue()


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


def _raw_memories(memories: Iterable[SessionSummary]) -> str:
    parts = ["# Raw Memories", ""]
    summaries = list(memories)
    parts.append("Merged raw memories (latest first):" if summaries else "No raw memories yet.")
    for summary in summaries:
        parts += [
            "",
            f"## Session `{summary.session_id}`",
            f"updated_at: {summary.last_said.isoformat()}",
            f"rollout_summary_file: {_SUMMARIES}/{_stem(summary)}.md",
            "",
            summary.raw_memory,
        ]
    return "\n".join(parts) + "\n"


def _summary(memory: SessionSummary) -> str:
    head = [f"session_id: {memory.session_id}", f"updated_at: {memory.last_said.isoformat()}"]
    return "\n".join([*head, "", memory.summary]) + "\n"


def _stem(memory: SessionSummary) -> str:
    moment = memory.last_said.strftime("%Y-%m-%dT%H-%M-%S")
    # The last digits of an id are random, so two sessions of the same second have different files.
    name = "".join(mark for mark in memory.session_id if mark.isalnum())[-6:]
    return "-".join(part for part in (moment, name, memory.slug) if part)
