"""The guard judges hook inputs by the instructions of people, and never raises."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.guard import figures, judge, read
from bethink.features.guard.check import GuardCheck, GuardVerdict, UserStatement, explain, statement_from
from bethink.features.guard.events import read_event
from bethink.features.guard.judge import judge_case, judge_event
from bethink.features.guard.read import read_statement
from bethink.features.guard.shapes import all_shapes
from bethink.features.guard.state import MAX_EVENTS, AgentSession

_DATA = Path(__file__).parent / "data"
_RULE = {"id": "r1", "who": "user", "lang": "en", "project": None, "at": "2026-05-01T08:00:00Z"}


def _bash(command: str, name: str = "PreToolUse", cwd: str = "/home/kim/tool", **more: Any) -> dict[str, Any]:
    return {"hook_event_name": name, "cwd": cwd, "tool_name": "Bash", "tool_input": {"command": command}, **more}


def _case(text: str, event: dict[str, Any], **more: Any) -> dict[str, Any]:
    rule = {**_RULE, "text": text, **more.pop("rule", {})}
    said = [rule, *more.pop("later", [])]
    case = {"at": "2026-11-18T09:00:00Z", "agent": "codex", "rule": rule, "said": said, "this_session": [], "world": {}}
    return {**case, "before": [], "event": event, **more}


@pytest.mark.parametrize("name", ["own.jsonl", "fresh.jsonl"])
def test_data_sets_reach_the_bar(name: str) -> None:
    result = figures(_DATA / name)

    assert result["precision"] >= 0.99
    assert result["recall"] >= 0.95
    assert result["alarm_rate"] <= 0.004


@pytest.mark.parametrize("name", ["own.jsonl", "fresh.jsonl"])
def test_no_statement_binds_that_should_not(name: str) -> None:
    rows = [json.loads(line) for line in (_DATA / name).read_text(encoding="utf-8").splitlines()]
    statements = [row for row in rows if row["kind"] == "say"]
    binding = [row for row in statements if read(row)["binds"] in ("standing", "once")]

    assert [row["text"] for row in binding if row["binds"] in ("none", "withdraws")] == []


def test_verdict_names_rule_date_match_and_alternative() -> None:
    verdict, message = judge_case(_case("Use podman, not docker.", _bash("sudo docker ps")))

    assert verdict == GuardVerdict(result="breached", matched="docker ps", instead="podman")
    assert message == 'Your rule since 2026-05-01: "Use podman, not docker." Matched: docker ps. Instead: podman.'


def test_rule_of_a_team_is_called_the_team_s() -> None:
    check = GuardCheck(shape="limit", statement=UserStatement(who="team", text="x"))

    assert explain(check, GuardVerdict(result="obeyed")).startswith("Your team's rule since unknown date")


def test_statement_of_a_tool_never_binds() -> None:
    case = _case("Never use docker.", _bash("docker ps"), rule={"who": "tool:WebFetch"})

    assert judge(case) == "na"


def test_rule_of_another_project_does_not_apply() -> None:
    case = _case("Never use docker.", _bash("docker ps"), rule={"project": "shop"})

    assert judge(case) == "na"
    assert judge({**case, "event": _bash("docker ps", cwd="/home/kim/shop")}) == "breached"


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        ("You may use docker again.", "na"),
        ("Docker is fine now.", "na"),
        ("Use docker, not podman.", "na"),
        ("You may edit docs/ again.", "breached"),
        ("Keep answers short.", "breached"),
    ],
)
def test_later_statement_ends_only_its_own_subject(later: str, expected: str) -> None:
    other = {**_RULE, "id": "r2", "at": "2026-06-01T08:00:00Z", "text": later}

    assert judge(_case("Never use docker, use podman.", _bash("docker ps"), later=[other])) == expected


def test_unclear_later_remark_makes_the_verdict_unknown() -> None:
    other = {**_RULE, "id": "r2", "at": "2026-06-01T08:00:00Z", "text": "Docker has grown on me lately."}

    assert judge(_case("Never use docker.", _bash("docker ps"), later=[other])) == "unknown"


def _write(path: str, content: str) -> dict[str, Any]:
    event = {"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "Write"}
    return {**event, "tool_input": {"file_path": path, "content": content}}


def test_banned_code_in_a_docstring_is_no_breach() -> None:
    content = '"""Example:\n\n    print(x)\n"""\nx = 1\n'

    assert judge(_case("No print() in Python code.", _write("/p/a.py", content))) == "na"
    assert judge(_case("No print() in Python code.", _write("/p/a.py", content + "print(x)\n"))) == "breached"


def test_version_update_adds_no_dependency() -> None:
    event = {"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "Edit"}
    edit = {"file_path": "/p/package.json", "old_string": '  "zod": "^3"', "new_string": '  "zod": "^4"'}
    rule = "Ask me before adding packages."

    assert judge(_case(rule, {**event, "tool_input": edit})) == "na"
    assert judge(_case(rule, {**event, "tool_input": {**edit, "old_string": ""}})) == "breached"


@pytest.mark.parametrize(
    "command",
    [
        "find legal -name '*.md' -exec rm {} +",
        "find legal -delete",
        "for f in legal/*; do rm $f; done",
        "cd legal && rm a",
    ],
)
def test_indirect_change_of_a_folder_is_found(command: str) -> None:
    assert judge(_case("Never edit legal/.", _bash(command))) == "breached"


def test_one_off_rule_ends_with_its_session() -> None:
    case = _case("For this task don't use docker.", _bash("docker ps"))

    assert judge({**case, "this_session": ["r1"]}) == "breached"
    assert judge(case) == "na"


def test_one_off_rule_with_a_date_ends_on_it() -> None:
    rule = {"text": "Until 2026-06-10 don't use docker.", "at": "2026-06-01T08:00:00Z"}
    case = _case("", _bash("docker ps"), rule=rule)

    assert judge({**case, "at": "2026-06-09T08:00:00Z"}) == "breached"
    assert judge({**case, "at": "2026-06-10T08:00:00Z"}) == "na"


def test_session_is_built_event_by_event() -> None:
    session = AgentSession()
    check = read_statement(statement_from({**_RULE, "text": "Run the tests ahead of every commit."})).check
    commit = read_event(_bash("git commit -m x"))
    assert check is not None

    assert judge_event(check, commit, session).result == "breached"
    session.add(_bash("cargo test", "PostToolUse", tool_response="test result: ok"))
    assert judge_event(check, commit, session).result == "obeyed"


def test_session_is_bounded() -> None:
    session = AgentSession(_bash("ls", "PostToolUse") for _ in range(MAX_EVENTS + 10))

    assert len(session.events) == MAX_EVENTS


def test_every_shape_has_a_name_and_an_order() -> None:
    shapes = all_shapes()

    assert len(shapes) >= 16
    assert list(shapes) == sorted(shapes, key=lambda name: shapes[name].order)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(["rule", "said", "this_session", "world", "before", "event", "at"]), _JSON)
def test_broken_cases_never_raise(field: str, value: Any) -> None:
    case = {**_case("Never use docker.", _bash("ls")), field: value}

    assert judge(case) in ("na", "unknown")


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_any_statement_can_be_read(text: str) -> None:
    assert read({**_RULE, "text": text})["binds"] in ("standing", "once", "withdraws", "none")


def test_large_edit_is_judged_quickly() -> None:
    content = "value = 'some text'\n" * 4_000
    event = {"hook_event_name": "PreToolUse", "cwd": "/p", "tool_name": "Write"}
    case = _case("No print() in Python code.", {**event, "tool_input": {"file_path": "/p/a.py", "content": content}})
    judge(case)
    start = time.perf_counter()

    assert judge(case) == "na"
    assert time.perf_counter() - start < 1
