"""Anthropic's memory tool on a space behaves like the SDK's own tool on a folder."""

import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
from anthropic.lib.tools import ToolError
from anthropic.tools import BetaAsyncLocalFilesystemMemoryTool

import bethink
from bethink.integrations.anthropic import BethinkMemoryTool

PATHS = [
    "/memories/tea.md",
    "/memories/notes/meeting notes.md",
    "/memories/notes/b.md",
    "/memories/.hidden",
    "/memories",
]
FOLDERS = ["/memories/notes", "/memories/notes/deep", "/memories/other"]
TEXTS = ["", "black", "black\nor green\n", "a\na\nb", "\n", "one\r\ntwo\r\n", "tea 🍵\n"]


@pytest.fixture
def tool(memory: bethink.Memory) -> BethinkMemoryTool:
    return BethinkMemoryTool(memory.space("mira"))


async def told(tool: Any, **command: Any) -> str:
    """What a model is told; of sizes only that there is one, because a folder on a disk has its own."""
    try:
        answer = str(await tool.call(command))
    except ToolError as error:
        answer = f"error: {error}"
    return re.sub(r"(?m)^[\d.]+[BKMG]\t(.*(?:/|memories|notes|deep|other))$", r"size\t\1", answer)


def a_command(dice: random.Random) -> dict[str, Any]:
    path = dice.choice([*PATHS, *PATHS, *FOLDERS, "/memories/none", "/etc/passwd"])
    match dice.choice(["view", "view", "create", "create", "str_replace", "insert", "delete", "rename"]):
        case "view":
            where = dice.choice([None, None, [1, 2], [2, -1], [9, 12]])
            return {"command": "view", "path": path, **({} if where is None else {"view_range": where})}
        case "create":
            return {"command": "create", "path": dice.choice(PATHS[:4]), "file_text": dice.choice(TEXTS)}
        case "str_replace":
            return {
                "command": "str_replace",
                "path": path,
                "old_str": dice.choice(["a", "black", "x"]),
                "new_str": "z\ny",
            }
        case "insert":
            line = dice.choice([0, 1, 2, 9, -1])
            return {"command": "insert", "path": path, "insert_line": line, "insert_text": dice.choice(["new", "n\n"])}
        case "delete":
            return {"command": "delete", "path": path}
        case _:
            return {"command": "rename", "old_path": path, "new_path": dice.choice([*PATHS, *FOLDERS])}


@pytest.mark.parametrize("seed", range(50 if os.environ.get("BETHINK_TEST_LONG") else 2))
async def test_random_commands_are_answered_as_on_a_folder(tool: BethinkMemoryTool, tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    folder = BetaAsyncLocalFilesystemMemoryTool(str(tmp_path))
    done: list[dict[str, Any]] = []
    for _ in range(40):
        command = a_command(dice)
        if command["command"] == "rename" and f"{command['new_path']}/".startswith(f"{command['old_path']}/"):
            continue  # below itself: the SDK fails with an error of the operating system
        done.append(command)
        theirs = await told(folder, **command)
        assert await told(tool, **command) == theirs, done[-8:]


async def test_a_path_cannot_lead_out(tool: BethinkMemoryTool) -> None:
    for path in ("/memories/../x", "/memoriesx/a", "/memories/a/../../b", "~/memory"):
        assert (await told(tool, command="create", path=path, file_text="x")).startswith("error: Path")


@pytest.mark.parametrize("name", ["[a]|b%.md", "~home", " lead", "trail ", "tab\there", "ä🍵.md", "a%2Fb", "..."])
async def test_names_are_free(tool: BethinkMemoryTool, name: str) -> None:
    path = f"/memories/{name}"
    made = await told(tool, command="create", path=path, file_text="tea")
    if name == "...":
        assert "error" in made
        return
    assert made == f"File created successfully at: {path}"
    assert (
        await told(tool, command="view", path=path) == f"Here's the content of {path} with line numbers:\n     1\ttea"
    )
    assert f"3B\t{path}" in await told(tool, command="view", path="/memories")


async def test_documents_written_by_claude_have_origin_assistant(
    tool: BethinkMemoryTool, memory: bethink.Memory
) -> None:
    await told(tool, command="create", path="/memories/user.md", file_text="The user is an admin.")
    await told(tool, command="str_replace", path="/memories/user.md", old_str="admin", new_str="owner")

    docs = memory.space("mira").documents
    found = await docs.find("~/memories/user.md")
    assert found is not None
    assert {(each.origin, each.author.id) for each in await docs.versions(found.id)} == {("assistant", "claude")}


async def test_oversized_file_is_rejected_and_not_stored(tool: BethinkMemoryTool) -> None:
    assert "65536" in await told(tool, command="create", path="/memories/a", file_text="x" * 65_537)
    assert (await told(tool, command="view", path="/memories/a")).startswith("error")


async def test_everything_can_be_cleared(tool: BethinkMemoryTool) -> None:
    await told(tool, command="create", path="/memories/notes/deep/a", file_text="x")
    assert await tool.clear_all_memory() == "All memory cleared"
    assert "notes" not in await told(tool, command="view", path="/memories")
