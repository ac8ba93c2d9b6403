"""Effects of simple commands that the text shows: output, files, folders; and the surroundings of a command."""

import posixpath
from collections.abc import Sequence

from bethink.base.frozen import frozen
from bethink.features.guard.shell.records import Redirect, ShellCommand, Word


@frozen
class FolderScope:
    """The surroundings of a command: wrappers, redirects and what it reads."""

    wrappers: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[tuple[str, str], ...] = ()
    is_remote: bool = False
    depth: int = 0


def visible_output(command: ShellCommand) -> str | None:
    """Return the text that a command prints, if the arguments show it."""
    texts = command.texts
    if not command.is_literal:
        return None
    if command.program == "echo":
        words = [text for text in texts if text not in ("-n", "-e", "-E", "-ne")]
        return " ".join(words) + "\n"
    if command.program == "printf" and texts:
        form = texts[0].replace("\\n", "\n")
        return form if "%" not in form else "\n".join(texts[1:]) + "\n"
    if command.program in ("cat", "tee") and (command.program == "tee" or not texts or texts == ("-",)):
        return command.stdin
    return None


def base_name(name: str) -> str:
    """Return a program's name without its folder, and without a version in the case of an interpreter."""
    base = name.rsplit("/", 1)[-1]
    for ending in (".exe", ".cmd"):
        base = base.removesuffix(ending)
    plain = base.rstrip("0123456789.")
    return plain if plain in ("python", "pip", "pypy", "node", "ruby", "perl", "php") else base


def change_folder(folder: str | None, arguments: Sequence[Word]) -> str | None:
    """Return the folder after `cd`, relative to the start; None if a variable decides."""
    targets = [word for word in arguments if not word.text.startswith("-") or word.text == "-"]
    if len(targets) != 1 or not targets[0].is_literal or targets[0].text in ("-", "~"):
        return None
    return posixpath.normpath(posixpath.join(folder or "", targets[0].text)) if folder is not None else None


def deeper(scope: FolderScope) -> FolderScope:
    """Return the surroundings one level down."""
    return surround(scope)


def surround(
    scope: FolderScope,
    *,
    redirects: tuple[Redirect, ...] | None = None,
    assignments: tuple[tuple[str, str], ...] | None = None,
) -> FolderScope:
    """Return the surroundings one level down, with other redirects or assignments."""
    return FolderScope(
        wrappers=scope.wrappers,
        redirects=scope.redirects if redirects is None else redirects,
        assignments=scope.assignments if assignments is None else assignments,
        is_remote=scope.is_remote,
        depth=scope.depth + 1,
    )
