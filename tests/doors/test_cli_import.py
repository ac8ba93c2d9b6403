"""Import and export: each line is stored once, an interrupted run resumes, and a round trip is exact."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from bethink.cli.terminal import Progress
from tests.doors.cli_kit import items, ok, run

pytestmark = pytest.mark.usefixtures("home")


def written(folder: Path, *lines: Any) -> str:
    path = folder / "lines.jsonl"
    path.write_text(
        "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines), encoding="utf-8"
    )
    return str(path)


def said(number: int, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": f"message {number}", **more}


def test_import_stores_each_line_once(home: Path, on: list[str]) -> None:
    file = written(home, *(said(number) for number in range(250)))

    first = ok("import", "jsonl", file, "--yes", *on)
    again = ok("import", "jsonl", file, "--yes", *on)

    assert (first["stored"], first["known"]) == (250, 0)
    assert (again["stored"], again["known"]) == (0, 250)
    assert [entry["session"]["last_number"] for entry in items("sessions", *on)] == [250]


def test_interrupted_import_resumes_and_reports_it(home: Path, on: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from bethink.api.space import Space  # noqa: PLC0415

    file = written(home, *(said(number) for number in range(250)))
    remember, calls = Space.remember, 0

    async def breaks(self: Space, *given: Any, **named: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise KeyboardInterrupt
        return await remember(self, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Space, "remember", breaks)
        assert run("import", "jsonl", file, "--yes", *on).code == 130

    resumed = run("import", "jsonl", file, "--yes", *on)

    assert resumed.code == 0
    assert "resumed: 200 items were already stored" in resumed.err
    assert "50 of 250 stored in space alice, 200 already stored, 0 rejected" in resumed.out
    assert [entry["session"]["last_number"] for entry in items("sessions", *on)] == [250]


def test_lines_that_cannot_be_stored_are_named_and_the_others_are_stored(home: Path, on: list[str]) -> None:
    lines = [
        said(1),
        "not json",
        "[1]",
        {"role": "king", "content": "x"},
        {"role": "user", "content": ["x"]},
        {"role": "user", "content": "x", "said_at": "soon"},
        {"role": "user", "content": "x", "said_at": 1.5},
        {"role": "user", "content": "x", "conversation": ""},
        {"role": "user", "content": "x", "colour": "red"},
        {"role": "user", "content": "x", "agent": 7},
        said(2, idempotency_key="same"),
        said(3, idempotency_key="same"),
        said(4),
    ]

    done = run("import", "jsonl", written(home, *lines), "--yes", "--json", *on)

    assert done.code == 5
    report = done.envelope["data"]
    assert (report["stored"], report["refused"]) == (3, 10)
    assert report["refusals"][0].startswith("line 2: ")
    assert "line 12: " in report["refusals"][-1]
    assert done.envelope["error"]["code"] == "partial"


def test_refused_lines_are_set_aside_and_imported_once_fixed(home: Path, on: list[str]) -> None:
    aside = home / "refused.jsonl"
    file = written(home, said(1), {"role": "king", "content": "x"}, said(2), "broken")

    done = run("import", "jsonl", file, "--yes", "--errors", str(aside), *on)
    assert done.code == 5
    assert f"hint: They are in {aside}: fix them there" in done.err
    assert aside.read_text(encoding="utf-8") == '{"role": "king", "content": "x"}\nbroken\n'
    aside.write_text(json.dumps(said(3)), encoding="utf-8")

    assert ok("import", "jsonl", str(aside), "--yes", *on)["stored"] == 1
    assert len(ok("data", "export", *on)["messages"]) == 3


@pytest.mark.parametrize("more", [{}, {"idempotency_key": "k2"}])
def test_import_omits_deleted_lines_and_never_sets_them_aside(home: Path, on: list[str], more: dict[str, str]) -> None:
    aside = home / "refused.jsonl"
    file = written(home, said(1), said(2, **more), "broken")
    run("import", "jsonl", file, "--yes", *on)
    [session] = [entry["session"]["id"] for entry in items("sessions", *on)]
    ok("forget", f"message:{session}:2", "--yes", *on)

    done = run("import", "jsonl", file, "--yes", "--errors", str(aside), *on)

    assert "0 of 3 stored in space alice, 1 already stored, 1 left out as deleted, 1 rejected" in done.out
    assert aside.read_text(encoding="utf-8") == "broken\n"
    assert [each["content"] for each in ok("data", "export", *on)["messages"]] == ["message 1"]


def test_import_stores_nothing_if_refused_file_is_unwritable(home: Path, on: list[str]) -> None:
    file = written(home, said(1), "broken")

    assert run("import", "jsonl", file, "--yes", "--errors", str(home / "none" / "x.jsonl"), *on).code == 3
    assert run("import", "jsonl", file, "--yes", "--errors", str(home), *on).code == 1

    assert items("sessions", *on) == []


def test_interrupted_import_keeps_the_previous_refused_lines(
    home: Path, on: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from bethink.api.space import Space  # noqa: PLC0415

    async def breaks(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    (home / "kept.jsonl").write_text("of before", encoding="utf-8")
    monkeypatch.setattr(Space, "remember", breaks)
    file = written(home, said(1))

    assert run("import", "jsonl", file, "--yes", "--errors", str(home / "kept.jsonl"), *on).code == 130
    assert (home / "kept.jsonl").read_text(encoding="utf-8") == "of before"
    assert [path.name for path in home.glob(".kept*")] == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"content": "x"}, "line 2: `role` is missing. Write one JSON object per line"),
        ({"role": "user"}, "line 2: `content` is missing. Write one"),
        (said(2, foo=1), "line 2: Unknown field 'foo'. Use one of role"),
        ({"role": "king", "content": "x"}, "line 2: role must be one of user, assistant, system, tool, not 'king'."),
        ('{"role" "user"}', "line 2: Invalid JSON at column 9: "),
        ("[" * 100_000, "line 2: The JSON is nested too deeply."),
        (
            {"role": "user", "content": "x", "said_at": "soon"},
            "line 2: Cannot parse 'soon' as a date or time. Use the form 2026",
        ),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_refused_line_is_explained_without_internal_terms(home: Path, line: Any, told: str) -> None:
    [refusal] = run("import", "jsonl", written(home, said(1), line), "--yes", "--json").envelope["data"]["refusals"]

    assert refusal.startswith(told)
    assert "line 1" not in refusal
    assert "__init__" not in refusal


def test_a_dry_run_reads_everything_and_stores_nothing(home: Path, on: list[str]) -> None:
    done = run("import", "jsonl", written(home, said(1), "broken"), "--dry-run", *on)

    assert done.code == 5
    assert (
        "1 of 2 can be stored in space alice, 1 rejected (dry run; items already stored would be skipped)" in done.out
    )
    again = run("import", "jsonl", str(home / "lines.jsonl"), "--dry-run", "--json", *on).envelope["data"]
    assert (again["storable"], again["stored"], again["known"]) == (1, 0, 0)
    assert "line 2" in done.err
    assert items("sessions", *on) == []


def test_lines_can_come_from_stdin_and_an_empty_file_is_refused(home: Path, on: list[str]) -> None:
    assert ok("import", "jsonl", "-", "--yes", *on, stdin=json.dumps(said(1)))["stored"] == 1
    assert run("import", "jsonl", written(home), "--yes", *on).code == 2


def test_jsonl_export_and_import_round_trip(home: Path, on: list[str], target: str) -> None:
    lines = [
        said(1, conversation="cli:a:", said_at="2026-01-01T10:00:00Z", session="one"),
        {
            "role": "assistant",
            "content": "yes",
            "conversation": "cli:a:",
            "agent": "helper",
            "said_at": "2026-01-01T10:00:01Z",
        },
        {
            "role": "tool",
            "content": "42 \u001b[31m 東京",
            "name": "sum",
            "tool_call_id": "call_1",
            "is_error": True,
            "metadata": {"a": [1, None]},
            "conversation": "cli:b:",
            "said_at": "2026-01-02T10:00:00.000001Z",
        },
        said(2, conversation="cli:a:", session="two", said_at="2026-01-03T00:00:00Z"),
        said(3, conversation="cli:a:", session="two", tool_calls=[{"id": "x"}], said_at="2026-01-03T00:00:01Z"),
    ]
    ok("import", "jsonl", written(home, *lines), "--yes", *on)
    first = run("data", "export", *on)
    out = home / "out.jsonl"

    assert ok("data", "export", "--output", str(out), *on) == {"messages": 5, "file": str(out)}
    assert out.read_text(encoding="utf-8") == first.out
    assert ok("data", "export", *on)["messages"] == [json.loads(line) for line in first.out.splitlines()]
    copy = ["--database", target, "--space", "copy"]
    assert ok("import", "jsonl", str(out), "--yes", *copy)["stored"] == 5
    assert _comparable(run("data", "export", *copy).out) == _comparable(first.out)
    assert len(items("sessions", *copy)) == len(items("sessions", *on)) == 4


def _comparable(text: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in text.splitlines()]
    names = {name: str(place) for place, name in enumerate(dict.fromkeys(line["session"] for line in lines))}
    return [line | {"session": names[line["session"]]} for line in lines]


def test_a_resumed_copy_of_many_sessions_opens_no_empty_ones(home: Path, on: list[str]) -> None:
    lines = [said(number, conversation="cli:a:", session=str(number)) for number in range(4)]
    file = written(home, *lines)
    ok("import", "jsonl", file, "--yes", *on)

    ok("import", "jsonl", file, "--yes", *on)

    filled = [entry["session"]["last_number"] for entry in items("sessions", *on)]
    assert filled == [1, 1, 1, 1]


def test_a_space_that_holds_nothing_is_not_exported(home: Path, on: list[str], target: str) -> None:
    ok("add", "tea", *on)
    nobody = ["--database", target, "--space", "alcie"]

    for words in ([], ["--output", str(home / "out.jsonl")], ["--format", "markdown", "-o", str(home / "out")]):
        done = run("data", "export", *words, *nobody)
        assert done.code == 3
        assert "bethink admin spaces" in done.err
    assert not (home / "out.jsonl").exists()
    assert not (home / "out").exists()


def test_existing_file_is_overwritten_only_with_force(home: Path, on: list[str]) -> None:
    ok("add", "tea", *on)
    file = home / "out.jsonl"
    file.write_text("mine", encoding="utf-8")

    refused = run("data", "export", "--output", str(file), *on)

    assert (refused.code, file.read_text(encoding="utf-8")) == (1, "mine")
    assert "--force" in refused.err
    assert ok("data", "export", "--output", str(file), "--force", *on)["messages"] == 1
    assert ok("data", "export", "--output", "/dev/null", *on)["messages"] == 1


def test_documents_are_exported_as_files(home: Path, on: list[str]) -> None:
    ok("add", "I drink tea.", *on)
    ok("doc", "update", "--yes", *on)

    done = ok("data", "export", "--format", "markdown", "-o", str(home / "out"), *on)

    assert "raw_memories.md" in done["files"]
    assert len(done["files"]) > 1
    for name in done["files"]:
        assert (home / "out" / name).is_file()


def test_exported_files_are_readable_only_by_their_owner(home: Path, on: list[str]) -> None:
    ok("add", "I drink tea.", *on)
    ok("doc", "update", "--yes", *on)
    before = os.umask(0o022)
    try:
        ok("data", "export", "--output", str(home / "out.jsonl"), *on)
        ok("data", "export", "--format", "markdown", "-o", str(home / "out"), *on)
    finally:
        os.umask(before)

    modes = {each: stat.S_IMODE(each.stat().st_mode) for each in (home / "out.jsonl", home / "out")}
    assert modes == {home / "out.jsonl": 0o600, home / "out": 0o700}
    assert {stat.S_IMODE(each.stat().st_mode) for each in (home / "out").glob("*.md")} == {0o600}


def test_no_file_is_written_outside_of_the_folder(home: Path, on: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from bethink.api.documents import Documents  # noqa: PLC0415

    ok("add", "tea", *on)

    async def files(self: Documents) -> dict[str, str]:
        return {"../escaped.md": "x"}

    monkeypatch.setattr(Documents, "read_all", files)

    assert run("data", "export", "--format", "markdown", "-o", str(home / "out"), *on).code == 1
    assert not (home / "escaped.md").exists()


def test_progress_tells_how_far_how_fast_and_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("lines", 10, quiet=False, interval=0.0) as progress:
        progress.advance(4)
        progress.advance(6)

    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1, "the result says that it ended"
    assert told[0].startswith("lines: 4 of 10, ")
    assert told[0].endswith(" s left")


def test_progress_at_a_terminal_is_a_bar_with_rate_and_time_left(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")

    done = run("import", "jsonl", written(home, said(1)), "--yes", terminal=True)

    assert done.code == 0
    assert "1/1" in done.err
    assert "/s" in done.err


def test_the_file_that_is_read_is_not_written_over_by_what_is_refused(home: Path, on: list[str]) -> None:
    lines = written(home, said(1), "broken")
    before = Path(lines).read_text(encoding="utf-8")

    assert run("import", "jsonl", lines, "--errors", lines, "--yes", *on).code == 2
    assert Path(lines).read_text(encoding="utf-8") == before


def test_session_without_learning_stays_so_after_a_round_trip(home: Path, on: list[str]) -> None:
    ok("import", "jsonl", written(home, said(1, learns=False, conversation="cli:secret:")), "--yes", *on)
    copy = home / "copy.jsonl"
    ok("data", "export", "--format", "jsonl", "--output", str(copy), *on)
    elsewhere = ["--database", str(home / "elsewhere.db")]
    ok("import", "jsonl", str(copy), "--yes", *elsewhere)

    assert [
        each["session"]["is_learned_from"] for each in [*items("sessions", *on), *items("sessions", *elsewhere)]
    ] == [
        False,
        False,
    ]
