"""Transcripts of coding agents: every message once, nothing else, from any offset."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, cast

import pytest

from bethink.agents.transcripts import claude_code, codex, lines
from bethink.agents.transcripts.lines import TranscriptLine
from bethink.errors import BethinkError, ConfigurationError, CorruptDatabaseError
from bethink.providers.redaction import SecretRedactor
from tests import transcripts_kit as kit

SESSION = "5f9a3aeb-cc9d-4b70-a3c0-ee1f56eaed6b"
THREAD = kit.thread_id(1)
Read = Callable[..., Iterator[TranscriptLine]]


def transcript(home: Path, agent: str, count: int = 40) -> tuple[Path, Read, list[kit.Said]]:
    said = list(kit.turns(count))
    if agent == "claude-code":
        path = kit.claude_path(home, SESSION)
        return kit.write(path, kit.claude_code(said, session=SESSION)), claude_code.read_lines, said
    return kit.write(kit.codex_path(home, THREAD), kit.codex(said, thread=THREAD)), codex.read_lines, said


def told(found: list[TranscriptLine]) -> list[kit.Said]:
    return [kit.Said(each.role, each.content, each.said_at or kit.BEGUN, each.name) for each in found]


@pytest.fixture(params=["claude-code", "codex"])
def agent(request: pytest.FixtureRequest) -> str:
    return request.param


def test_transcript_is_read_with_roles_and_dates_only(tmp_path: Path, agent: str):
    path, read, said = transcript(tmp_path, agent, 2_000)
    found = list(read(path))
    assert told(found) == said
    assert len({each.key for each in found}) == 2_000
    assert {(each.agent, each.cwd, each.git_branch) for each in found} == {(agent, "/home/ada/proj", "main")}
    assert {each.conversation for each in found} == {f"{agent}:{SESSION if agent == 'claude-code' else THREAD}:"}
    assert found[1].message().origin == "tool:Bash"
    assert found[1].message().idempotency_key == found[1].key


def test_a_line_reads_the_same_from_every_offset(tmp_path: Path, agent: str):
    path, read, _ = transcript(tmp_path, agent)
    whole = list(read(path))
    for place, line in enumerate(whole, 1):
        assert list(read(path, start=line.offset)) == whole[place:]


def test_a_line_that_is_still_being_written_waits(tmp_path: Path, agent: str):
    path, read, said = transcript(tmp_path, agent)
    whole = path.read_bytes()
    found: list[TranscriptLine] = []
    random = Random(7)
    growing, end = tmp_path / "growing" / path.name, 0
    growing.parent.mkdir()
    while end < len(whole):
        end += random.randrange(1, 900)
        growing.write_bytes(whole[:end])
        found += read(growing, start=found[-1].offset if found else 0)
    assert told(found) == said


def test_rewritten_file_is_read_from_its_beginning(tmp_path: Path, agent: str):
    path, read, said = transcript(tmp_path, agent)
    assert told(list(read(path, start=10**9))) == said


def test_unknown_and_broken_lines_never_fail(tmp_path: Path, agent: str):
    path, read, said = transcript(tmp_path, agent)
    whole = path.read_bytes().splitlines(keepends=True)
    odd = [
        b"\n", b"null\n", b"[1, 2]\n", b"{\n", b"\xff\xfe\n", b"[" * 100_000 + b"\n", b'{"type": 3}\n',
        b'{"type": "user"}\n', b'{"type": "user", "uuid": "u", "sessionId": "s", "message": 3}\n',
        b'{"type": "assistant", "uuid": ["u"], "sessionId": {}, "message": {"content": [3, {"type": "text"}]}}\n',
        b'{"type": "response_item", "payload": 3}\n', b'{"type": "response_item"}\n', b'{"type": "session_meta"}\n',
        b'{"type": "response_item", "payload": {"type": "message", "role": "user", "content": "text"}}\n',
        b'{"type": "response_item", "payload": {"type": "function_call_output", "output": {"x": 1}}}\n',
        b'{"type": "event_msg", "payload": {"type": "from_the_future"}}\n',
    ]  # fmt: skip
    mixed = whole[:1] + [line for each in whole[1:] for line in (each, *odd)]
    path.write_bytes(b"".join(mixed))
    assert told(list(read(path))) == said


def test_lines_mutilated_at_random_never_fail(tmp_path: Path, agent: str):
    path, read, _ = transcript(tmp_path, agent)
    trees = [json.loads(line) for line in path.read_text().splitlines()]
    random = Random(3)
    for _ in range(200):
        kit.write(path, [mutilated(tree, random) for tree in trees])
        for line in read(path):
            assert line.message().idempotency_key == line.key
            assert line.conversation


def mutilated(tree: Any, random: Random) -> Any:
    if random.random() < 0.02:
        return random.choice([None, 3, [], {}, "", "\ud800", "x" * 300, [3], {"text": 3}])
    if isinstance(tree, dict):
        return {key: mutilated(value, random) for key, value in cast("dict[str, Any]", tree).items()}
    return [mutilated(value, random) for value in cast("list[Any]", tree)] if isinstance(tree, list) else tree


def test_the_output_of_a_tool_is_bounded_and_keeps_its_end(tmp_path: Path, agent: str):
    said = [kit.Said("tool", f"make all\nbegin {'x ' * 50_000} end", kit.BEGUN, "Bash")]
    if agent == "claude-code":
        path = kit.write(tmp_path / "s.jsonl", kit.claude_code(said, session=SESSION))
        (line,) = claude_code.read_lines(path)
    else:
        path = kit.write(tmp_path / "rollout-x.jsonl", kit.codex(said, thread=THREAD))
        (line,) = codex.read_lines(path)
    assert len(line.content) < lines.MAX_OUTPUT + 100
    assert line.content.startswith("make all\nbegin")
    assert line.content.endswith("end")


def test_prompt_of_a_sub_agent_is_not_from_the_user(tmp_path: Path, agent: str):
    said = list(kit.turns(8))
    if agent == "claude-code":
        path = tmp_path / SESSION / "subagents" / "agent-a1.jsonl"
        kit.write(path, kit.claude_code(said, session=SESSION, agent="a1"))
        found = list(claude_code.read_lines(path))
        assert {(each.session, each.subagent) for each in found} == {(SESSION, "a1")}
    else:
        source = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}
        head = {"source": source, "session_id": THREAD}
        path = kit.codex_path(tmp_path, kit.thread_id(2))
        kit.write(path, kit.codex(said, thread=kit.thread_id(2), head=head))
        found = list(codex.read_lines(path))
        assert {(each.session, each.subagent) for each in found} == {(THREAD, kit.thread_id(2))}
    assert [each.role for each in found] == ["assistant", "tool", "tool", "assistant"] * 2


@pytest.mark.parametrize(
    ("content", "typed"),
    [
        ("<command-name>/clear</command-name>\n<command-args></command-args>", ""),
        (
            "<command-message>fix</command-message><command-name>/fix</command-name><command-args>it</command-args>",
            "/fix it",
        ),
        ("<local-command-stdout>ok</local-command-stdout>", ""),
        ("[Request interrupted by user for tool use]", ""),
        ("<system-reminder>Be nice.</system-reminder>Use tabs.", "Use tabs."),
        ("What does <command-name> mean?", "What does <command-name> mean?"),
    ],
)
def test_only_what_the_user_typed_is_the_users(tmp_path: Path, content: str, typed: str):
    path = kit.write(tmp_path / "s.jsonl", kit.claude_code([kit.Said("user", content, kit.BEGUN)], session=SESSION))
    assert [each.content for each in claude_code.read_lines(path)] == ([typed] if typed else [])


@pytest.mark.parametrize(
    "mark",
    [{"isMeta": True}, {"isCompactSummary": True}, {"promptSource": "system"}, {"origin": {"kind": "x"}}],
)
def test_program_text_in_the_user_role_is_skipped(tmp_path: Path, mark: dict[str, Any]):
    trees = list(kit.claude_code([kit.Said("user", "I prefer tabs.", kit.BEGUN)], session=SESSION))
    path = kit.write(tmp_path / "s.jsonl", [{**tree, **mark} for tree in trees])
    assert list(claude_code.read_lines(path)) == []


def test_a_rollout_that_continues_another_file_begins_with_its_prefix(tmp_path: Path):
    before, after = list(kit.turns(12)), list(kit.turns(4, seed=9))
    first = kit.write(kit.codex_path(tmp_path, THREAD), kit.codex(before, thread=THREAD))
    own = list(codex.read_lines(first))
    trees = list(kit.codex(before, thread=THREAD))
    cut = next(tree["ordinal"] for tree in trees if before[8].content in json.dumps(tree))
    base = {"thread_id": THREAD, "end_ordinal_exclusive": cut, "end_byte_offset": 1}
    head = {"history_mode": "paginated", "history_base": base}
    second = kit.codex_path(tmp_path, THREAD, rollout="r2")
    kit.write(second, kit.codex(after, thread=THREAD, head=head, first=cut))
    found = list(codex.read_lines(second))
    assert found[:8] == [replace(each, offset=0) for each in own[:8]]
    assert told(found) == [*before[:8], *after]
    assert list(codex.read_lines(second, start=found[8].offset)) == found[9:]
    first.unlink()  # what is gone cannot be read, and the rest can
    assert told(list(codex.read_lines(second))) == after


def test_rollouts_that_continue_each_other_in_a_circle_end(tmp_path: Path):
    for own, other in ((1, 2), (2, 1)):
        head = {"history_base": {"thread_id": kit.thread_id(other), "end_ordinal_exclusive": 99}}
        path = kit.codex_path(tmp_path, kit.thread_id(own))
        kit.write(path, kit.codex(kit.turns(1), thread=kit.thread_id(own), head=head))
    assert {each.session for each in codex.read_lines(path)} == {kit.thread_id(1), kit.thread_id(2)}


def test_compressed_rollout_reads_like_the_plain_one(tmp_path: Path):
    path, _, _ = transcript(tmp_path, "codex")
    plain = list(codex.read_lines(path))
    packed = kit.compress(path)
    assert list(codex.read_lines(packed)) == plain
    assert list(codex.read_lines(path, start=plain[4].offset)) == plain[5:]
    assert codex.find(tmp_path) == [packed]


def test_truncated_rollout_ends_and_corrupt_one_raises(tmp_path: Path):
    path, _, said = transcript(tmp_path, "codex", 2_000)
    packed = kit.compress(path)
    whole = packed.read_bytes()
    packed.write_bytes(whole[: len(whole) // 2])
    assert len(list(codex.read_lines(packed))) < len(said)
    packed.write_bytes(b"not compressed at all")
    with pytest.raises(CorruptDatabaseError):
        list(codex.read_lines(packed))


def test_without_the_extra_a_compressed_rollout_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, _, _ = transcript(tmp_path, "codex")
    packed = kit.compress(path)

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(lines, "import_module", missing)
    with pytest.raises(ConfigurationError, match=r"\[codex\]") as caught:
        list(codex.read_lines(packed))
    assert isinstance(caught.value, BethinkError)


def test_transcripts_are_found_in_the_agents_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    one = transcript(tmp_path, "claude-code")[0]
    two = kit.write(one.with_suffix("") / "subagents" / "agent-a1.jsonl", [])
    three = transcript(tmp_path, "codex")[0]
    four = kit.write(tmp_path / ".codex/archived_sessions" / f"rollout-2026-01-01T00-00-00-{THREAD}.jsonl", [])
    kit.write(tmp_path / ".codex/history.jsonl", [])
    assert set(claude_code.find(tmp_path)) == {one, two}
    assert codex.find(tmp_path) == [four, three]
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / ".codex"))
    assert set(claude_code.find()) == {one, two}
    assert codex.find() == [four, three]


@pytest.mark.parametrize("shift", range(1, 40))
def test_no_half_of_a_secret_is_left_where_output_is_cut(shift: int):
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5"
    body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2] * 25
    key = "\n".join(["-----BEGIN PRIVATE KEY-----", *body, "-----END PRIVATE KEY-----"])
    head, tail = lines.MAX_OUTPUT * 2 // 3, lines.MAX_OUTPUT // 3
    for secret, step in ((token, 1), (key, 40)):
        before, after = "- " * head, " -" * tail
        left = len(secret) - shift * step
        text = f"{before[: head - shift * step]}{secret}{'- ' * 9_000}{secret}{after[-(tail - left) :]}"
        cut = SecretRedactor(b"key").redact(lines.shorten(text))
        assert token[4:10] not in cut
        assert token[-6:] not in cut
        assert "AAQEFAASC" not in cut
        assert "MIIEvQ" not in cut
