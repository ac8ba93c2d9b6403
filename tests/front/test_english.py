"""Names and summaries are plain English. Each check counts what breaks its rule, so that no count can rise.

A limit is the last count. Lower it when you fix some; never raise it.
"""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from bethink.base.installed import DISTRIBUTIONS
from bethink.cli.catalog import COMMANDS, GROUPS
from tools.make_cli_docs import commands

_ROOT = Path(__file__).parents[2]
_BANNED = frozenset({
    "asked", "begun", "beside", "buried", "by", "each", "every", "found", "given", "gone", "held", "here", "how",
    "kept", "known", "least", "left", "lost", "made", "most", "named", "of", "one", "place", "read", "rest", "said",
    "seen", "shown", "taken", "there", "told", "wanted", "what", "whole", "written",
})  # fmt: skip
"""Words that say that something happened, or point at it, and never what the value is."""
_NOT_PARTICIPLES = frozenset(
    {"embed", "need", "feed", "seed", "speed", "shed", "bed", "fed", "red", "exceed", "proceed", "enabled"}
)
_OPENING = re.compile(r"(What|Who|Which|Whose|Of|Whether|How|Where|When|Until|Under)\b")
_GENERATED = "Written by tools/"
_MAX_TEST_NAME = 70
_MAX_HELP = 60

Check = Callable[[ast.AST], Iterator[str]]


def banned_names(tree: ast.AST) -> Iterator[str]:
    """Yield the variables and parameters with a banned name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in _BANNED:
            yield f"{node.lineno} {node.id}"
        elif isinstance(node, ast.arg) and node.arg in _BANNED:
            yield f"{node.lineno} {node.arg}"


def participle_functions(tree: ast.AST) -> Iterator[str]:
    """Yield the functions whose whole name is a participle, or a banned word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            bare = node.name.strip("_")
            if bare in _BANNED or (re.fullmatch(r"[a-z]+ed", bare) and bare not in _NOT_PARTICIPLES):
                yield f"{node.lineno} {node.name}"


def vague_docstrings(tree: ast.AST) -> Iterator[str]:
    """Yield the docstrings that open with a clause instead of a verb or a noun."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node) or ""
            if _OPENING.match(text):
                yield f"{getattr(node, 'lineno', 1)} {text.splitlines()[0]}"


def long_test_names(tree: ast.AST) -> Iterator[str]:
    """Yield the names of tests that are a story instead of a rule."""
    for node in ast.walk(tree):
        name = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""
        if name.startswith("test_") and len(name) > _MAX_TEST_NAME:
            yield name


def long_summaries(summaries: Mapping[str, str]) -> list[str]:
    """Return the commands whose summary does not fit on a line of help."""
    return [f"{name}: {summary}" for name, summary in summaries.items() if len(summary) > _MAX_HELP]


def _source() -> Iterator[Path]:
    """Yield the modules that people write."""
    for path in sorted((_ROOT / "src").rglob("*.py")):
        if _GENERATED not in path.read_text(encoding="utf-8")[:500]:
            yield path


def _tests() -> Iterator[Path]:
    yield from sorted((_ROOT / "tests").rglob("*.py"))


def _violations(paths: Iterable[Path], check: Check) -> list[str]:
    return [
        f"{path.relative_to(_ROOT).as_posix()}:{violation}"
        for path in paths
        for violation in check(ast.parse(path.read_text(encoding="utf-8")))
    ]


@pytest.mark.parametrize(
    ("paths", "check", "limit"),
    [
        (_source, banned_names, 35),
        (_source, participle_functions, 16),
        (_source, vague_docstrings, 19),
        (_tests, long_test_names, 0),
    ],
    ids=["banned names", "participle functions", "vague docstrings", "long test names"],
)
def test_no_count_rises(paths: Callable[[], Iterator[Path]], check: Check, limit: int) -> None:
    violations = _violations(paths(), check)

    assert len(violations) <= limit, "\n".join(violations)


def test_command_summaries_fit_on_a_line_of_help() -> None:
    summaries = {" ".join(path): command.get_short_help_str(1_000) for path, command in commands()}
    summaries |= {name: summary for table in (COMMANDS, DISTRIBUTIONS) for name, (_, summary) in table.items()}
    summaries |= GROUPS

    assert len(summaries) > 90
    assert long_summaries(summaries) == []


@pytest.mark.parametrize(
    ("check", "code"),
    [
        (banned_names, "found = 1"),
        (banned_names, "for each in (): pass"),
        (banned_names, "[one for one in ()]"),
        (banned_names, "def show(what): ..."),
        (banned_names, "lambda by: 0"),
        (participle_functions, "def _told(): ..."),
        (participle_functions, "async def described(): ..."),
        (participle_functions, "class Facts:\n    def kept(self): ..."),
        (vague_docstrings, '"""What was stored."""'),
        (vague_docstrings, 'class Fact:\n    """Whether it is current."""'),
        (vague_docstrings, 'async def load():\n    """Which rows there are."""'),
        (long_test_names, f"def test_{'x' * 66}(): ..."),
        (long_test_names, f"async def test_{'x' * 66}(): ..."),
    ],
)
def test_violation_is_detected(check: Check, code: str) -> None:
    assert len(list(check(ast.parse(code)))) == 1


@pytest.mark.parametrize(
    ("check", "code"),
    [
        (banned_names, "matches = found"),
        (banned_names, "page.shown = 1"),
        (participle_functions, "def is_enabled(): ...\ndef embed(): ...\ndef load_stored(): ..."),
        (vague_docstrings, '"""Whatever is stored."""'),
        (vague_docstrings, 'def load():\n    """Return the rows."""'),
        (long_test_names, f"def test_{'x' * 65}(): ...\ndef _{'x' * 90}(): ..."),
    ],
)
def test_plain_english_is_allowed(check: Check, code: str) -> None:
    assert list(check(ast.parse(code))) == []


def test_long_summary_is_detected() -> None:
    assert long_summaries({"show": "x" * 61, "list": "x" * 60}) == [f"show: {'x' * 61}"]


def test_checks_read_the_whole_project() -> None:
    assert len(list(_source())) > 400
    assert len(list(_tests())) > 300
