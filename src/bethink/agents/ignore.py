"""Ignored folders: rules of .bethinkignore files in the folder or above it."""

from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

NAME = ".bethinkignore"


def is_ignored(folder: Path) -> bool:
    """Return whether sessions in a folder are ignored.

    A .bethinkignore file lists folders below its own, one per line, as .gitignore does: `clients/acme`, `secret-*`,
    and `!` for exceptions. An empty file ignores everything below it. The nearest file with a matching line decides.
    An unreadable file ignores everything, because someone put it there for a reason.
    """
    for above in (folder, *folder.parents):
        file = above / NAME
        if file.is_file():
            verdict = _decide(file, PurePosixPath(folder.relative_to(above).as_posix()))
            if verdict is not None:
                return verdict
    return False


def _decide(file: Path, folder: PurePosixPath) -> bool | None:
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        return True
    patterns = [line for line in lines if line and not line.startswith("#")]
    if not patterns:
        return True
    verdict = None
    for pattern in patterns:
        if _matches(pattern.removeprefix("!"), folder):
            verdict = not pattern.startswith("!")
    return verdict


def _matches(pattern: str, folder: PurePosixPath) -> bool:
    """Return whether a pattern matches a folder or its parents. With a slash, it is relative to its file."""
    paths = [path for path in (folder, *folder.parents) if path != PurePosixPath()]
    pattern = pattern.rstrip("/")
    if pattern in ("", ".", "*", "**"):
        return True
    if "/" not in pattern:
        return any(fnmatchcase(path.name, pattern) for path in paths)
    pattern = pattern.removeprefix("/")
    if pattern.startswith("**/"):
        return any(fnmatchcase(f"/{path}", f"*/{pattern[3:]}") for path in paths)
    return any(fnmatchcase(str(path), pattern) for path in paths)
