"""Anthropic's memory tool: the files that Claude keeps about a user are documents of a space.

    tool = BethinkMemoryTool(memory.space("mira"))
    runner = client.beta.messages.tool_runner(tools=[tool], …)

The answers match those of the SDK's own folder tool, because models know these sentences.
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
from bethink.errors import BethinkError, DuplicateError, VersionConflictError
from bethink.integrations.files import DocumentFiles, is_file

_ROOT = "/memories"
_WIDTH = 6
_MAX_DEPTH = 2
_UNITS = ("B", "K", "M", "G")
_MISSING = "The path {path} does not exist. Please provide a valid path."


class BethinkMemoryTool(BetaAsyncAbstractMemoryTool):
    """Files below `/memories`. Their content counts as the assistant's statements, never the user's.

    Every change is a version with its author. Deleted files can be restored until they are forgotten. Secrets are
    removed before storage. A file has up to 65,536 characters.
    """

    def __init__(self, space: Space, *, agent: str = "claude", **options: Any) -> None:
        super().__init__(**options)
        self._files = DocumentFiles(space, root="memories", agent=agent)

    async def execute(self, command: BetaMemoryTool20250818Command) -> BetaFunctionToolResultType:
        """Run a command. Errors are returned to the model and do not end its turn."""
        try:
            return await super().execute(command)
        except VersionConflictError as error:
            raise ToolError("The file has changed since it was viewed. View it again.") from error
        except BethinkError as error:
            raise ToolError(str(error)) from error

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Show a file with line numbers, or list a folder."""
        path = _inside(command.path)
        document = await self._files.find(path)
        if document is None and path:
            raise ToolError(_MISSING.format(path=command.path))
        if document is None or not is_file(document.metadata):
            return await self._folder(path, command.path)
        lines, first = document.body.split("\n"), 1
        if command.view_range and len(command.view_range) == 2:
            first = max(1, command.view_range[0])
            lines = lines[first - 1 : None if command.view_range[1] == -1 else command.view_range[1]]
        return f"Here's the content of {command.path} with line numbers:\n" + _number_lines(lines, first)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Write a new file."""
        try:
            await self._files.create(_inside(command.path), command.file_text)
        except DuplicateError:
            raise ToolError(f"File {command.path} already exists") from None
        return f"File created successfully at: {command.path}"

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replace a text that occurs once in a file."""
        file = await self._file(command.path)
        positions = _find_positions(file.body, command.old_str)
        if not positions:
            raise ToolError(
                f"No replacement was performed, old_str `{command.old_str}` did not appear verbatim in {command.path}."
            )
        if file.body.count(command.old_str) > 1:
            lines = ", ".join(str(_line_number(file.body, position) + 1) for position in positions)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{command.old_str}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        text = file.body.replace(command.old_str, command.new_str)
        await self._files.update(file, text)
        start = max(0, _line_number(file.body, positions[0]) - 2)
        snippet = text.split("\n")[start : _line_number(file.body, positions[0]) + 3]
        head = "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        return head + _number_lines(snippet, start + 1)

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
        """Delete a file, or a folder with its content."""
        path = _inside(command.path)
        if not path:
            raise ToolError("Cannot delete the /memories directory itself")
        document = await self._files.find(path)
        if document is None:
            raise ToolError(f"The path {command.path} does not exist")
        await self._files.delete(document)
        return f"Successfully deleted {command.path}"

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Rename a file or a folder."""
        old, new = _inside(command.old_path), _inside(command.new_path)
        if not old:
            raise ToolError("Cannot rename the /memories directory itself")
        if not new or await self._files.find(new) is not None:
            raise ToolError(f"The destination {command.new_path} already exists")
        document = await self._files.find(old)
        if document is None:
            raise ToolError(f"The path {command.old_path} does not exist")
        await self._files.move(document, new)
        return f"Successfully renamed {command.old_path} to {command.new_path}"

    async def clear_all_memory(self) -> str:
        """Delete every file."""
        root = await self._files.find("")
        if root is not None:
            await self._files.delete(root)
        return "All memory cleared"

    async def _file(self, path: str) -> Document:
        document = await self._files.find(_inside(path))
        if document is None and _inside(path):
            raise ToolError(_MISSING.format(path=path))
        if document is None or not is_file(document.metadata):
            raise ToolError(f"The path {path} is not a file.")
        return document

    async def _folder(self, path: str, label: str) -> str:
        prefix = f"{path}/" if path else ""
        lines: list[str] = []
        below = await self._files.list_paths(prefix)
        for entry, size in below.items():
            steps = entry.removeprefix(prefix).split("/")
            if len(steps) <= _MAX_DEPTH and not any(step.startswith(".") for step in steps):
                name = "/".join(steps) if size is not None else "/".join(steps) + "/"
                lines.append(f"{_size(size or 0)}\t{label}/{name}")
        head = f"Here're the files and directories up to 2 levels deep in {label}, excluding hidden items:"
        total = sum(size or 0 for size in below.values())
        return "\n".join([head, f"{_size(total)}\t{label}", *lines])


def _inside(path: str) -> str:
    """Return the part of a path below `/memories`."""
    if path != _ROOT and not path.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path must start with /memories, got: {path}")
    steps = [step for step in path.removeprefix(_ROOT).split("/") if step not in ("", ".")]
    if ".." in steps:
        raise ToolError(f"Path {path} would escape /memories directory")
    return "/".join(steps)


def _number_lines(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _find_positions(text: str, part: str) -> list[int]:
    """Return the positions of a part in a text. They may overlap, as the SDK counts them."""
    positions: list[int] = []
    position = text.find(part)
    while position >= 0 and len(positions) < len(text) + 1:
        positions.append(position)
        position = text.find(part, position + 1)
    return positions


def _line_number(text: str, position: int) -> int:
    return text.count("\n", 0, position)


def _size(count: int) -> str:
    unit = min((max(count, 1).bit_length() - 1) // 10, len(_UNITS) - 1)
    size = count / 1024**unit
    return f"{int(size)}{_UNITS[unit]}" if size == int(size) else f"{size:.1f}{_UNITS[unit]}"
