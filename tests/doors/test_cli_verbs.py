"""The commands for the operations, on both databases."""

import re
from pathlib import Path

import pytest

import bethink
import bethink.sync
from bethink.model.calls import ModelCall
from bethink.model.documents import DocumentDraft
from bethink.model.working import Event, EventType, Mode
from bethink.providers.scripted_model import ScriptedModel
from faults import scripted
from tests.doors.cli_kit import Done, items, ok, quoted, run

pytestmark = pytest.mark.usefixtures("home")


def test_added_message_can_be_recalled_shown_and_deleted(on: list[str]) -> None:
    [ref] = ok("add", "I moved to Bergen in May.", *on)["refs"]

    found = ok("recall", "Where did I move to?", *on)["items"]
    assert [item["ref"] for item in found] == [ref]
    shown = ok("show", ref, *on)
    assert shown["text"] == "I moved to Bergen in May."
    assert ok("forget", ref, "--yes", *on)["messages"] == 1
    assert run("show", ref, *on).code == 3
    assert ok("recall", "Where did I move to?", *on)["items"] == []


def test_a_text_from_stdin_and_a_repeated_key_are_stored_once(on: list[str]) -> None:
    first = ok("add", "--idempotency-key", "k", *on, stdin="green tea\n")
    again = ok("add", "-", "--idempotency-key", "k", *on, stdin="green tea\n")

    assert first["refs"] == again["refs"]


def test_conversation_has_a_plain_name(home: Path, on: list[str]) -> None:
    [ref] = ok("add", "The mat is blue.", "--conversation", "hello", *on)["refs"]
    lines = home / "lines.jsonl"
    lines.write_text('{"role": "user", "content": "And new."}\n', encoding="utf-8")
    ok("import", "jsonl", str(lines), "--conversation", "hello", "--yes", *on)

    assert [entry["conversation"] for entry in items("sessions", *on)] == ["hello"]
    assert "hello" in run("sessions", *on).out
    assert ok("show", ref, *on)["text"] == "The mat is blue."
    assert {message["conversation"] for message in ok("data", "export", *on)["messages"]} == {"hello"}
    assert ok("forget", "--conversation", "hello", "--yes", *on)["messages"] == 2
    assert run("forget", "--conversation", "hullo", "--yes", *on).code == 3


def test_recall_output_names_its_sources(on: list[str]) -> None:
    [ref] = ok("add", "I moved to Bergen in May.", *on)["refs"]

    done = run("recall", "Bergen", "--explain", *on)

    assert "I moved to Bergen in May." in done.out
    assert "message from user" in done.out
    assert ref in done.out
    assert "why: words" in done.out
    nothing = run("recall", "zebra", *on)
    assert nothing.out == ""
    assert "No match by words." in nothing.err


def test_recall_can_be_limited_in_number_tokens_kind_and_time(on: list[str]) -> None:
    for number in range(5):
        ok("add", f"tea number {number}", *on)

    assert len(ok("recall", "tea", "--limit", "2", *on)["items"]) == 2
    assert ok("recall", "tea", "--budget", "12", *on)["tokens"] <= 12
    assert ok("recall", "tea", "--kind", "fact", *on)["items"] == []
    assert ok("recall", "tea", "--as-of", "2020-01-01", *on)["items"] == []
    assert ok("recall", "tea", "--known-at", "2100-01-01", *on)["items"]
    assert run("recall", "tea", "--known-at", "yesterday", *on).code == 2
    assert run("show", "--known-at", "2100-01-01", *on).code == 2  # it shows one memory at a past time, not a list
    assert run("recall", "tea", "--kind", "rumour", *on).code == 2


def test_one_space_never_sees_another(target: str) -> None:
    [ref] = ok("add", "a secret garden", "--database", target, "--space", "alice")["refs"]

    other = ["--database", target, "--space", "bob"]
    assert ok("recall", "garden", *other)["items"] == []
    assert run("show", ref, *other).code == 3
    assert run("forget", ref, "--yes", *other).code == 3
    assert items("sessions", *other) == []


def test_a_document_has_a_log_a_diff_and_a_way_back(target: str, on: list[str]) -> None:
    with bethink.sync.connect(target, learn=False) as memory:
        documents = memory.space("alice").documents
        made = documents.create(DocumentDraft(slug="trip", title="Trip", body="to Oslo"))
        assert made
        documents.update(made.id, DocumentDraft(slug="trip", title="Trip", body="to Bergen"), if_version=1)

    assert [version["version"] for version in items("doc", "history", made.id, *on)] == [2, 1]
    assert "~/trip" in run("doc", "list", *on).out
    changed = run("doc", "diff", "~/trip", "1", "2", *on).out
    assert "-to Oslo" in changed
    assert "+to Bergen" in changed
    assert "+to Oslo" in run("doc", "revert", made.id, "1", "--dry-run", *on).out
    assert items("doc", "history", made.id, *on)[0]["version"] == 2
    assert ok("doc", "revert", f"document:{made.id}:2", "1", "--yes", *on)["body"] == "to Oslo"
    assert run("doc", "diff", made.id, "1", "9", *on).code == 3


def test_a_path_whose_tilde_the_shell_has_replaced_is_still_one(target: str, on: list[str], home: Path) -> None:
    with bethink.sync.connect(target, learn=False) as memory:
        memory.space("alice").documents.create(DocumentDraft(slug="trip", title="Trip"))

    assert len(items("doc", "history", f"{home}/trip", *on)) == 1


def test_a_deleted_document_can_be_restored_by_its_id(target: str, on: list[str]) -> None:
    with bethink.sync.connect(target, learn=False) as memory:
        documents = memory.space("alice").documents
        made = documents.create(DocumentDraft(slug="trip", title="Trip", body="to Oslo"))
        assert made
        documents.delete(made.id, if_version=1)

    assert run("doc", "history", "~/trip", *on).code == 3
    assert ok("doc", "revert", made.id, "1", "--yes", *on)["body"] == "to Oslo"
    assert len(items("doc", "history", "~/trip", *on)) == 2


def test_log_lists_all_versions_of_a_fact(target: str, on: list[str]) -> None:
    with bethink.sync.connect(target, learn=False) as memory:
        facts = memory.space("alice").facts
        facts.save(bethink.Fact(id="home", text="lives in Oslo"))
        facts.save(bethink.Fact(id="home", text="lives in Bergen"))

    assert [fact["text"] for fact in items("fact", "history", "home", *on)] == ["lives in Bergen", "lives in Oslo"]
    assert "lives in Bergen" in run("fact", "history", "fact:home:2", *on).out


def test_version_document_and_key_lists_come_in_pages(target: str, on: list[str]) -> None:
    with bethink.sync.connect(target, learn=False) as memory:
        facts, documents = memory.space("alice").facts, memory.space("alice").documents
        for place in ("Oslo", "Bergen", "Tromsø"):
            facts.save(bethink.Fact(id="home", text=f"lives in {place}"))
            documents.create(DocumentDraft(slug=place, title=place, body=place))
            memory.admin.keys.create(place, ("read",))
            memory.admin.webhooks.create(f"https://{place[:2]}.example.com/")

    for words in (
        ["fact", "history", "home", *on], ["doc", "list", *on],
        ["admin", "keys", "list", *on[:2]], ["admin", "webhooks", "list", *on[:2]],
    ):  # fmt: skip
        complete = items(*words)
        first = ok(*words, "--limit", "2")
        rest = ok(*words, "--limit", "100", "--after", first["next"])
        assert len(first["items"]) == 2
        assert first["items"] + rest["items"] == complete, words
        assert rest["next"] in (None, "")
        assert "note: there may be more; continue with --after" in run(*words, "--limit", "2").err
    assert run("fact", "history", "home", "--after", "nonsense!", *on).code == 2


def test_sessions_are_listed_newest_first_and_page_by_page(on: list[str]) -> None:
    for chat in "abc":
        ok("add", "tea", "--conversation", f"cli:{chat}:", *on)

    names = [entry["conversation"] for entry in items("sessions", *on)]
    assert names == ["cli:c:", "cli:b:", "cli:a:"]
    first = items("sessions", "--limit", "2", *on)
    rest = items("sessions", "--after", first[-1]["session"]["id"], *on)
    assert [entry["conversation"] for entry in rest] == ["cli:a:"]
    assert "pending" in run("sessions", *on).out


def test_a_session_and_a_conversation_can_be_forgotten(on: list[str]) -> None:
    ok("add", "green tea", "--conversation", "cli:a:", *on)
    session = ok("add", "black tea", "--conversation", "cli:b:", *on)["session"]

    assert ok("forget", "--session", session, "--yes", *on)["messages"] == 1
    assert ok("forget", "--conversation", "cli:a:", "--yes", *on)["messages"] == 1
    assert ok("recall", "tea", *on)["items"] == []
    assert run("forget", "--conversation", "cli:z:", "--yes", *on).code == 3
    assert run("forget", *on).code == 2
    assert run("forget", session, "--all", *on).code == 2


def test_a_thread_is_stepped_and_its_states_are_seen(target: str, on: list[str]) -> None:
    with bethink.sync.connect(target, learn=False) as memory:
        threads = memory.space("alice").threads
        threads.open("thread_roof", mode=Mode.STEPPING)
        threads.open("thread_auto")
        threads.dispatch("thread_roof", Event(type=EventType.USER_MESSAGE, payload={"text": "Mend the roof."}))

    assert {thread["id"] for thread in items("learn", "thread", *on)} == {"thread_roof", "thread_auto"}
    stepped = ok("learn", "thread", "thread_roof", *on)
    assert stepped["event_processed"] is True
    assert stepped["queued_event_count"] == 0
    assert "nothing to do" in run("learn", "thread", "thread_roof", *on).out
    states = ok("learn", "thread", "thread_roof", "--show", *on)
    held = run("learn", "thread", "thread_roof", "--state", str(states[-1]["number"]), *on)
    assert "Mend the roof." in held.out
    assert "USER_MESSAGE" in run("learn", "thread", "thread_roof", "--show", *on).out
    assert run("learn", "thread", "thread_auto", *on).code == 1


def test_a_worker_learns_once_and_the_jobs_say_so(on: list[str]) -> None:
    ok("add", "I drink tea.", *on)
    assert {job["status"] for job in items("learn", "jobs", *on)} == {"queued"}

    ok("worker", "--once", *on[:2])

    assert "succeeded" in {job["outcome"] for job in items("learn", "jobs", *on) if job["kind"] == "extract"}
    listed = run("learn", "jobs", *on)
    assert "extract      waiting  succeeded" in listed.out
    assert "a waiting job is done for now" in listed.err
    assert "stay queued until an embedder is set" in listed.err
    assert run("worker", "--once", *on[:2]).out.startswith("0 jobs: nothing was due")


def test_worker_once_continues_until_nothing_is_due(on: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BETHINK_WORKER_BATCH", "2")
    for number in range(7):
        ok("add", "I drink tea.", "--conversation", f"cli:{number}:", *on)

    report = ok("worker", "--once", *on[:2])

    assert report["outcomes"]["succeeded"] >= 7
    assert report["leased"] >= 7
    extracts = [job for job in items("learn", "jobs", *on) if job["kind"] == "extract"]
    assert {job["outcome"] for job in extracts} == {"succeeded"}
    assert run("worker", "--once", *on[:2]).out.startswith("0 jobs")


def test_consolidate_queues_and_runs(on: list[str]) -> None:
    ok("add", "I drink tea.", *on)
    assert ok("doc", "update", "--dry-run", *on)["dry_run"] is True
    assert items("doc", "list", *on) == []

    ok("doc", "update", "--yes", *on)

    assert "~/memory" in [entry["path"] for entry in items("doc", "list", *on)]
    assert run("doc", "update", "--yes", "--database", on[1], "--space", "nobody").code == 3


def test_a_consolidation_and_its_dry_run_concern_one_space_only(target: str, on: list[str]) -> None:
    for name in ("alice", "bob", "carol"):
        ok("add", "tea", "--database", target, "--space", name)

    assert "1 job pending in alice" in run("doc", "update", "--dry-run", *on).out
    ok("doc", "update", "--yes", *on)

    assert "0 jobs pending in alice" in run("doc", "update", "--dry-run", *on).out
    for name in ("bob", "carol"):
        jobs = items("learn", "jobs", "--database", target, "--space", name)
        assert {job["status"] for job in jobs if job["kind"] == "extract"} == {"queued"}


def test_a_key_is_made_listed_rotated_and_revoked(on: list[str]) -> None:
    made = ok(
        "admin", "keys", "create", "ci", "--scope", "read", "--space", "alice", "--expires-at", "2100-01-01", *on[:2]
    )
    prefix = made["info"]["prefix"]
    assert made["key"].startswith(f"bt_{prefix}.")
    assert made["info"]["scopes"] == ["read"]
    assert made["info"]["expires_at"].startswith("2100-01-01T23:59:59")

    rotated = ok("admin", "keys", "rotate", prefix, "--overlap", "60", *on[:2])["info"]["prefix"]
    assert {prefix, rotated} <= {key["prefix"] for key in items("admin", "keys", "list", *on[:2])}
    assert "would revoke" in run("admin", "keys", "revoke", rotated, "--dry-run", *on[:2]).out
    assert ok("admin", "keys", "revoke", rotated, "--yes", *on[:2])["key"]["revoked_at"]
    table = run("admin", "keys", "list", *on[:2])
    assert rotated in table.out
    assert made["key"].partition(".")[2] not in table.out
    assert run("admin", "keys", "rotate", rotated, *on[:2]).code == 1
    for day in ("2020-01-01", "soon"):
        late = run("admin", "keys", "create", "ci", "--expires-at", day, *on[:2])
        assert late.code == 2
        assert re.search(r"hint: .*\d{4}-\d\d-\d\d", late.err)


def test_status_shows_counts_and_how_the_target_was_found(on: list[str]) -> None:
    ok("add", "tea", *on)

    status = ok("status", *on)

    assert status["named_by"] == "argument"
    assert status["space"] == "alice"
    assert status["spaces"] == 1
    assert status["newest_session"].endswith("Z")
    assert status["jobs"]
    told = run("status", *on).out
    assert "alice (one of 1)" in told
    assert re.search("^jobs, all spaces +1 extract queued", told, re.MULTILINE)
    assert "0 violations in a sample of 1 space\n" in run("doctor", *on[:2]).out


def test_spaces_are_listed_page_by_page_or_all_at_once(target: str) -> None:
    for name in "cabde":
        ok("add", "tea", "--database", target, "--space", name)

    first = run("admin", "spaces", "--limit", "2", "--database", target)
    assert first.out.split() == ["SPACE", "a", "b"]
    after = first.err.split("--after ")[1].strip()
    second = items("admin", "spaces", "--limit", "2", "--after", after, "--database", target)
    assert [space["name"] for space in second] == ["c", "d"]
    everything = items("admin", "spaces", "--limit", "2", "--all", "--database", target)
    assert [space["name"] for space in everything] == list("abcde")


def test_empty_space_and_empty_list_are_reported(target: str, on: list[str]) -> None:
    ok("add", "tea", *on)
    other = ["--database", target, "--space", "alcie"]

    note = f"Space 'alcie' is empty. Run 'bethink admin spaces --database {quoted(target)}' to list the spaces.\n"
    assert run("recall", "tea", *other).err == run("context", *other).err == note
    assert "No match by words." in run("recall", "zebra", *on).err
    for words in (["show"], ["sessions"], ["fact", "list"], ["learn", "jobs"], ["doc", "list"], ["learn", "thread"]):
        done = run(*words, *other)
        assert (done.code, done.out, done.err) == (0, "", note)
    for words in (["fact", "list", *on], ["doc", "list", *on], ["admin", "hold", "list", "--all", *other]):
        assert run(*words).err == "none\n"
    assert run("fact", "list", "--json", *other).err == ""


def test_not_found_error_names_the_command_that_lists_items(target: str, on: list[str]) -> None:
    ok("add", "tea", *on)
    with bethink.sync.connect(target, learn=False) as memory:
        made = memory.space("alice").documents.create(DocumentDraft(slug="trip", title="Trip"))
        assert made

    for words, command in (
        (["forget", "--session", "ses_none", "--yes"], "bethink sessions"),
        (["forget", "--conversation", "cli:none:", "--yes"], "bethink sessions"),
        (["forget", "fact:none:1", "--yes"], "bethink fact list"),
        (["doc", "history", "none"], "bethink doc list"),
        (["doc", "diff", "none", "1", "2"], "bethink doc list"),
        (["doc", "diff", made.id, "1", "9"], f"bethink doc history {made.id}"),
    ):
        done = run(*words, *on)
        assert done.code == 3, words
        assert re.search(f"hint: .*{command}", done.err), done.err
    nowhere = run("forget", "--all", "--yes", "--database", target, "--space", "nosuch")
    assert nowhere.code == 3
    assert f"hint: Run 'bethink admin spaces --database {quoted(target)}'" in nowhere.err


def test_one_is_one_and_two_are_many(on: list[str]) -> None:
    ok("add", "tea", *on)
    assert run("data", "export", *on).err == "1 message\n"
    assert run("forget", "--all", "--dry-run", *on).out == "Would delete 1 message.\n"
    ok("add", "coffee", *on)
    assert run("forget", "--all", "--dry-run", *on).out == "Would delete 2 messages.\n"


def test_a_password_in_the_address_is_never_printed() -> None:
    done: list[Done] = []
    target = "postgresql://mira:hunter2@127.0.0.1:1/none"
    for words in (["admin", "config", "show", "--sources"], ["status"], ["doctor"], ["add", "x"]):
        done += [run(*words, "--database", target), run(*words, "--database", target, "--json")]

    assert not any("hunter2" in each.out + each.err for each in done)
    assert any("mira:***@" in each.out for each in done)


def test_show_follows_every_kind_of_memory_for_people(target: str, on: list[str]) -> None:
    [message] = ok("add", "I drink tea.", *on)["refs"]
    session = message.split(":")[1]
    ok("worker", "--once", *on[:2])
    with bethink.sync.connect(target, learn=False) as memory:
        facts = memory.space("alice").facts
        facts.save(bethink.Fact(id="home", text="lives in Oslo"))
        facts.save(bethink.Fact(id="home", text="lives in Bergen"))
        memory.space("alice").recall("tea", session_id=memory.space("alice").sessions.get(session_id=session).id)
        memory.space("alice").admin.context_log.mark_used([message])

    said = run("show", message, *on).out
    assert "used in  session_summary:" in said
    assert f"for recall to {session}" in said
    assert "1 time, last" in said
    learnt = run("show", f"session_summary:{session}:0", *on).out
    assert f"based on  {message}" in learnt
    assert "made by  no model" in learnt
    assert "job  extract succeeded" in learnt
    was = run("show", "fact:home:1", *on).out
    assert "replaced by  fact:home:2" in was
    assert "to now  lives in Bergen" in was
    [document] = [entry["id"] for entry in items("doc", "list", *on) if entry["path"].endswith("MEMORY.md")]
    assert "based on  session_summary:" in run("show", f"document:{document}:1", *on).out


def test_learned_fact_is_shown_with_its_source_message(target: str, on: list[str]) -> None:
    claim = scripted.claim("User drinks tea", scripted.quote(1, "I drink tea"))

    def answer(call: ModelCall) -> str:
        answers = {"claims": scripted.answer([claim]), "verdicts": scripted.verdicts(["c1"])}
        return answers.get(call.schema_name, '{"calls": [], "done": true}')

    [message] = ok("add", "I drink tea every morning.", *on)["refs"]
    with bethink.sync.connect(target, model=ScriptedModel(answer)) as memory:
        memory.learn()

    [found] = ok("recall", "tea", "--kind", "fact", *on)["items"]
    shown = run("show", found["ref"], *on).out
    assert f"I drink tea every morning. (user)\n          {message}\n" in shown
    assert "evidence  confirmed\n" in shown
    assert "  quote  “I drink tea”\n" in shown
    assert "rests on" not in shown
    explained = run("recall", "tea", "--kind", "fact", "--explain", "--budget", "500", *on).out
    assert "from: I drink tea every morning. (user)" in explained


@pytest.mark.parametrize("words", [["add", "tea", "--conversation", "a\udcff"], ["add", "tea", "--agent", "a\udcff"]])
def test_half_a_character_in_a_name_is_refused_with_a_next_step(on: list[str], words: list[str]) -> None:
    done = run(*words, *on, "--json")

    assert done.code != 0
    assert done.envelope["error"]["code"] == "invalid_field"
    assert done.envelope["error"]["hint"]
