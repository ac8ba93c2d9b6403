"""Hints can be run as printed, and what a list prints can be passed to other commands."""

import re
import shlex

import pytest

import bethink
import bethink.sync
import bethink.types
from bethink.cli.hints import repeat_options
from bethink.model.documents import DocumentDraft
from tests.doors.cli_kit import Done, items, ok, quoted, run

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def fact(target: str) -> str:
    """The id of a fact in its second version."""
    fact_id = "fct_01jz0000000000000000000000"
    with bethink.sync.connect(target, learn=False) as memory:
        facts = memory.space("alice").facts
        facts.save(bethink.Fact(id=fact_id, text="Mira lives in Oslo.", origin=bethink.types.Origin("user")))
        memory.space("alice").correct(f"fact:{fact_id}:1", "Mira lives in Bergen.")
    return fact_id


def commands_in(done: Done) -> list[list[str]]:
    """Return the commands that a hint names, without `bethink`."""
    return [shlex.split(command)[1:] for command in re.findall("'(bethink [^']+)'", done.err)]


def test_hint_repeats_the_space_and_the_database(fact: str, on: list[str]) -> None:
    stale = run("fact", "correct", f"fact:{fact}:1", "Mira lives in Tromsø.", "--yes", *on)

    [command] = commands_in(stale)
    assert command == ["show", f"fact:{fact}:2", "--space", "alice", *on[:2]]
    assert "Mira lives in Bergen." in run(*command).out
    for command in commands_in(run("show", "fact:none:1", *on)):
        assert run(*command).code == 0


def test_hint_repeats_the_options_in_lines_and_status(fact: str, on: list[str]) -> None:
    rated = run("fact", "rate", f"fact:{fact}:2", "wrong", *on).out
    assert f"--space alice --database {quoted(on[1])}'" in rated
    assert run("fact", "list", *on).err == "none\n"

    status = ok("status", *on)
    assert f"bethink review --space alice --database {quoted(on[1])}" in status["next"]
    assert f"bethink ui --database {quoted(on[1])}" in status["next"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Run 'bethink admin spaces'.", "Run 'bethink admin spaces --database m.db'."),
        ("See 'bethink review'.", "See 'bethink review --space \"a b\" --database m.db'."),
        (
            "Pass the file that 'bethink forget --receipt' wrote.",
            "Pass the file that 'bethink forget --receipt' wrote.",
        ),
        ("Run 'bethink show --space x'.", "Run 'bethink show --space x --database m.db'."),
        ("Run 'bethink data models pull x'.", "Run 'bethink data models pull x'."),
        ("Run 'bethink nothing'.", "Run 'bethink nothing'."),
    ],
)
def test_options_are_repeated_where_a_command_takes_them(text: str, expected: str) -> None:
    options = {"--space": ["a b"], "--database": ["m.db"]}

    assert repeat_options(text, options) == expected
    assert repeat_options(text, {"--space": [], "--database": []}) == text


def test_hint_has_no_password_and_no_server_for_local_commands() -> None:
    dsn, server = {"--database": ["postgresql://u:secret@host/db"]}, {"--database": ["https://host"]}

    assert "secret" not in repeat_options("Run 'bethink show'.", dsn)
    assert repeat_options("Run 'bethink worker'.", server) == "Run 'bethink worker'."
    assert repeat_options("Run 'bethink show'.", server) == "Run 'bethink show --database https://host'."


def test_listed_facts_have_refs_that_other_commands_take(fact: str, on: list[str]) -> None:
    [listed] = items("fact", "list", *on)
    assert listed["ref"] == f"fact:{fact}:2"
    assert ok("fact", "pin", listed["ref"], *on)["ref"] == listed["ref"]
    assert [entry["ref"] for entry in items("fact", "history", fact, *on)] == [f"fact:{fact}:2", f"fact:{fact}:1"]
    assert {entry["fact"]["ref"] for entry in items("fact", "list", "--all", *on)} == {
        f"fact:{fact}:1",
        f"fact:{fact}:2",
    }


def test_id_and_version_0_mean_the_newest_version(target: str, fact: str, on: list[str]) -> None:
    with bethink.sync.connect(target, learn=False) as memory:
        made = memory.space("alice").documents.create(DocumentDraft(slug="trip", title="Trip"))
        assert made

    assert ok("show", fact, *on)["ref"] == f"fact:{fact}:2"
    assert ok("show", made.id, *on)["ref"] == f"document:{made.id}:1"
    for ref in re.findall(r"\S+:0$", run("forget", f"fact:{fact}:2", "--dry-run", *on).out, re.MULTILINE):
        assert ok("show", ref, *on)["ref"] == f"fact:{fact}:2"
    missing = run("show", "fct_none", *on)
    assert (missing.code, "No fact 'fct_none' in space 'alice'." in missing.err) == (3, True)


def test_show_prints_the_messages_of_a_session(on: list[str]) -> None:
    for text in ("I moved to Bergen.", "I like tea.\nGreen tea."):
        ok("add", text, *on)
    [session] = [entry["session"]["id"] for entry in items("show", *on)]

    done = run("show", session, *on)
    assert "      I moved to Bergen.\n" in done.out
    assert f"      Green tea.\n      message:{session}:2\n" in done.out
    first = run("show", session, "--limit", "1", *on)
    assert ("Green tea" in first.out, first.err) == (False, "note: there may be more; continue with --after 1\n")
    assert [entry["number"] for entry in items("show", session, "--after", "1", *on)] == [2]
    assert run("show", session, "--after", "x", *on).code == 2
    missing = run("show", "ses_none", *on)
    assert (missing.code, "No session 'ses_none' in space 'alice'." in missing.err) == (3, True)


def test_status_names_the_spaces_if_the_one_in_use_is_empty(target: str) -> None:
    for name in ("anna", "ben"):
        ok("add", "tea", "--database", target, "--space", name)

    done = run("--database", target)
    assert re.search("^spaces +anna, ben \\(2\\); 'default' is empty$", done.out, re.MULTILINE)
    assert f"  bethink recall QUESTION --space anna --database {quoted(target)} " in done.out
    assert "\nfacts " not in done.out


def test_status_of_a_database_that_has_learned_names_the_missing_model(fact: str, on: list[str]) -> None:
    assert fact
    assert re.search("^model +no model: new messages are stored, not learned from$", run(*on).out, re.MULTILINE)


@pytest.mark.parametrize("words", [["facts", "list"], ["docs", "list"], ["tests", "list"]])
def test_plural_of_a_group_runs_the_group(words: list[str], on: list[str]) -> None:
    ok("add", "tea", *on)

    assert run(*words, *on).code == 0


def test_help_names_the_environment_variable_and_the_short_forms() -> None:
    assert "$BETHINK_DATABASE" in run("help", "options").out
    assert "'import' for 'data import', 'sessions' for 'show', 'status'" in run("--help").out


def test_usage_errors_are_in_our_words() -> None:
    done = run("recall", "where", "do", "I", "live")

    assert done.code == 2
    assert done.err.startswith("error: Too many arguments: do I live.\nhint: Run 'bethink recall --help'")
