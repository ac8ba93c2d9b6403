"""Folders that are never stored: what a file .bethinkignore beside or above them says."""

from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

NAME = ".bethinkignore"


def ignored(folder: Path) -> bool:
    """Return whether sessions in a folder are left out of memory.

    A file .bethinkignore names folders below its own, one a line, as .gitignore does: `clients/acme`, `secret-*`, and
    `!` for one that is stored after all. An empty file stands for everything below it. The nearest file that says
    anything about the folder decides. One that cannot be read ignores everything: it was put there for a reason.
    """
    for above in (folder, *folder.parents):
        file = above / NAME
        if file.is_file():
            decided = _decided(file, PurePosixPath(folder.relative_to(above).as_posix()))
            if decided is not None:
                return decided
    return False


def _decided(file: Path, folder: PurePosixPath) -> bool | None:
    try:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        return True
    patterns = [line for line in lines if line and not line.startswith("#")]
    if not patterns:
        return True
    decided = None
    for pattern in patterns:
        if _fits(pattern.removeprefix("!"), folder):
            decided = not pattern.startswith("!")
    return decided


def _fits(pattern: str, folder: PurePosixPath) -> bool:
    """Return whether a pattern names a folder or one above it. With a slash inside, it starts at its own file."""
    inside = [each for each in (folder, *folder.parents) if each != PurePosixPath()]
    pattern = pattern.rstrip("/")
    if pattern in ("", ".", "*", "**"):
        return True
    if "/" not in pattern:
        return any(fnmatchcase(each.name, pattern) for each in inside)
    pattern = pattern.removeprefix("/")
    if pattern.startswith("**/"):
        return any(fnmatchcase(f"/{each}", f"*/{pattern[3:]}") for each in inside)
    return any(fnmatchcase(str(each), pattern) for each in inside)
