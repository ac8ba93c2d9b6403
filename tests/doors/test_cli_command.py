"""What all commands have in common: options, envelope, exit codes, prompts, and what a terminal is shown."""

import hashlib
import json
import re
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

import bethink
import bethink.sync
from bethink.cli.command import SHARED_OPTIONS
from bethink.cli.root import COMMANDS
from bethink.cli.terminal import OutputLine, has_colour, one_line, printable, to_json, write
from bethink.model.calls import ModelCall
from bethink.providers.weights.catalogue import read_catalogue
from tests.doors.cli_calls_kit import NOT_OFFERED, SUCCEEDING
from tests.doors.cli_kit import Done, Stream, ok, run
from tests.exports_kit import WRITERS, spoken, transcripts
from tests.rooms.review_kit import claim, claims
from tests.unit.static_files import static
from tools.make_cli_docs import commands

LEAVES = {" ".join(path): command for path, command in commands()}


pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_help_and_the_common_options_that_do_something_there(name: str) -> None:
    done = run(*name.split(), "--help")

    assert done.code == 0
    every = {f"--{option.replace('_', '-')}" for option in SHARED_OPTIONS}
    assert {option for option in every if f"  {option} " in done.out or f", {option} " in done.out} == (
        every - NOT_OFFERED.get(name, frozenset())
    )
    assert done.err == ""


def test_the_list_of_commands_says_what_their_modules_say() -> None:
    modules = {module for module, _ in COMMANDS.values()}
    declared = {
        name: (module, command.get_short_help_str(limit=1_000))
        for module in modules
        for name, command in typer.main.get_group(
            import_module(module if "." in module else f"bethink.cli.{module}").app
        ).commands.items()
    }

    assert declared == dict(COMMANDS)


IN_A_PROCESS = {"serve", "mcp", "ui"}  # they serve until they are told to stop: see test_cli_processes
WITH_A_MODEL = {"relearn", "preview"}  # they learn: see test_cli_relearn
WITH_A_DIRECTORY = {  # of shards, on PostgreSQL: see test_cli_shards
    "shards list": ["shards", "list"],
    "shards add": ["shards", "add", "north", "postgresql://north.internal/bethink"],
    "shards drain": ["shards", "drain", "north", "--yes"],
    "shards move": ["shards", "move", "mira", "--to", "south"],
}
ON_TEMPORAL = {f"temporal {name}": ["temporal", name] for name in ("worker", "pause", "resume")}  # see test_cli_worker


def test_no_command_is_left_out_here() -> None:
    elsewhere = {*IN_A_PROCESS, *WITH_A_MODEL, *WITH_A_DIRECTORY, *ON_TEMPORAL}
    assert set(SUCCEEDING) | elsewhere == set(LEAVES)


OFFERED = [
    (name, option)
    for name in LEAVES
    for option in ("--space", "--database", "--config", "--key")
    if option not in NOT_OFFERED.get(name, ())
]


@pytest.mark.parametrize(("name", "option"), OFFERED)
def test_an_option_without_a_value_does_not_mean_the_default(name: str, option: str) -> None:
    done = run(
        *{**WITH_A_DIRECTORY, **ON_TEMPORAL, **SUCCEEDING}.get(name, [name]), option, " " if option == "--space" else ""
    )

    assert done.code == 2
    assert f"{option} is empty" in done.err


@pytest.mark.parametrize("name", SUCCEEDING)
def test_every_command_answers_in_the_envelope(name: str, home: Path) -> None:
    message = ok("add", "green tea")["refs"][0]
    ok("worker", "--once")
    prefix = ok("keys", "create", "old")["info"]["prefix"]
    with_model = home / "model.toml"
    with_model.write_text('model = "openai:tiny"\nmodel_base_url = "http://127.0.0.1:9/v1"\n', encoding="utf-8")
    settings = home / "settings.toml"
    settings.write_text(f'embedder = "static:{static(home / "tiny")}"\n', encoding="utf-8")
    places = {each.upper(): str(write(home / each, spoken(4))) for each, write in WRITERS.items()}
    for agent in ("claude-code", "codex"):
        transcripts(home, 4, agent=agent, sessions=1)
    places |= {"MESSAGE": message, "PREFIX": prefix, "SETTINGS": str(settings), "MODEL": str(with_model)}
    places |= {"TEST": ok("test", "add", "tea?", "--must", "tea")["id"], "TESTS": str(home / "tests.jsonl")}
    places |= {"QUESTIONS": str(home / "questions.jsonl")}
    Path(places["QUESTIONS"]).write_text('{"question": "tea?", "evidence": "green tea"}\n', encoding="utf-8")
    Path(places["TESTS"]).write_text('{"question": "tea?", "must": ["tea"]}\n', encoding="utf-8")
    places["CATALOGUE"] = str(_downloaded(home))
    places |= {"MEMORY": str(home / ".local/share/bethink/memory.db"), "OTHER": str(home / "other.db")}
    if "ARCHIVE" in SUCCEEDING[name]:
        places["ARCHIVE"] = ok("export", "--archive", str(home / "a.zip"))["file"]
    if name == "retention remove":
        ok("retention", "set", "session_memory", "--older-than", "3", "--yes")
    if "HOLD" in SUCCEEDING[name]:
        places["HOLD"] = ok("retention", "hold", "--reason", "case 11")["id"]
    places["WEBHOOK"] = ok("webhooks", "create", "https://93.184.215.14/old")["info"]["id"]
    places |= {"BACKUP": str(home / "new.backup"), "MADE": str(home / "made.backup")}
    if "RECEIPT" in SUCCEEDING[name]:
        ok("add", "coffee", "--space", "gone")
        places["RECEIPT"] = str(home / "receipt.json")
        ok("forget", "--everything", "--yes", "--space", "gone", "--receipt", places["RECEIPT"])
    if "MADE" in SUCCEEDING[name]:
        ok("backup", places["MADE"])
    if "FACT" in SUCCEEDING[name]:
        with bethink.sync.connect(str(home / ".local/share/bethink/memory.db"), learn_in_background=False) as opened:
            places["FACT"] = f"fact:{opened.space('default').facts.save(bethink.Fact(id='f1', content='Tea.')).id}:1"
    if "REVIEW" in SUCCEEDING[name]:  # later on, only a worker with the same model would learn from this database
        places["REVIEW"] = _held(home)

    done = run(*(places.get(word, word) for word in SUCCEEDING[name]), "--json", "--quiet")

    assert done.code == 0, done.out
    assert done.envelope["ok"] is True
    assert done.err == ""


def _held(home: Path) -> str:
    """Let a model claim what waits for a person's decision, and return the id of it."""

    def answer(call: ModelCall) -> str:
        ill = claim("The owner has asthma.", "I have asthma", review="health")
        return claims(*([ill] if "asthma" in call.prompt else []))

    memory = home / ".local/share/bethink/memory.db"
    with bethink.sync.connect(
        str(memory), model=bethink.ScriptedModel(answer), second_reading=False, learn_in_background=False
    ) as opened:
        session = opened.space("default").session("health")
        session.append([bethink.Message(role="user", content="I have asthma.")])
        session.end()
        opened.learn()
        [review] = opened.space("default").reviews.all()
    return review.id


def _downloaded(home: Path) -> Path:
    """Write a catalogue with one model, and that model as if it had been downloaded."""
    described = {"model.onnx": {"path": "model.onnx", "sha256": hashlib.sha256(b"").hexdigest()}}
    entry = {"about": "", "megabytes": 0, "repository": "a/b", "revision": "0" * 40, "files": described}
    file = home / "catalogue.json"
    file.write_text(json.dumps({"tiny": entry | {"manifest": {"licence": "MIT"}}}))
    folder = home / ".local/share/bethink/models/tiny"
    folder.mkdir(parents=True)
    (folder / "model.onnx").touch()
    read_catalogue(file)["tiny"].manifest.write(folder)
    return file


FAILING = {
    "init": (["init", "--config", "/dev/null/x"], 4),
    "completion": (["completion", "tcsh"], 2),
    "config show": (["config", "show", "--config", "missing.toml"], 4),
    "connect": (["connect", "emacs"], 2),
    "demo": (["demo", "--keep", "/"], 1),
    "try": (["try"], 2),
    "status": (["status", "--database", "mysql://x"], 4),
    "doctor": (["doctor", "--config", "missing.toml"], 4),
    "add": (["add", "  "], 2),
    "add-file": (["add-file", "missing.md"], 3),
    **{f"import {each}": (["import", each, "missing", "--yes"], 3) for each in (*WRITERS, "claude-code", "codex")},
    "recall": (["recall", "tea", "--as-of", "yesterday"], 2),
    "ask": (["ask", "tea"], 2),
    "eval": (["eval", "missing.jsonl"], 2),
    "context": (["context", "tea", "--where", "nonsense"], 2),
    "facts": (["facts", "--where", "rank>=true"], 2),
    "show": (["show", "message:ses_none:1"], 3),
    "log": (["log", "nothing-like-it"], 3),
    "diff": (["diff", "nothing-like-it", "1", "2"], 3),
    "correct": (["correct", "~/nothing-like-it", "new"], 3),
    "revert": (["revert", "nothing-like-it", "1"], 3),
    "backup": (["backup", "/dev/null/x"], 4),
    "restore": (["restore", "missing.backup", "--yes"], 3),
    "verify": (["verify", "missing.backup"], 3),
    "migrate": (["migrate", "--check", "--plan"], 2),
    "forget": (["forget", "--session", "ses_none", "--yes"], 3),
    "erasures": (["erasures", "era_none"], 3),
    "verify-receipt": (["verify-receipt", "missing.json"], 2),
    "access": (["access", "--limit", "0"], 2),
    "sessions": (["sessions", "--limit", "0"], 2),
    "spaces": (["spaces", "--limit", "0"], 2),
    "jobs": (["jobs", "--limit", "many"], 2),
    "step": (["step", "thread_none"], 3),
    "consolidate": (["consolidate"], 2),
    "worker": (["worker", "--once", "--database", "mysql://x"], 4),
    "reindex": (["reindex", "--yes"], 4),
    "serve": (["serve", "--port", "-1"], 2),
    "ui": (["ui", "--port", "-1"], 2),
    "mcp": (["mcp", "--database", "mysql://x"], 4),
    "models list": (["models", "list", "--catalogue", "missing.json"], 4),
    "models pull": (["models", "pull", "gpt"], 2),
    "models where": (["models", "where", "gpt"], 3),
    "keys create": (["keys", "create", "ci", "--scope", "everything"], 2),
    "keys list": (["keys", "list", "--space", "a"], 2),
    "keys rotate": (["keys", "rotate", "none"], 3),
    "keys revoke": (["keys", "revoke", "none", "--yes"], 3),
    "test run": (["test", "none"], 2),
    "test add": (["test", "add", "tea?"], 2),
    "test list": (["test", "list", "--limit", "3"], 2),
    "test remove": (["test", "remove", "none"], 3),
    "test export": (["test", "export", "--database", "mysql://x"], 4),
    "test import": (["test", "import", "missing.jsonl"], 3),
    "export": (["export", "--md", "x", "--jsonl"], 2),
    "changes": (["changes", "--after", "-1"], 2),
    "webhooks create": (["webhooks", "create", "ftp://example.org"], 2),
    "webhooks list": (["webhooks", "list", "--database", "mysql://x"], 4),
    "webhooks delete": (["webhooks", "delete", "none", "--yes"], 3),
    "webhooks deliveries": (["webhooks", "deliveries", "none"], 3),
    "review list": (["review", "--status", "lost"], 2),
    "review show": (["review", "show", "rev_none"], 3),
    "review approve": (["review", "approve", "rev_none"], 3),
    "review reject": (["review", "reject", "run_none"], 3),
    "pin": (["pin", "fact:none:1"], 3),
    "unpin": (["unpin", "document:none:1"], 2),
    "pins": (["pins", "--limit", "0"], 2),
    "feedback": (["feedback", "fact:none:1", "great"], 2),
    "rules show": (["rules", "--database", "mysql://x"], 4),
    "rules set": (["rules", "set"], 2),
    "person find": (["person", "find", "?"], 2),
    "person export": (["person", "export", "Anna", "--by", "magic"], 2),
    "person forget": (["person", "forget", "Anna"], 2),
    "retention show": (["retention", "--database", "mysql://x"], 4),
    "retention set": (["retention", "set", "gossip", "--older-than", "3", "--yes"], 2),
    "retention remove": (["retention", "remove", "fact"], 3),
    "retention sweep": (["retention", "sweep"], 2),
    "retention hold": (["retention", "hold", "--space", "nobody", "--reason", "case 12"], 3),
    "retention holds": (["retention", "holds", "--limit", "0"], 2),
    "retention lift": (["retention", "lift", "hld_none", "--reason", "closed", "--yes"], 3),
    "relearn": (["relearn", "--apply", "rel_none"], 3),
    "preview": (["preview", "missing.jsonl"], 2),
    "import archive": (["import", "archive", "missing.zip", "--yes"], 3),
    "sync": (["sync", "missing.db", "other.db", "--yes"], 3),
    **{name: (words, 2) for name, words in WITH_A_DIRECTORY.items()},
    **{name: ([*words, "--address", "127.0.0.1:1"], 1) for name, words in ON_TEMPORAL.items()},
}


def test_no_failure_is_left_out_here() -> None:
    assert set(FAILING) == set(LEAVES)


@pytest.mark.parametrize("name", FAILING)
def test_every_command_fails_in_the_envelope(name: str) -> None:
    words, code = FAILING[name]
    ok("add", "tea")

    done = run(*words, "--json")

    assert done.code == code, done.out
    told = Done(done.code, done.err, "") if name == "mcp" else done  # its stdout is the protocol's
    assert told.envelope["error"]["message"]
    assert (told is done) == bool(done.out)


@pytest.mark.parametrize("name", FAILING)
def test_every_command_tells_people_what_is_wrong_and_what_to_do(name: str) -> None:
    words, code = FAILING[name]
    ok("add", "tea")

    done = run(*words)

    assert done.code == code
    assert "error: " in done.err
    assert "hint: " in done.err
    assert "Traceback" not in done.err


def test_an_unknown_command_or_option_is_a_usage_error_in_either_form() -> None:
    assert run("rekall", "--json").envelope["error"]["code"] == "usage"
    assert "Did you mean 'recall'" in run("rekall").err
    assert run("--json", "status").code == 2
    assert run("recall").code == 2


def test_a_word_after_two_dashes_is_no_option() -> None:
    done = run("add", "--", "--json")

    assert done.code == 0
    assert ok("recall", "json")["items"][0]["text"] == "--json"


def test_what_nobody_foresaw_is_told_as_a_defect_and_traced_only_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no such luck")

    monkeypatch.setattr("bethink.cli.target.find_target", broken)

    quiet, loud = run("status"), run("status", "--verbose")

    assert (quiet.code, loud.code) == (1, 1)
    assert "error: unexpected RuntimeError: no such luck" in quiet.err
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bethink.cli.target.find_target", interrupted)

    assert run("status", "--json").envelope["error"]["code"] == "interrupted"
    assert run("status").code == 130


def test_an_unset_extra_is_told_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bethink.http.app", None)
    monkeypatch.setitem(sys.modules, "bethink.mcp.server", None)

    for command, extra in (("serve", "server"), ("mcp", "mcp")):
        done = run(command)
        assert done.code == 4
        assert f"error: this command needs the extra '{extra}'." in done.err
        assert f"pip install 'bethink[{extra}]', or '.[{extra}]' in a clone." in done.err


ASKING = [["forget", "--everything"], ["consolidate"], ["import", "jsonl", "FILE"], ["keys", "revoke", "PREFIX"]]


def _named(words: list[str], home: Path) -> list[str]:
    ok("add", "tea")
    (home / "lines.jsonl").write_text('{"role": "user", "content": "coffee"}\n', encoding="utf-8")
    prefix = ok("keys", "create", "old")["info"]["prefix"]
    return [{"FILE": str(home / "lines.jsonl"), "PREFIX": prefix}.get(word, word) for word in words]


@pytest.mark.parametrize("words", ASKING, ids=lambda words: words[0])
def test_without_a_terminal_nothing_is_asked_and_yes_is_needed(words: list[str], home: Path) -> None:
    given = _named(words, home)

    refused = run(*given, stdin="y\n")

    assert refused.code == 2
    assert "--yes" in refused.err
    assert run(*given, "--dry-run").code == 0
    assert run(*given, "--yes").code == 0


@pytest.mark.parametrize("words", ASKING, ids=lambda words: words[0])
def test_at_a_terminal_one_is_asked_and_no_is_no(words: list[str], home: Path) -> None:
    given = _named(words, home)

    declined = run(*given, stdin="n\n", terminal=True)
    assert declined.code == 1
    assert "nothing was changed" in declined.err
    accepted = run(*given, stdin="y\n", terminal=True)

    assert accepted.code == 0
    assert "[y/N]" in accepted.err


def test_a_dry_run_changes_nothing() -> None:
    ok("add", "tea")

    would = ok("forget", "--everything", "--dry-run")

    assert would["messages"] == 1
    assert would["dry_run"] is True
    assert len(ok("recall", "tea")["items"]) == 1


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m [bold red]shout[/] [link=http://x]y[/link] :smile: \u202egnp.exe\r\x08"


def test_a_hostile_memory_steers_no_terminal_and_is_no_markup() -> None:
    ok("add", HOSTILE, "--conversation", "cli:[red]x:")
    name = ok("recall", "shout")["items"][0]["ref"]

    for words in (
        ["recall", "shout", "--explain"],
        ["show", name],
        ["sessions"],
        ["export"],
        ["recall", "shout", "--json"],
    ):
        for terminal in (False, True):
            done = run(*words, terminal=terminal)
            assert done.code == 0
            bare = _without_colour(done.out + done.err) if terminal else done.out + done.err
            assert not set(bare) & set("\x1b\x07\x9b\x08\r\u202e"), words
            if words[0] != "sessions":
                assert "[bold red]shout[/]" in bare
                assert ":smile:" in bare


def _without_colour(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_a_hostile_argument_comes_back_in_an_error_without_steering() -> None:
    for words in (
        ["show", HOSTILE],
        [HOSTILE],
        ["recall", "x", f"--{HOSTILE}"],
        ["log", HOSTILE],
        ["add", "x", "--space", HOSTILE],
    ):
        done = run(*words)
        assert done.code in (2, 3)
        assert not set(done.out + done.err) & set("\x1b\x07\x9b\x08\r\u202e"), words


@given(st.text())
def test_what_is_shown_holds_nothing_that_steers(text: str) -> None:
    printed = printable(text)

    assert all(sign in "\t\n" or (ord(sign) >= 0x20 and not 0x7F <= ord(sign) <= 0x9F) for sign in printed)
    assert not set(printed) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\u200e\u200f")
    assert "\n" not in one_line(text)


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_says_the_same_and_holds_nothing_that_steers(value: object) -> None:
    printed = to_json(value, Stream())

    assert json.loads(printed) == value
    assert printable(printed) == printed


def test_there_is_colour_only_at_a_terminal_that_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    coloured, plain, piped = Stream(terminal=True), Stream(terminal=True), Stream()

    write([OutputLine("head", "bold")], coloured)
    write([OutputLine("head", "bold")], piped)
    monkeypatch.setenv("NO_COLOR", "1")
    write([OutputLine("head", "bold")], plain)

    assert "\x1b[1m" in coloured.text()
    assert plain.text() == piped.text() == "head\n"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colour(Stream(terminal=True))


def test_quiet_keeps_the_data_and_drops_the_notes() -> None:
    assert "not shown again" in run("keys", "create", "a").err
    quiet = run("keys", "create", "b", "--quiet")
    assert quiet.out.startswith("bt_")
    assert quiet.err == ""


def test_the_version_and_a_bare_call_are_answered() -> None:
    assert run("--version").out.startswith("bethink ")
    assert "Commands:" in run().out
    assert run().code == 0
