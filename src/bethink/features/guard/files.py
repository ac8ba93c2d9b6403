"""File changes that an event makes: by an edit, a patch, or a shell command."""

import fnmatch
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from bethink.base.frozen import frozen
from bethink.features.guard.commands import has_flag, positionals
from bethink.features.guard.shell import ShellCommand
from bethink.features.guard.shell.effects import visible_output

_SAMPLES = (".example", ".sample", ".template", ".dist", ".tmpl", ".defaults")
_PATCH_HEADER = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$")
_PATCH_MOVE = "*** Move to: "


@frozen
class ChangedFile:
    """One changed file with its added and removed lines, as far as the event shows them."""

    path: str
    kind: str = "edit"
    """`add`, `edit`, `delete` or `move`."""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    is_complete: bool = False
    """True if `added` is the complete file."""


def relative_path(path: str, cwd: str, folder: str | None = "") -> str:
    """Return a path relative to the project, or absolute if it lies outside."""
    if not path or path.startswith("~"):
        return path
    joined = posixpath.normpath(posixpath.join(cwd, folder or "", path))
    is_inside = bool(cwd) and (joined + "/").startswith(cwd.rstrip("/") + "/")
    return posixpath.relpath(joined, cwd) if is_inside else joined


def is_below(path: str, pattern: str) -> bool:
    """Return True if a path lies in a folder, or is the file, that an instruction names."""
    if pattern.startswith(("~", "/")):
        plain = pattern.rstrip("/")
        return path == plain or path.startswith(plain + "/")
    expected = [part for part in pattern.removeprefix("./").split("/") if part]
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if len(expected) == 1 and not pattern.endswith("/") and _is_dotfile_variant(parts, expected[0]):
        return True
    starts = range(len(parts) - len(expected) + 1)
    return any(all(map(_fits, parts[start:], expected)) for start in starts) if expected else False


def _fits(part: str, expected: str) -> bool:
    return part == expected or fnmatch.fnmatchcase(part, expected)


def _is_dotfile_variant(parts: Sequence[str], expected: str) -> bool:
    """Return True for `.env.local` of `.env`, and not for `.env.example`."""
    if not parts or not expected.startswith(".") or not parts[-1].startswith(expected + "."):
        return False
    return not parts[-1].endswith(_SAMPLES)


def edit_changes(tool: str, values: Mapping[str, object]) -> list[ChangedFile]:
    """Return the changes of an edit tool's input."""
    path = _text(values, "file_path") or _text(values, "notebook_path") or _text(values, "path")
    if tool == "apply_patch":
        return parse_patch(_text(values, "command") or _text(values, "input") or _text(values, "patch"))
    if not path:
        return []
    if tool == "Write":
        return [
            ChangedFile(path=path, kind="add", added=tuple(_text(values, "content").splitlines()), is_complete=True)
        ]
    if tool == "MultiEdit":
        edits = values.get("edits")
        items = cast("list[object]", edits) if isinstance(edits, list) else []
        pairs = [cast("Mapping[str, object]", item) for item in items if isinstance(item, dict)]
        return [_edit(path, _text(pair, "old_string"), _text(pair, "new_string")) for pair in pairs]
    if tool == "NotebookEdit":
        return [ChangedFile(path=path, added=tuple(_text(values, "new_source").splitlines()))]
    return [_edit(path, _text(values, "old_string"), _text(values, "new_string"))]


def _text(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _edit(path: str, old: str, new: str) -> ChangedFile:
    before, after = old.splitlines(), new.splitlines()
    unchanged, remaining = set(before), set(after)
    added = tuple(line for line in after if line not in unchanged)
    return ChangedFile(path=path, added=added, removed=tuple(line for line in before if line not in remaining))


def parse_patch(text: str) -> list[ChangedFile]:
    """Return the changes of a patch in the format of `apply_patch`."""
    changes: list[ChangedFile] = []
    path, kind = "", ""
    added, removed = list[str](), list[str]()

    def finish() -> None:
        if path:
            changes.append(
                ChangedFile(path=path, kind=kind, added=tuple(added), removed=tuple(removed), is_complete=kind == "add")
            )

    for line in text.splitlines():
        if (match := _PATCH_HEADER.match(line)) is not None:
            finish()
            path, kind = match[2].strip(), {"Add": "add", "Update": "edit", "Delete": "delete"}[match[1]]
            added, removed = [], []
        elif line.startswith(_PATCH_MOVE):
            changes.append(ChangedFile(path=line.removeprefix(_PATCH_MOVE).strip(), kind="move"))
        elif line.startswith("+"):
            added.append(line[1:])
        elif line.startswith("-"):
            removed.append(line[1:])
    finish()
    return changes


def command_changes(command: ShellCommand) -> Iterator[ChangedFile]:
    """Yield the files that a shell command writes, moves or deletes."""
    output = visible_output(command)
    for redirect in command.redirects:
        path = redirect.target.text
        if redirect.is_write and path and not path.startswith("/dev/") and not path.isdigit():
            is_append = ">>" in redirect.operator
            lines = tuple((output or "").splitlines())
            yield ChangedFile(
                path=path,
                kind="edit" if is_append else "add",
                added=lines,
                is_complete=output is not None and not is_append,
            )
    writer = _WRITERS.get(command.program)
    if writer is not None and not command.is_remote:
        yield from writer(command)


def _changes(kind: str, names: Sequence[str]) -> Iterator[ChangedFile]:
    for name in names:
        if name:
            yield ChangedFile(path=name, kind=kind)


def _copies(command: ShellCommand) -> Iterator[ChangedFile]:
    words = positionals(command)
    texts = command.texts
    if "-t" in texts and texts.index("-t") + 1 < len(texts):
        yield ChangedFile(path=texts[texts.index("-t") + 1], kind="add")
    elif len(words) > 1:
        target = words[-1]
        source = posixpath.basename(words[0].rstrip("/"))
        yield ChangedFile(path=posixpath.join(target, source) if target.endswith("/") else target, kind="add")


def _moves(command: ShellCommand) -> Iterator[ChangedFile]:
    words = positionals(command)
    yield from _changes("move", words[:-1])
    yield from _copies(command)


def _deletes(command: ShellCommand) -> Iterator[ChangedFile]:
    yield from _changes("delete", positionals(command))


def _touches(command: ShellCommand) -> Iterator[ChangedFile]:
    yield from _changes("edit", [word for word in positionals(command) if not word.replace("K", "").isdigit()])


def _tees(command: ShellCommand) -> Iterator[ChangedFile]:
    lines = tuple((command.stdin or "").splitlines())
    is_append = has_flag(command, ("-a", "--append"))
    for name in positionals(command):
        yield ChangedFile(path=name, kind="edit" if is_append else "add", added=lines)


def _in_place(command: ShellCommand) -> Iterator[ChangedFile]:
    texts = command.texts
    is_edit = any(text.startswith(("-i", "--in-place", "-pi", "-ni")) or text == "inplace" for text in texts)
    if not is_edit:
        return
    has_script = any(
        text in ("-e", "-f", "--expression", "--file") or (text.endswith("e") and text[:1] == "-") for text in texts
    )
    words: list[str] = []
    takes_value = False
    for text in texts:
        if takes_value:
            takes_value = False
        elif text.startswith("-"):
            takes_value = text in ("-e", "-f", "--expression", "--file") or bool(re.fullmatch(r"-[a-z]*e", text))
        elif text:
            words.append(text)
    yield from _changes("edit", words if has_script else words[1:])


def _git(command: ShellCommand) -> Iterator[ChangedFile]:
    words = positionals(command)
    if words[:1] == ["mv"]:
        yield from _changes("move", words[1:])
    elif words[:1] == ["rm"]:
        yield from _changes("delete", words[1:])


def _finds(command: ShellCommand) -> Iterator[ChangedFile]:
    texts = command.texts
    start = list[str]()
    for text in texts:
        if text.startswith(("-", "(", "!")):
            break
        start.append(text)
    if "-delete" in texts:
        yield from _changes("delete", start)


def _options(*names: str) -> Callable[[ShellCommand], Iterator[ChangedFile]]:
    def write(command: ShellCommand) -> Iterator[ChangedFile]:
        texts = command.texts
        for index, text in enumerate(texts):
            head, separator, value = text.partition("=")
            if head in names and separator:
                yield ChangedFile(path=value, kind="add")
            elif text in names and index + 1 < len(texts):
                yield ChangedFile(path=texts[index + 1], kind="add")

    return write


def _patches(command: ShellCommand) -> Iterator[ChangedFile]:
    yield from parse_patch(command.stdin or (command.texts[0] if command.texts else ""))


_WRITERS: Mapping[str, Callable[[ShellCommand], Iterator[ChangedFile]]] = {
    **dict.fromkeys(("cp", "gcp", "install", "ln", "rsync", "scp"), _copies),
    **dict.fromkeys(("mv", "gmv"), _moves),
    **dict.fromkeys(("rm", "grm", "rmdir", "unlink", "shred", "trash", "trash-put", "srm", "rimraf"), _deletes),
    **dict.fromkeys(("touch", "truncate", "ed", "ex", "patch", "sponge"), _touches),
    **dict.fromkeys(("vim", "vi", "nano", "emacs"), lambda _: iter(())),
    **dict.fromkeys(("sed", "gsed", "perl", "ruby", "awk", "gawk", "yq"), _in_place),
    **dict.fromkeys(("find", "gfind"), _finds),
    "tee": _tees,
    "git": _git,
    "dd": _options("of"),
    "curl": _options("-o", "--output"),
    "wget": _options("-O", "--output-document"),
    "sort": _options("-o", "--output"),
    "apply_patch": _patches,
    "applypatch": _patches,
}
