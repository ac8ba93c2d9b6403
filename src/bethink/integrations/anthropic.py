"""Anthropic's memory tool: the files that Claude keeps about a user are documents of a space.

    tool = BethinkMemoryTool(memory.space("mira"))
    runner = client.beta.messages.tool_runner(tools=[tool], …)

What it answers is what the SDK's own tool on a folder answers: models know these sentences.
"""

from typing import Any

from anthropic.lib.tools import BetaAsyncAbstractMemoryTool, BetaFunctionToolResultType, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from bethink import Document, Space
from bethink.errors import BethinkError, Duplicate, Stale
from bethink.integrations.files import Files, is_file

_ROOT = "/memories"
_WIDTH = 6
_DEEPEST = 2
_UNITS = ("B", "K", "M", "G")
_MISSING = "The path {path} does not exist. Please provide a valid path."


class BethinkMemoryTool(BetaAsyncAbstractMemoryTool):
    """Files below `/memories`. What Claude writes there is the assistant's word, never the user's.

    Every change is a version, with its author; what is deleted can be restored until it is forgotten. Secrets are cut
    out before anything is stored. A file has up to 65,536 characters.
    """

    def __init__(self, space: Space, *, agent: str = "claude", **given: Any) -> None:
        super().__init__(**given)
        self._files = Files(space, root="memories", agent=agent)

    async def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """Carry out a command, and tell the model what went wrong in place of failing its turn."""
        try:
            return await super().execute(command)
        except Stale as error:
            raise ToolError("The file was changed meanwhile. View it again.") from error
        except BethinkError as error:
            raise ToolError(str(error)) from error

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or what is in a folder."""
        path = _inside(command.path)
        found = await self._files.find(path)
        if found is None and path:
            raise ToolError(_MISSING.format(path=command.path))
        if found is None or not is_file(found.metadata):
            return await self._folder(path, command.path)
        lines, first = found.body.split("\n"), 1
        if command.view_range and len(command.view_range) == 2:
            first = max(1, command.view_range[0])
            lines = lines[first - 1 : None if command.view_range[1] == -1 else command.view_range[1]]
        return f"Here's the content of {command.path} with line numbers:\n" + _numbered(lines, first)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        try:
            await self._files.create(_inside(command.path), command.file_text)
        except Duplicate:
            raise ToolError(f"File {command.path} already exists") from None
        return f"File created successfully at: {command.path}"

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that stands once in a file."""
        file = await self._file(command.path)
        places = _places(file.body, command.old_str)
        if not places:
            raise ToolError(
                f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in {command.path}."
            )
        if file.body.count(command.old_str) > 1:
            lines = ", ".join(str(_line(file.body, place) + 1) for place in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        text = file.body.replace(command.old_str, command.new_str)
        await self._files.update(file, text)
        start = max(0, _line(file.body, places[0]) - 2)
        shown = text.split("\n")[start : _line(file.body, places[0]) + 3]
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        return head + _numbered(shown, start + 1)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Insert lines into a file."""
        file = await self._file(command.path)
        lines = file.body.split("\n")
        if not lines[-1]:
            lines.pop()
        if not 0 <= command.insert_line <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {command.insert_line}. "
                f"It should be within the range [0, {len(lines)}]."
            )
        lines.insert(command.insert_line, command.insert_text.rstrip("\n"))
        text = "\n".join(lines)
        await self._files.update(file, text if text.endswith("\n") else f"{text}\n")
        return f"The file {command.path} has been edited."

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Delete a file, or a folder with all that is in it."""
        path = _inside(command.path)
        if not path:
            raise ToolError("Cannot delete the /memories directory itself")
        found = await self._files.find(path)
        if found is None:
            raise ToolError(f"The path {command.path} does not exist")
        await self._files.delete(found)
        return f"Successfully deleted {command.path}"

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Give a file or a folder another path."""
        old, new = _inside(command.old_path), _inside(command.new_path)
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        if not new or await self._files.find(new) is not None:
            raise ToolError(f"The destination {command.new_path} already exists")
        found = await self._files.find(old)
        if found is None:
            raise ToolError(f"The path {command.old_path} does not exist")
        await self._files.move(found, new)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    async def clear_all_memory(self) -> str:
        """Delete every file."""
        found = await self._files.find("")
        if found is not None:
            await self._files.delete(found)
        return "All memory cleared"

    async def _file(self, path: str) -> Document:
        found = await self._files.find(_inside(path))
        if found is None and _inside(path):
            raise ToolError(_MISSING.format(path=path))
        if found is None or not is_file(found.metadata):
            raise ToolError(f"The path {path} is not a file.")
        return found

    async def _folder(self, path: str, named: str) -> str:
        prefix = f"{path}/" if path else ""
        lines: list[str] = []
        below = await self._files.listed(prefix)
        for each, size in below.items():
            steps = each.removeprefix(prefix).split("/")
            if len(steps) <= _DEEPEST and not any(step.startswith(".") for step in steps):
                shown = "/".join(steps) if size is not None else "/".join(steps) + "/"
                lines.append(f"{_size(size or 0)}\t{named}/{shown}")
        head = f"Here're the files and directories up to 2 levels deep in {named}, excluding hidden items:"
        total = sum(size or 0 for size in below.values())
        return "\n".join([head, f"{_size(total)}\t{named}", *lines])


def _inside(path: str) -> str:
    """Return the part of a path below `/memories`."""
    if path != _ROOT and not path.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path must start with /memories, got: {path}")
    steps = [step for step in path.removeprefix(_ROOT).split("/") if step not in ("", ".")]
    if ".." in steps:
        raise ToolError(f"Path {path} would escape /memories directory")
    return "/".join(steps)


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _places(text: str, part: str) -> list[int]:
    """Return where a part stands in a text; places may overlap, as the SDK counts them."""
    found: list[int] = []
    place = text.find(part)
    while place >= 0 and len(found) < len(text) + 1:
        found.append(place)
        place = text.find(part, place + 1)
    return found


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place)


def _size(count: int) -> str:
    unit = min((max(count, 1).bit_length() - 1) // 10, len(_UNITS) - 1)
    size = count / 1024**unit
    return f"{int(size)}{_UNITS[unit]}" if size == int(size) else f"{size:.1f}{_UNITS[unit]}"
