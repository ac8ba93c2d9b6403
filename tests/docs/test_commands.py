"""Commands in the documentation, in errors and in hints exist, with all options that they use."""

import ast
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from bethink.cli.root import app

ROOT = Path(__file__).parent.parent.parent
GENERATED = ROOT / "docs" / "reference" / "cli.md"
PAGES = [
    page
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    if page != GENERATED
]
CODE = [
    path
    for folder in ("src", "packages")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in (".py", ".html") and "bethink " in path.read_text(encoding="utf-8")
]
_BEGINS = ("&&", "||", "|", ";", "--", "$")


def commands_in(text: str) -> list[list[str]]:
    """Return every call of `bethink` in shell blocks and in inline code, as words, without comments."""
    found: list[list[str]] = []
    shell = re.findall(r"^```(?:sh|console)\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in shell for line in block.replace("\\\n", " ").splitlines()]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    inline = [code for code in re.findall(r"`([^`]+)`", prose) if code.startswith("bethink ")]
    for line in [*(line for line in lines if re.search(r"\bbethink ", line)), *inline]:
        try:
            words = shlex.split(line, comments=True)
        except ValueError:  # what a command printed, not a command
            continue
        for place, word in enumerate(words):
            if word == "bethink" and (place == 0 or words[place - 1] in _BEGINS):
                rest = words[place + 1 :]
                ends = [rest.index(each) for each in _BEGINS[:4] if each in rest]
                found.append(rest[: min(ends, default=len(rest))])
    return found


def commands_in_code(path: Path) -> list[list[str]]:
    """Return every quoted call of `bethink` in the texts of a module or a template."""
    source = path.read_text(encoding="utf-8")
    texts = [source] if path.suffix == ".html" else [_text_of(node) for node in ast.walk(ast.parse(source))]
    calls = {call for text in texts for call in re.findall(r"(?:'|`|<code>)bethink ([^'`<>\n…]+)(?:'|`|</code>)", text)}
    return [shlex.split(call) for call in sorted(calls) if call.count('"') % 2 == 0]


def _text_of(node: ast.AST) -> str:
    """Return a text with X for each of its placeholders."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join("X" if isinstance(part, ast.FormattedValue) else _text_of(part) for part in node.values)
    return ""


@cache
def root() -> Any:
    """Build all commands once: it takes longer than to look each of those on the pages up."""
    return typer.main.get_command(app)


def refusal_of(words: list[str]) -> str | None:
    """Say what is wrong with a command, if anything is."""
    command, path = root(), ["bethink"]
    left = words[1:] if words[:1] == ["help"] and words != ["help", "options"] else list(words)
    if left in (["help", "options"], ["X"]):  # a page of its own; any command
        return None
    while (inner := getattr(command, "commands", None)) and left and not left[0].startswith("-"):
        if left[0] not in inner:
            return f"{' '.join(path)} has no command {left[0]}"
        path.append(left[0])
        command = inner[left.pop(0)]
    default = getattr(command, "default", None)
    if left and inner and default:  # a group that runs one of its commands where none is named
        command = inner[default]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    known |= {"--help", "-h"}
    unknown = [word for word in left if word.startswith("-") and word != "-" and word.partition("=")[0] not in known]
    return f"{' '.join(path)} has no option {unknown[0]}" if unknown else None


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_every_command_on_a_page_exists_with_its_options(page: Path) -> None:
    refused = [refusal_of(words) for words in commands_in(page.read_text(encoding="utf-8"))]

    assert [each for each in refused if each] == []


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.name)
def test_every_command_in_errors_and_hints_exists(path: Path) -> None:
    refused = [refusal_of(words) for words in commands_in_code(path)]

    assert [each for each in refused if each] == []


def test_pages_show_commands_and_most_of_those_there_are() -> None:
    shown = {words[0] for page in PAGES for words in commands_in(page.read_text(encoding="utf-8")) if words}

    assert {"demo", "add", "recall", "show", "forget", "worker", "doctor", "fact", "learn", "data", "admin"} <= shown


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ("bethink recall QUESTION --explain", None),
        ("claude mcp add memory -- bethink mcp --space me", None),
        ("bethink admin init && bethink recal x", "bethink has no command recal"),
        ("bethink admin keys make x", "bethink admin keys has no command make"),
        ("bethink recall x --budgte 3 | less -S", "bethink recall has no option --budgte"),
    ],
)
def test_unknown_command_is_detected(line: str, refusal: str | None) -> None:
    found = commands_in(f"```sh\n{line}   # a comment with --options\n```\n")

    assert found
    assert next((each for each in map(refusal_of, found) if each), None) == refusal


def test_inline_commands_are_checked() -> None:
    assert commands_in("Run `bethink worker --twice`, or `bethink[mcp]`.") == [["worker", "--twice"]]
