"""Memory tests on the command line: run, add, list, remove, export, import, and one for a correction."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bethink
import bethink.sync
from bethink.model.refs import RefKind
from tests.doors.cli_kit import items, ok, quoted, run
from tests.doors.client_kit import serving
from tests.doors.test_cli_correct import document, fact

pytestmark = pytest.mark.usefixtures("home")

__all__ = ["document", "fact"]
HOME = "Where do I live?"


def test_a_test_is_added_run_listed_and_removed(on: list[str]) -> None:
    ok("add", "I live in Bergen.", *on)
    assert "no memory tests" in run("test", *on).err

    added = ok("test", "add", HOME, "--expect", "Bergen", "--forbid", "Oslo", "--as-of", "2030-03-01", *on)
    passed = run("test", *on)

    assert (passed.code, passed.err) == (0, "")
    assert passed.out == f"passed  {HOME} (as of 2030-03-01 23:59)\n"
    assert run("test", "run", added["id"], *on).out == passed.out
    assert "“Bergen”" in run("test", "list", *on).out
    assert [test["id"] for test in items("test", "list", *on)] == [added["id"]]
    assert run("test", "remove", added["id"], *on).out == f"Removed {added['id']}.\n"
    assert items("test", "list", *on) == []
    for words in (("remove", added["id"]), ("run", added["id"])):
        gone = run("test", *words, *on)
        assert (gone.code, "bethink test list" in gone.err) == (3, True)


def test_failed_memory_test_shows_its_results_and_fails_command(on: list[str]) -> None:
    [ref] = ok("add", "I live in Bergen.", *on)["refs"]
    ok("test", "add", HOME, "--expect", "Oslo", "--forbid", "Bergen", "--id", "1", *on)
    ok("test", "add", "Who plays the cello?", "--expect", "Anna", "--id", "2", *on)
    ok(
        "test",
        "add",
        HOME,
        "--expect",
        "BERGEN",
        "--kind",
        "message",
        "--limit",
        "1",
        "--note",
        "why",
        "--id",
        "3",
        *on,
    )

    failed = run("test", *on)

    assert failed.code == 1
    assert failed.out.splitlines() == [
        f"failed  {HOME}: “Oslo” is missing; “Bergen” is forbidden; recalled: I live in Bergen. ({ref})",
        "failed  Who plays the cello?: “Anna” is missing; recalled: nothing",
        f"passed  {HOME}",
    ]
    assert "error: 2 of 3 memory tests failed." in failed.err
    told = run("test", "--json", *on)
    assert (told.code, told.envelope["error"]["code"]) == (1, "failed")
    data = told.envelope["data"]
    assert (data["passed"], data["failed"]) == (1, 2)
    assert [each["absent"] for each in data["results"]] == [["Oslo"], ["Anna"], []]


def test_a_file_is_run_without_being_stored_and_imported_once(on: list[str], home: Path) -> None:
    ok("add", "I live in Bergen.", *on)
    file = home / "tests.jsonl"
    lines = [
        {"question": HOME, "must": ["Bergen"]},
        {"question": HOME, "must_not": ["Oslo"], "as_of": "2030-03-01", "known_at": "2031-01-01"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")

    assert ok("test", "--file", str(file), *on)["passed"] == 2
    assert run("test", "--file", "-", *on, stdin='{"question": "Bergen?", "must": ["Oslo"]}\n').code == 1
    assert items("test", "list", *on) == []
    for _ in range(2):
        assert ok("test", "import", str(file), *on) == {"imported": 2}
    assert len(items("test", "list", *on)) == 2
    exported = run("test", "export", *on)
    assert exported.err == "2 memory tests\n"
    assert [set(json.loads(line)) for line in sorted(exported.out.splitlines())]
    assert ok("test", "export", *on)["tests"] == [json.loads(line) for line in exported.out.splitlines()]
    assert run("test", "some-id", "--file", str(file), *on).code == 2


BROKEN = {
    '{"question": "x", "musst": ["y"]}': "Line 2: musst: unknown field.",
    '{"question": 1, "must": ["y"]}': "Line 2: question: ",
    '{"must": ["y"]}': "Line 2: question: is required.",
    '{"question": "x", "must": "y"}': "Line 2: must: ",
    '{"question": "x"}': "Line 2: A memory test needs",
    '{"question": "x", "must": [" "]}': "Line 2: must has an empty text",
    '{"question": "x", "must": ["y"], "kinds": ["fax"]}': "Line 2: kinds cannot be 'fax'.",
    '{"question": "x", "must": ["y"], "as_of": "soon"}': "Line 2: as_of: ",
    '{"question": "x", "must": ["y"]}, {"question": "x", "must": ["y"]}': "Line 2: not JSON",
    "[1]": "Line 2: ",
    "7": "Line 2: ",
    "\udcff": "Line 2: not JSON",
    "{": "Line 2: not JSON",
    "[" * 100_000: "Line 2: not JSON",
}


@pytest.mark.parametrize("line", BROKEN, ids=[*map(str, range(len(BROKEN)))])
def test_a_line_that_is_not_a_test_is_an_error_and_nothing_is_imported(on: list[str], line: str) -> None:
    ok("add", "tea", *on)
    given = f'{{"question": "tea?", "must": ["tea"]}}\n{line}\n'

    for words in (["test", "--file", "-"], ["test", "import", "-"]):
        done = run(*words, *on, stdin=given)
        assert (done.code, BROKEN[line] in done.err) == (2, True), done.err
    assert items("test", "list", *on) == []
    assert run("test", "--file", "-", *on, stdin="\n").code == 2


_TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(str.strip)
_EXPECTED = st.lists(_TEXTS, min_size=1, max_size=3)
_REFS = st.builds(
    "{}:{}:{}".format, st.sampled_from(["fact", "document"]), st.text("abc_", min_size=1), st.integers(0, 9)
)
_LINES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"question": _TEXTS, "must": _EXPECTED},
    optional={
        "id": st.text("abc-_é 1", min_size=1, max_size=9),
        "must_not": _EXPECTED,
        "as_of": st.dates().map(str) | st.datetimes().map(lambda at: f"{at.isoformat()}Z"),
        "limit": st.integers(1, 1_000),
        "kinds": st.lists(st.sampled_from(list(RefKind)), min_size=1, unique=True).map(
            lambda all_: list(map(str, all_))
        ),
        "tags": st.lists(st.text("abc", min_size=1), max_size=3, unique=True),
        "note": _TEXTS,
        "about": _REFS,
    },
)
_spaces = count()


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_LINES, min_size=1, max_size=5))
def test_memory_tests_survive_export_and_import(target: str, lines: list[dict[str, Any]]) -> None:
    first, second = ([f"--database={target}", f"--space=s{next(_spaces)}", "--quiet"] for _ in range(2))
    written = "\n".join(map(json.dumps, lines))
    assert run("test", "import", "-", *first, stdin=written).code == 0

    exported = run("test", "export", *first).out
    assert run("test", "import", "-", *second, stdin=exported).code == 0

    assert run("test", "export", *second).out == exported
    ids = {line["id"] for line in map(json.loads, exported.splitlines())}
    assert len(ids) == len(exported.splitlines())
    assert {line["id"] for line in lines if "id" in line} <= ids


def test_a_correction_offers_a_test_on_a_terminal_and_the_command_is_ready(on: list[str], fact: str) -> None:
    done = run("fact", "correct", fact, "User wants black tea", "--yes", *on, terminal=True)

    [offer] = [line for line in done.err.splitlines() if "Add a memory test: " in line]
    assert "bethink test add 'User wants tea' --expect 'User wants black tea' --forbid 'User wants green tea'" in offer
    assert "--about fact:tea:2 --space alice" in offer
    assert run("fact", "correct", "fact:tea:2", "User wants mint tea", "--yes", *on).err == ""
    assert (
        "Add a memory test"
        not in run("fact", "correct", "fact:tea:3", "User wants mint tea", "--yes", *on, terminal=True).err
    )


def test_correction_becomes_a_test_deleted_with_its_fact(on: list[str], fact: str) -> None:
    done = ok("fact", "correct", fact, "User wants black tea", "--test", "--yes", *on)

    test = done["test"]["test"]
    assert (done["ref"], done["test"]["passed"], test["about"]) == ("fact:tea:2", True, "fact:tea:2")
    assert (test["must"], test["must_not"]) == (["User wants black tea"], ["User wants green tea"])
    ok("fact", "correct", "fact:tea:2", "User wants green tea", "--yes", *on)
    broken = run("test", *on)
    assert (broken.code, "“User wants green tea” is forbidden" in broken.out) == (1, True)
    hand = ok("test", "add", "Which tea?", "--expect", "green TEA", *on)["id"]
    gone = run("forget", "fact:tea:3", "--yes", *on)
    assert gone.out == "Deleted 1 fact and 1 memory test.\n"
    assert (
        "1 memory test contains words of it, see 'bethink test remove --space alice "
        f"--database {quoted(on[1])}': {hand}" in gone.err
    )
    assert [each["id"] for each in items("test", "list", *on)] == [hand]


def test_correct_command_takes_test_question_and_checks_lines(on: list[str], document: str) -> None:
    done = run(
        "doc", "edit", "~/trip", "to Bergen\nby train", "--test", "--question", "Where does the trip go?", "--yes", *on
    )

    assert "passed  Where does the trip go?" in done.out
    [test] = items("test", "list", *on)
    assert (test["must"], test["must_not"]) == (["to Bergen", "by train"], ["to Oslo"])
    assert (test["about"], test["kinds"]) == (f"document:{document}:2", ["document"])
    offered = run("doc", "edit", "~/trip", "to Rome", "--yes", *on, terminal=True).err
    assert f"--kind document --about document:{document}:3" in offered


@pytest.mark.parametrize(
    ("new", "must", "must_not"),
    [
        ("User wants green tea with milk", ["User wants green tea with milk"], []),
        ("green tea", [], ["User wants green tea"]),
        ("USER wants  green tea", None, None),
    ],
)
def test_a_correction_expects_only_what_can_come_true(
    on: list[str], fact: str, new: str, must: list[str] | None, must_not: list[str] | None
) -> None:
    done = ok("fact", "correct", fact, new, "--test", "--yes", *on)

    if must is None:
        assert done["test"] is None
    else:
        assert (done["test"]["test"]["must"], done["test"]["test"]["must_not"]) == (must, must_not)
        assert done["test"]["passed"]


def test_tests_are_the_same_on_a_server_and_in_the_blocking_api(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(target) as server:
        monkeypatch.setenv("BETHINK_API_KEY", server.key)
        there = ["--database", server.url, "--space", "alice"]
        ok("add", "I live in Bergen.", *there)
        ok("test", "add", HOME, "--expect", "Bergen", "--id", "home/1 ä", *there)
        assert ok("test", *there)["passed"] == 1
        assert run("test", "--file", "-", *there, stdin='{"question": "Bergen?", "must": ["Oslo"]}').code == 1
        with (
            bethink.sync.connect(server.url, api_key=server.key) as far,
            bethink.sync.connect(target, learn=False) as near,
        ):
            assert far.space("alice").admin.tests.list() == near.space("alice").admin.tests.list() != []
            assert far.space("alice").admin.tests.run() == near.space("alice").admin.tests.run() != []
        assert run("test", "remove", "home/1 ä", *there).code == 0
        assert items("test", "list", *there) == []
