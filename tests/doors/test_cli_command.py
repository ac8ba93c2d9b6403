"""Behavior that all commands share: options, envelope, exit codes, prompts and terminal output."""

import hashlib
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

import bethink
import bethink.sync
import bethink.testing
from bethink.cli.catalog import COMMANDS, GROUPS, RENAMED
from bethink.cli.command import SHARED_OPTIONS
from bethink.model.calls import ModelCall
from bethink.providers.weights.catalog import read_catalog
from tests.doors.cli_calls_kit import NOT_OFFERED, SUCCEEDING
from tests.doors.cli_kit import Done, ok, run
from tests.exports_kit import WRITERS, spoken, transcripts
from tests.rooms.review_kit import claim, claims
from tests.unit.static_files import static
from tools.make_cli_docs import commands

LEAVES = {" ".join(path): command for path, command in commands()}


pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_help_without_the_common_options(name: str) -> None:
    done = run(*name.split(), "--help")

    assert done.code == 0
    assert not re.search(r"^ +(-q, --quiet|--json|--config|--database|--api-key)", done.out, flags=re.MULTILINE)
    assert ("  --space " in done.out) == ("--space" not in NOT_OFFERED.get(name, ()))
    assert "bethink help options" in done.out
    assert done.err == ""


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_takes_the_common_options_that_apply(name: str) -> None:
    offered = {option for parameter in LEAVES[name].params for option in parameter.opts}

    common = {f"--{option.replace('_', '-')}" for option in SHARED_OPTIONS}
    assert offered & common == common - NOT_OFFERED.get(name, frozenset())


def test_help_options_prints_the_common_options_once() -> None:
    page = run("help", "options").out

    assert [page.count(f"--{option.replace('_', '-')} ") for option in SHARED_OPTIONS].count(0) == 0
    assert run("help", "recall").out == run("recall", "--help").out
    assert run("help", "fact", "list").out == run("fact", "list", "--help").out
    assert run("help").out == run("--help").out


def test_catalog_has_the_summaries_of_the_modules() -> None:
    modules = {module for module, _ in COMMANDS.values()}
    declared = {
        name: (module, command.get_short_help_str(limit=1_000))
        for module in modules
        for name, command in typer.main.get_group(
            import_module(module if "." in module else f"bethink.cli.{module}").app
        ).commands.items()
    }

    assert {name: (module, line.split(". ")[0].rstrip(".")) for name, (module, line) in declared.items()} == {
        name: (module, line.split(". ")[0].rstrip(".")) for name, (module, line) in COMMANDS.items()
    }


@pytest.mark.parametrize(("name", "target"), RENAMED.items())
def test_renamed_command_prints_its_new_name_only(name: str, target: str) -> None:
    done = run(*name.split(), "--some", "argument")

    assert (done.code, done.out, done.err) == (2, "", f"renamed to 'bethink {target}'\n")
    assert run(*target.partition(" --")[0].split(), "--help").code == 0
    assert run(*name.split(), "--json").envelope["error"]["message"] == f"renamed to 'bethink {target}'"


@pytest.mark.parametrize("name", ["status", "sessions", "import"])
def test_alias_works_and_is_not_listed(name: str) -> None:
    assert run(name, "--help").code == 0
    assert f"\n  {name} " not in run("--help").out


@pytest.mark.parametrize("group", GROUPS)
def test_group_alone_prints_help_and_loads_no_command(group: str) -> None:
    script = (
        "import sys; from bethink.cli.app import main; main(sys.argv[1:]);"
        "sys.exit(any(name.endswith('.command') or name in"
        " ('bethink.cli.facts', 'bethink.cli.versions', 'bethink.cli.rules', 'bethink.cli.export',"
        " 'bethink.cli.spaces') for name in sys.modules if name != 'bethink.cli.command'))"
    )
    done = subprocess.run([sys.executable, "-c", script, group, "--help"], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    assert f"Usage: bethink {group} COMMAND" in done.stdout


IN_A_PROCESS = {"serve", "mcp", "ui"}  # they serve until they are told to stop: see test_cli_processes
WITH_A_MODEL = {  # see test_cli_relearn
    "learn relearn": ["learn", "relearn"],
    "learn apply": ["learn", "apply", "rel_1"],
    "learn undo": ["learn", "undo", "rel_1"],
    "learn preview": ["learn", "preview"],
}
WITH_A_DIRECTORY = {  # of shards, on PostgreSQL: see test_cli_shards
    "admin shards list": ["admin", "shards", "list"],
    "admin shards add": ["admin", "shards", "add", "north", "postgresql://north.internal/bethink"],
    "admin shards drain": ["admin", "shards", "drain", "north", "--yes"],
    "admin shards move": ["admin", "shards", "move", "mira", "--to", "south"],
}
ON_TEMPORAL = {
    f"admin temporal {name}": ["admin", "temporal", name] for name in ("worker", "pause", "resume")
}  # see test_cli_worker


def test_no_command_is_left_out_here() -> None:
    elsewhere = {*IN_A_PROCESS, *WITH_A_MODEL, *WITH_A_DIRECTORY, *ON_TEMPORAL}
    assert set(SUCCEEDING) | elsewhere == set(LEAVES)


OFFERED = [
    (name, option)
    for name in LEAVES
    for option in ("--space", "--database", "--config", "--api-key")
    if option not in NOT_OFFERED.get(name, ())
]


@pytest.mark.parametrize(("name", "option"), OFFERED)
def test_an_option_without_a_value_does_not_mean_the_default(name: str, option: str) -> None:
    words = {**WITH_A_DIRECTORY, **ON_TEMPORAL, **WITH_A_MODEL, **SUCCEEDING}.get(name, [name])
    done = run(*words, option, " " if option == "--space" else "")

    assert done.code == 2
    assert f"{option} is empty" in done.err


@pytest.mark.parametrize("name", SUCCEEDING)
def test_every_command_answers_in_the_envelope(name: str, home: Path) -> None:
    message = ok("add", "green tea")["refs"][0]
    ok("worker", "--once")
    prefix = ok("admin", "keys", "create", "old")["info"]["prefix"]
    with_model = home / "model.toml"
    with_model.write_text('model = "openai:tiny"\nmodel_base_url = "http://127.0.0.1:9/v1"\n', encoding="utf-8")
    settings = home / "settings.toml"
    settings.write_text(f'embedder = "static:{static(home / "tiny")}"\n', encoding="utf-8")
    places = {each.upper(): str(write(home / each, spoken(4))) for each, write in WRITERS.items()}
    for agent in ("claude-code", "codex"):
        transcripts(home, 4, agent=agent, sessions=1)
    places |= {"MESSAGE": message, "PREFIX": prefix, "SETTINGS": str(settings), "MODEL": str(with_model)}
    places |= {"TEST": ok("test", "add", "tea?", "--expect", "tea")["id"], "TESTS": str(home / "tests.jsonl")}
    places |= {"QUESTIONS": str(home / "questions.jsonl")}
    Path(places["QUESTIONS"]).write_text('{"question": "tea?", "evidence": "green tea"}\n', encoding="utf-8")
    Path(places["TESTS"]).write_text('{"question": "tea?", "must": ["tea"]}\n', encoding="utf-8")
    places["CATALOG"] = str(_downloaded(home))
    places |= {"MEMORY": str(home / ".local/share/bethink/memory.db"), "OTHER": str(home / "other.db")}
    if "ARCHIVE" in SUCCEEDING[name]:
        places["ARCHIVE"] = ok("data", "export", "--format", "archive", "-o", str(home / "a.zip"))["file"]
    if name == "admin retention remove":
        ok("admin", "retention", "set", "session_summary", "--older-than", "3", "--yes")
    if "HOLD" in SUCCEEDING[name]:
        places["HOLD"] = ok("admin", "hold", "place", "--reason", "case 11")["id"]
    places["WEBHOOK"] = ok("admin", "webhooks", "create", "https://93.184.215.14/old")["info"]["id"]
    places |= {"BACKUP": str(home / "new.backup"), "MADE": str(home / "made.backup")}
    if "RECEIPT" in SUCCEEDING[name]:
        ok("add", "coffee", "--space", "gone")
        places["RECEIPT"] = str(home / "receipt.json")
        ok("forget", "--all", "--yes", "--space", "gone", "--receipt", places["RECEIPT"])
    if "MADE" in SUCCEEDING[name]:
        ok("data", "backup", places["MADE"])
    if "FACT" in SUCCEEDING[name]:
        with bethink.sync.connect(str(home / ".local/share/bethink/memory.db"), learn_in_background=False) as opened:
            places["FACT"] = f"fact:{opened.space('default').facts.save(bethink.Fact(id='f1', text='Tea.')).id}:1"
    if "REVIEW" in SUCCEEDING[name]:  # later on, only a worker with the same model would learn from this database
        places["REVIEW"] = _held(home)

    done = run(*(places.get(word, word) for word in SUCCEEDING[name]), "--json", "--quiet")

    assert done.code == 0, done.out
    assert done.envelope["ok"] is True
    assert done.err == ""


def _held(home: Path) -> str:
    """Let a model claim what waits for a person's decision, and return the id of it."""

    def answer(call: ModelCall) -> str:
        ill = claim("The owner has asthma.", "I have asthma", review="doubtful")
        return claims(*([ill] if "asthma" in call.prompt else []))

    memory = home / ".local/share/bethink/memory.db"
    with bethink.sync.connect(
        str(memory), model=bethink.testing.ScriptedModel(answer), verify_claims=False, learn_in_background=False
    ) as opened:
        session = opened.space("default").session("health")
        session.append([bethink.Message(role="user", content="I have asthma.")])
        session.end()
        opened.learn()
        [review] = opened.space("default").reviews.list()
    return review.id


def _downloaded(home: Path) -> Path:
    """Write a catalogue with one model, and that model as if it had been downloaded."""
    described = {"model.onnx": {"path": "model.onnx", "sha256": hashlib.sha256(b"").hexdigest()}}
    entry = {"about": "", "megabytes": 0, "repository": "a/b", "revision": "0" * 40, "files": described}
    file = home / "catalogue.json"
    file.write_text(json.dumps({"tiny": entry | {"manifest": {"license": "MIT"}}}))
    folder = home / ".local/share/bethink/models/tiny"
    folder.mkdir(parents=True)
    (folder / "model.onnx").touch()
    read_catalog(file)["tiny"].manifest.write(folder)
    return file


FAILING = {
    "admin init": (["admin", "init", "--config", "/dev/null/x"], 4),
    "admin completion": (["admin", "completion", "tcsh"], 2),
    "admin config show": (["admin", "config", "show", "--config", "missing.toml"], 4),
    "connect": (["connect", "emacs"], 2),
    "demo": (["demo", "--save", "/"], 1),
    "try": (["try"], 2),
    "guard try": (["guard", "try"], 2),
    "doctor": (["doctor", "--config", "missing.toml"], 4),
    "add": (["add", "  "], 2),
    **{
        f"data import {each}": (["data", "import", each, "missing", "--yes"], 3)
        for each in (*WRITERS, "claude-code", "codex")
    },
    "recall": (["recall", "tea", "--as-of", "yesterday"], 2),
    "ask": (["ask", "tea"], 2),
    "test eval": (["test", "eval", "missing.jsonl"], 2),
    "context": (["context", "tea", "--where", "nonsense"], 2),
    "fact list": (["fact", "list", "--where", "rank>=true"], 2),
    "show": (["show", "message:ses_none:1"], 3),
    "doc history": (["doc", "history", "nothing-like-it"], 3),
    "doc diff": (["doc", "diff", "nothing-like-it", "1", "2"], 3),
    "doc edit": (["doc", "edit", "~/nothing-like-it", "new"], 3),
    "doc revert": (["doc", "revert", "nothing-like-it", "1"], 3),
    "data backup": (["data", "backup", "/dev/null/x"], 4),
    "data restore": (["data", "restore", "missing.backup", "--yes"], 3),
    "data verify": (["data", "verify", "missing.backup"], 3),
    "data migrate": (["data", "migrate", "--check", "--plan"], 2),
    "forget": (["forget", "--session", "ses_none", "--yes"], 3),
    "admin erasures": (["admin", "erasures", "era_none"], 3),
    "admin receipt verify": (["admin", "receipt", "verify", "missing.json"], 2),
    "admin access": (["admin", "access", "--limit", "0"], 2),
    "admin spaces": (["admin", "spaces", "--limit", "0"], 2),
    "learn jobs": (["learn", "jobs", "--limit", "many"], 2),
    "learn thread": (["learn", "thread", "thread_none"], 3),
    "doc update": (["doc", "update"], 2),
    "worker": (["worker", "--once", "--database", "mysql://x"], 4),
    "data reindex": (["data", "reindex", "--yes"], 4),
    "serve": (["serve", "--port", "-1"], 2),
    "ui": (["ui", "--port", "-1"], 2),
    "mcp": (["mcp", "--database", "mysql://x"], 4),
    "data models list": (["data", "models", "list", "--catalog", "missing.json"], 4),
    "data models pull": (["data", "models", "pull", "gpt"], 2),
    "data models where": (["data", "models", "where", "gpt"], 3),
    "admin keys create": (["admin", "keys", "create", "ci", "--scope", "everything"], 2),
    "admin keys list": (["admin", "keys", "list", "--space", "a"], 2),
    "admin keys rotate": (["admin", "keys", "rotate", "none"], 3),
    "admin keys revoke": (["admin", "keys", "revoke", "none", "--yes"], 3),
    "test run": (["test", "none"], 2),
    "test add": (["test", "add", "tea?"], 2),
    "test list": (["test", "list", "--limit", "0"], 2),
    "test remove": (["test", "remove", "none"], 3),
    "test export": (["test", "export", "--database", "mysql://x"], 4),
    "test import": (["test", "import", "missing.jsonl"], 3),
    "data export": (["data", "export", "--format", "markdown"], 2),
    "admin changes": (["admin", "changes", "--after", "-1"], 2),
    "admin webhooks create": (["admin", "webhooks", "create", "ftp://example.org"], 2),
    "admin webhooks list": (["admin", "webhooks", "list", "--database", "mysql://x"], 4),
    "admin webhooks delete": (["admin", "webhooks", "delete", "none", "--yes"], 3),
    "admin webhooks deliveries": (["admin", "webhooks", "deliveries", "none"], 3),
    "review list": (["review", "--status", "lost"], 2),
    "review show": (["review", "show", "rev_none"], 3),
    "review approve": (["review", "approve", "rev_none"], 3),
    "review reject": (["review", "reject", "run_none"], 3),
    "doc list": (["doc", "list", "--database", "mysql://x"], 4),
    "fact history": (["fact", "history", "none"], 3),
    "fact correct": (["fact", "correct", "fact:none:1", "new"], 3),
    "learn relearn": (["learn", "relearn", "--prompt", "missing.txt"], 2),
    "learn undo": (["learn", "undo", "rel_none"], 3),
    "fact pin": (["fact", "pin", "fact:none:1"], 3),
    "fact unpin": (["fact", "unpin", "document:none:1"], 2),
    "fact rate": (["fact", "rate", "fact:none:1", "great"], 2),
    "learn rules show": (["learn", "rules", "--database", "mysql://x"], 4),
    "learn rules set": (["learn", "rules", "set"], 2),
    "admin person find": (["admin", "person", "find", "?"], 2),
    "admin person export": (["admin", "person", "export", "Anna", "--match", "magic"], 2),
    "admin person forget": (["admin", "person", "forget", "Anna"], 2),
    "admin retention show": (["admin", "retention", "--database", "mysql://x"], 4),
    "admin retention set": (["admin", "retention", "set", "gossip", "--older-than", "3", "--yes"], 2),
    "admin retention remove": (["admin", "retention", "remove", "fact"], 3),
    "admin retention sweep": (["admin", "retention", "sweep"], 2),
    "admin hold place": (["admin", "hold", "place", "--space", "nobody", "--reason", "case 12"], 3),
    "admin hold list": (["admin", "hold", "list", "--limit", "0"], 2),
    "admin hold lift": (["admin", "hold", "lift", "hld_none", "--reason", "closed", "--yes"], 3),
    "learn apply": (["learn", "apply", "rel_none"], 3),
    "learn preview": (["learn", "preview", "missing.jsonl"], 2),
    "data import archive": (["data", "import", "archive", "missing.zip", "--yes"], 3),
    "data sync": (["data", "sync", "missing.db", "other.db", "--yes"], 3),
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


def test_word_after_double_dash_is_not_an_option() -> None:
    done = run("add", "--", "--json")

    assert done.code == 0
    assert ok("recall", "json")["items"][0]["text"] == "--json"


def test_unexpected_error_is_reported_and_traced_with_verbose(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no such luck")

    monkeypatch.setattr("bethink.cli.target.find_target", broken)

    quiet, loud = run("status"), run("status", "--verbose")

    assert (quiet.code, loud.code) == (1, 1)
    assert "error: Unexpected RuntimeError: no such luck" in quiet.err
    assert "Traceback" not in quiet.err
    assert "Traceback" in loud.err


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bethink.cli.target.find_target", interrupted)

    assert run("status", "--json").envelope["error"]["code"] == "interrupted"
    assert run("status").code == 130


def test_missing_extra_error_shows_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bethink.http.app", None)
    monkeypatch.setitem(sys.modules, "bethink.mcp.server", None)

    for command, extra in (("serve", "server"), ("mcp", "mcp")):
        done = run(command)
        assert done.code == 4
        assert f"error: This command needs the extra '{extra}'." in done.err
        assert f"From a clone of Bethink, run: pip install '.[{extra}]'" in done.err


ASKING = [["forget", "--all"], ["doc", "update"], ["import", "jsonl", "FILE"], ["admin", "keys", "revoke", "PREFIX"]]


def _named(words: list[str], home: Path) -> list[str]:
    ok("add", "tea")
    (home / "lines.jsonl").write_text('{"role": "user", "content": "coffee"}\n', encoding="utf-8")
    prefix = ok("admin", "keys", "create", "old")["info"]["prefix"]
    return [{"FILE": str(home / "lines.jsonl"), "PREFIX": prefix}.get(word, word) for word in words]


@pytest.mark.parametrize("words", ASKING, ids=lambda words: words[0])
def test_destructive_command_without_a_terminal_needs_yes(words: list[str], home: Path) -> None:
    given = _named(words, home)

    refused = run(*given, stdin="y\n")

    assert refused.code == 2
    assert "--yes" in refused.err
    assert run(*given, "--dry-run").code == 0
    assert run(*given, "--yes").code == 0


@pytest.mark.parametrize("words", ASKING, ids=lambda words: words[0])
def test_destructive_command_asks_at_a_terminal(words: list[str], home: Path) -> None:
    given = _named(words, home)

    declined = run(*given, stdin="n\n", terminal=True)
    assert declined.code == 1
    assert "Nothing was changed" in declined.err
    accepted = run(*given, stdin="y\n", terminal=True)

    assert accepted.code == 0
    assert "[y/N]" in accepted.err


def test_a_dry_run_changes_nothing() -> None:
    ok("add", "tea")

    would = ok("forget", "--all", "--dry-run")

    assert would["messages"] == 1
    assert would["dry_run"] is True
    assert len(ok("recall", "tea")["items"]) == 1


def test_quiet_keeps_the_data_and_drops_the_notes() -> None:
    assert "not shown again" in run("admin", "keys", "create", "a").err
    quiet = run("admin", "keys", "create", "b", "--quiet")
    assert quiet.out.startswith("bt_")
    assert quiet.err == ""


def test_the_version_and_a_bare_call_are_answered() -> None:
    assert run("--version").out.startswith("bethink ")
    assert "none yet" in run().out
    assert run().code == 0
    ok("add", "tea")
    assert ok()["newest_session"] is not None
    assert ok()["next"]
