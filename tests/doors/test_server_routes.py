import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bethink.model.access import Scope
from bethink.model.operations import OPERATIONS
from bethink.model.refs import Ref
from tests.conftest import ON_ONE_DATABASE
from tests.doors.server_kit import CANARY, METRICS, Route, Served, Things, furnish, operations, serving

S = "/v1/spaces/alice"
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
async def served(target: str) -> AsyncIterator[Served]:
    async with serving(target) as served:
        yield served


async def test_http_message_can_be_recalled_explained_used_and_deleted(served: Served) -> None:
    stored = await served("POST", f"{S}/remember", {"messages": "My sister Anna lives in Oslo."})
    assert stored.status == 201
    [ref] = stored.json()["refs"]
    assert str(Ref.parse(ref)) == ref

    found = (await served("POST", f"{S}/recall", {"question": "Where does my sister live?", "explain": True})).json()
    assert [item["ref"] for item in found["items"]] == [ref]
    assert found["items"][0]["origin"] == "user"
    assert set(next(iter(found["candidates"][0]["signals"].values()))) == {"raw", "normalized", "added"}

    lineage = (await served("GET", f"{S}/memories/{ref}")).json()
    assert (lineage["ref"], lineage["text"]) == (ref, "My sister Anna lives in Oslo.")
    assert (await served("POST", f"{S}/context-log/used", {"refs": [ref]})).json() == {"result": 1}

    would = (await served("POST", f"{S}/forget", {"ref": ref, "dry_run": True})).json()
    assert (would["messages"], would["dry_run"]) == (1, True)
    assert (await served("POST", f"{S}/forget", {"ref": ref})).json()["messages"] == 1
    assert (await served("POST", f"{S}/recall", {"question": "Where does my sister live?"})).json()["items"] == []


def test_http_page_lists_scope_of_every_operation() -> None:
    page = (ROOT / "docs" / "reference" / "http.md").read_text(encoding="utf-8")
    rows = {scope: re.search(rf"^\| `{scope}` \|(.*)\|$", page, re.MULTILINE) for scope in Scope}
    told = {scope: set(re.findall(r"`([a-z_.]+)`", row[1])) for scope, row in rows.items() if row}

    assert told == {scope: {operation.name for operation in OPERATIONS if operation.scope is scope} for scope in Scope}
    also = re.search(r"^Also `read`: (.*)$", page, re.MULTILINE)
    assert also is not None
    assert set(re.findall(r"`([a-z_.]+)`", also[1])) == {
        operation.name for operation in OPERATIONS if operation.also_reads
    }


async def test_a_repeated_idempotency_key_stores_nothing_twice(served: Served) -> None:
    again = {"headers": {"idempotency-key": "call-1"}}
    two = {"messages": [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}]}

    first = await served("POST", f"{S}/remember", two, **again)
    second = await served("POST", f"{S}/remember", two, **again)
    other = await served("POST", f"{S}/remember", {"messages": "three"}, **again)

    assert (first.status, second.status, other.status) == (201, 201, 409)
    assert first.json()["refs"] == second.json()["refs"]
    session = first.json()["session"]["id"]
    records = (await served("GET", f"{S}/sessions/{session}/messages")).json()["items"]
    assert [record["message"]["idempotency_key"] for record in records] == ["call-1:0", "call-1:1"]

    path = f"{S}/sessions/{session}/messages"
    numbers = [await served("POST", path, two, headers={"idempotency-key": "call-2"}) for _ in range(2)]
    assert [each.json()["items"] for each in numbers] == [[3, 4], [3, 4]]


@pytest.mark.parametrize("key", ["", "two words", "x" * 181, "a\tb"])
async def test_an_idempotency_key_that_cannot_be_one_is_refused(served: Served, key: str) -> None:
    refused = await served("POST", f"{S}/remember", {"messages": "one"}, headers={"idempotency-key": key})

    assert refused.status == 422
    assert refused.json()["errors"][0]["at"] == "Idempotency-Key"


async def test_session_routes_cover_open_to_end(served: Served) -> None:
    opened = await served("POST", f"{S}/sessions", {"conversation": "cli:desk:", "agent": "helper"})
    assert opened.status == 201
    path = f"{S}/sessions/{opened.json()['id']}"
    messages = [{"role": "user", "content": f"message {number}"} for number in range(3)]
    assert (await served("POST", f"{path}/messages", {"messages": messages})).json() == {"items": [1, 2, 3]}

    assert (await served("POST", f"{path}/checkpoint")).json() == {"result": False}
    assert (await served("POST", f"{path}/checkpoint", {"force": True})).json() == {"result": True}
    assert (await served("GET", path)).json()["invalidated_at"] == 3
    assert (await served("GET", f"{path}/summary")).json() == {"result": None}
    assert (await served("POST", "/v1/learn")).json()["outcomes"]["succeeded"] >= 1
    assert (await served("GET", f"{path}/summary")).json()["result"]["until"] == 3
    assert (await served("POST", f"{path}/relearn")).json() == {"result": False}
    assert (await served("POST", f"{path}/strip-citations", {"reply": "yes"})).json() == {"result": "yes"}

    after = (await served("POST", f"{path}/restart", {"reason": "emergency"})).json()
    assert after["ordinal"] == 2
    refused = await served("POST", f"{path}/messages", {"messages": messages})
    assert (refused.status, refused.json()["code"]) == (409, "SessionEndedError")
    path = f"{S}/sessions/{after['id']}"
    third = (await served("POST", f"{path}/restart", {"reason": "compaction"})).json()
    assert (await served("POST", f"{S}/sessions/{third['id']}/end")).json()["end_reason"] == "closed"


async def test_append_fails_after_session_is_ended_or_deleted(
    served: Served,
) -> None:
    one = {"messages": [{"role": "user", "content": "one"}]}
    opened = (await served("POST", f"{S}/sessions", {"conversation": "cli:desk:"})).json()
    path = f"{S}/sessions/{opened['id']}"

    async def append(to: str = path) -> tuple[int, str]:
        answer = await served("POST", f"{to}/messages", one)
        return answer.status, answer.json().get("code", "")

    assert await append() == (201, "")
    assert await append(path.replace("alice", "bob")) == (404, "NotFoundError")
    await served("POST", f"{path}/end")
    assert await append() == (409, "SessionEndedError")
    await served("POST", f"{S}/forget", {"everything": True})
    assert await append() == (404, "NotFoundError")


async def test_list_pages_have_no_gaps_or_overlaps(served: Served) -> None:
    for number in range(5):
        await served("POST", f"{S}/sessions", {"conversation": f"cli:{number}:"})
        await served("POST", f"{S}/facts", {"fact": {"id": f"f{number}", "text": "a fact"}})
        await served("POST", f"{S}/threads", {"thread_id": f"t{number}"})
        await served("POST", f"/v1/spaces/s{number}/remember", {"messages": "here"})
    first = (await served("GET", f"{S}/sessions?limit=1")).json()["items"][0]["session"]["id"]
    await served(
        "POST", f"{S}/sessions/{first}/messages", {"messages": [{"role": "user", "content": "x"} for _ in range(5)]}
    )

    async def walk(path: str) -> list[list[Any]]:
        pages: list[list[Any]] = []
        after = ""
        while True:
            page = (await served("GET", f"{path}?limit=2{after}")).json()
            pages.append(page["items"])
            if not page["next"]:
                return pages
            after = f"&after={page['next']}"

    lists = (f"{S}/sessions", f"{S}/facts", f"{S}/threads", "/v1/spaces", f"{S}/sessions/{first}/messages")
    for path in lists:
        pages = await walk(path)
        whole = (await served("GET", path)).json()["items"]
        assert [item for page in pages for item in page] == whole, path
        assert len(pages[0]) == 2
        assert len(whole) >= 5


async def test_facts_are_written_searched_and_followed(served: Served) -> None:
    fact = {"id": "home", "text": "Anna lives in Oslo", "tags": ["home"]}
    before = (await served("POST", f"{S}/facts", {"fact": fact})).json()
    stale = await served("POST", f"{S}/facts", {"fact": fact, "if_version": 0})
    assert (stale.status, stale.json()["code"], stale.json()["current"]) == (409, "VersionConflictError", 1)
    fact = {"id": "home", "text": "Anna lives in Bergen", "kind": "detail"}
    await served("POST", f"{S}/facts", {"fact": fact, "if_version": 1})

    assert (await served("GET", f"{S}/facts/home")).json()["text"] == "Anna lives in Bergen"
    assert (await served("GET", f"{S}/fact_count")).json() == {"result": 1}
    found = (await served("POST", f"{S}/facts/search", {"query": "Anna", "limit": 3})).json()
    assert [fact["text"] for fact in found["items"]] == ["Anna lives in Bergen"]
    then = (await served("POST", f"{S}/facts/search", {"query": "Anna", "as_of": before["recorded_at"]})).json()
    assert [fact["text"] for fact in then["items"]] == ["Anna lives in Oslo"]
    versions = (await served("GET", f"{S}/facts/home/versions")).json()["items"]
    assert [fact["version"] for fact in versions] == [1, 2]
    assert (await served("GET", f"{S}/facts/home/sources")).json() == {"items": []}
    assert (await served("POST", f"{S}/forget", {"ref": "fact:home:2"})).json()["facts"] == 1
    assert (await served("GET", f"{S}/facts/home")).status == 404


async def test_name_with_a_slash_is_one_name(served: Served) -> None:
    facts = "/v1/spaces/team%2Falice/facts"
    path = f"{facts}/home%2ftown"

    assert (await served("POST", facts, {"fact": {"id": "home/town", "text": "Oslo"}})).status == 201
    assert (await served("GET", f"{path}/versions")).json()["items"][0]["id"] == "home/town"
    assert (await served("GET", "/v1/spaces")).json()["items"][0]["name"] == "team/alice"
    only = await served.key_for("read", spaces=["team/alice"])
    assert (await served("GET", path, key=only)).status == 200
    assert (await served("GET", "/v1/spaces/team/alice/facts/home", key=only)).status == 404


async def test_documents_can_be_written_compared_and_deleted(served: Served) -> None:
    made = await served(
        "POST", f"{S}/documents", {"draft": {"slug": "a", "title": "A", "body": "one"}, "document_id": "d1"}
    )
    assert made.status == 201
    again = await served("POST", f"{S}/documents", {"draft": {"slug": "b", "title": "B"}, "document_id": "d1"})
    assert again.status == 409
    path = f"{S}/documents/d1"
    await served("PUT", path, {"draft": {"slug": "a", "title": "A", "body": "two"}, "if_version": 1})
    stale = await served("PUT", path, {"draft": {"slug": "a", "title": "A", "body": "three"}, "if_version": 1})
    assert (stale.status, stale.json()["code"], stale.json()["current"]) == (409, "VersionConflictError", 2)

    assert [entry["path"] for entry in (await served("GET", f"{S}/documents")).json()["items"]] == ["~/a"]
    found = (await served("POST", f"{S}/documents/search", {"query": "two", "limit": 1})).json()["items"]
    assert [document["version"] for document in found] == [2]
    assert "-one\n+two" in (await served("GET", f"{path}/diff?before=1&after=2")).json()["result"]
    assert (await served("GET", f"{path}/sources?version=2")).json() == {"items": []}
    assert (await served("POST", f"{path}/restore", {"version": 1, "if_version": 2})).json()["body"] == "one"
    only = {"ref": "document:d1:2", "version_only": True}
    assert (await served("POST", f"{S}/forget", only)).json()["documents"] == 1
    versions = (await served("GET", f"{path}/versions")).json()["items"]
    assert [document["redacted"] for document in versions] == [False, True, False]
    assert (await served("GET", f"{path}?as_of=2001-01-01")).status == 404
    assert (await served("DELETE", f"{path}?if_version=3")).status == 204
    assert (await served("GET", f"{S}/documents")).json() == {"items": [], "next": ""}
    assert "raw_memories.md" in (await served("GET", f"{S}/files")).json()["items"]


async def test_consolidation_routes_queue_list_and_reject(served: Served) -> None:
    assert (await served("POST", f"{S}/documents/refresh")).status == 404  # no such space yet
    await furnish(served.memory, "alice")
    assert (await served("POST", f"{S}/documents/refresh")).json() == {"result": True}
    assert (await served("GET", f"{S}/jobs")).json()["items"][0]["kind"] in ("consolidate", "extract", "index")
    assert (await served("GET", f"{S}/change_sets")).json() == {"items": [], "next": ""}
    for what in ("approve", "reject", "undo"):
        refused = await served("POST", f"{S}/change_sets/run_1/{what}")
        assert (refused.status, refused.json()["code"]) == (404, "NotFoundError")


async def test_a_thread_is_stepped_looked_back_on_and_forked(served: Served) -> None:
    thread = (await served("POST", f"{S}/threads", {"thread_id": "t1", "mode": "stepping"})).json()
    path = f"{S}/threads/{thread['id']}"
    said = {"event": {"type": "USER_MESSAGE", "payload": {"text": "hello"}}}
    assert (await served("POST", f"{path}/events", said)).json()["processed"] == []
    assert (await served("POST", f"{path}/step")).json()["event_processed"] is True
    assert (await served("GET", f"{path}/state?number=1")).json()["chunks"][0]["content"] == {"text": "hello"}
    assert len((await served("GET", f"{path}/states")).json()["items"]) == 2
    assert len((await served("GET", f"{path}/diff?before=0&after=1")).json()["added"]) == 1
    prompt = (await served("GET", f"{path}/prompt?budget=100")).json()
    assert prompt["messages"] == [{"role": "user", "content": "hello"}]
    assert (await served("PUT", f"{path}/mode", {"mode": "auto"})).json()["thread"]["mode"] == "auto"
    assert (await served("POST", f"{path}/step")).status == 409
    forked = await served("POST", f"{path}/fork", {"at": 1, "into": "t2"})
    assert (forked.status, forked.json()["forked_from"]) == (201, "t1")
    assert (await served("POST", f"{S}/forget", {"thread_id": "t1"})).json()["threads"] >= 1
    assert (await served("GET", path)).status == 404


async def test_context_for_a_session_is_in_the_context_log(served: Served) -> None:
    things = await furnish(served.memory, "alice")
    body = {"question": "what does the parrot like?", "session_id": things.session_id}

    block = (await served("POST", f"{S}/context", body)).json()
    await served("POST", f"{S}/recall", body)

    assert CANARY in block["text"]
    shown = (await served("GET", f"{S}/context-log?session_id={things.session_id}&limit=5")).json()["items"]
    assert [entry["purpose"] for entry in shown] == ["recall", "context"]
    assert (await served("GET", f"{S}/context-log?as_of=2001-01-01")).json() == {"items": [], "next": ""}


async def test_keys_are_made_rotated_and_revoked_over_the_wire(served: Served) -> None:
    made = await served("POST", "/v1/keys", {"name": "app", "scopes": ["read"], "spaces": ["alice"]})
    assert made.status == 201
    prefix, key = made.json()["info"]["prefix"], made.json()["key"]
    assert (await served("GET", f"{S}/facts", key=key)).status == 200

    rotated = (await served("POST", f"/v1/keys/{prefix}/rotate", {"overlap": 60})).json()
    assert (await served("GET", f"{S}/facts", key=rotated["key"])).status == 200
    assert (await served("DELETE", f"/v1/keys/{prefix}")).status == 204
    assert (await served("GET", f"{S}/facts", key=key)).status == 401
    assert (await served("POST", f"/v1/keys/{prefix}/rotate")).status == 409
    listed = (await served("GET", "/v1/keys")).body
    assert prefix.encode() in listed
    assert key.partition(".")[2].encode() not in listed


async def test_the_audit_counts_jobs_by_kind_and_status(served: Served) -> None:
    await furnish(served.memory, "alice")

    audit = (await served("GET", "/v1/audit")).json()

    assert audit["violations"] == 0
    assert audit["counts"]["extract"]
    assert audit["spent_today"] == {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": 0}


async def test_health_and_readiness_need_no_key_and_readiness_asks_the_database(served: Served) -> None:
    assert (await served("GET", "/healthz", key="")).json() == {"status": "ok"}
    assert (await served("GET", "/readyz", key="")).json() == {"status": "ok"}

    await served.memory.close()

    assert (await served("GET", "/healthz", key="")).status == 200
    away = await served("GET", "/readyz", key="")
    assert (away.status, away.headers["retry-after"]) == (503, "1")
    await served.memory.open()


WITH_A_MODEL = {"space.admin.relearning.propose", "space.admin.rules.preview"}
"""What cannot be done without a model, and says so."""


@ON_ONE_DATABASE
@pytest.mark.parametrize("operation", operations(), ids=lambda each: each.name)
async def test_every_route_answers_as_its_openapi_says(served: Served, operation: Route) -> None:
    things: Things = await furnish(served.memory, "alice")

    answer = await served(operation.method, things.path(operation.path) + operation.query, things.body(operation))

    assert answer.status in operation.responses
    assert answer.status < 500
    assert {401, 403, 429, 503} <= operation.responses
    assert (421 in operation.responses) == (operation.name != METRICS)  # a probe comes by any name
    assert (422 in operation.responses) == (operation.name != METRICS)
    if answer.body and operation.name != METRICS:
        assert answer.headers["content-type"] == (
            "application/json" if answer.status < 400 else "application/problem+json"
        )


async def test_summary_of_an_unknown_session_is_not_found(served: Served) -> None:
    session = (await served("POST", f"{S}/sessions", {"conversation": "home"})).json()

    assert (await served("GET", f"{S}/sessions/{session['id']}/summary")).json() == {"result": None}
    unknown = await served("GET", f"{S}/sessions/ses_unknown/summary")
    assert (unknown.status, unknown.json()["code"]) == (404, "NotFoundError")


@pytest.mark.parametrize("limit", ["1_0", "+1", "%201", "1.0", "1e1", "%D9%A1", ""])
async def test_a_number_in_a_query_is_written_in_digits(served: Served, limit: str) -> None:
    refused = await served("GET", f"{S}/facts?limit={limit}")

    assert refused.status == 422
    assert refused.json()["errors"] == [{"at": "limit", "message": "must be a whole number in digits"}]


async def test_the_times_of_a_fact_may_be_days(served: Served) -> None:
    fact = {"id": "f", "text": "tea", "valid_from": "2026-05-01", "valid_to": "2026-05-02T12:00:00+02:00"}

    saved = await served("POST", f"{S}/facts", {"fact": fact})

    assert saved.status == 201
    assert saved.json()["valid_from"] == "2026-05-01T23:59:59.999999Z"
    assert saved.json()["valid_to"] == "2026-05-02T10:00:00Z"
    refused = await served("POST", f"{S}/facts", {"fact": {**fact, "valid_to": "soon"}})
    assert (refused.status, refused.json()["errors"][0]["at"]) == (422, "fact.valid_to")


@pytest.mark.parametrize(
    ("fact", "at"),
    [({"tags": "abc"}, "fact.tags"), ({"metadata": "a"}, "fact.metadata"), ({"text": "a\ud83d"}, "")],
)
async def test_a_fact_that_cannot_be_stored_is_refused(served: Served, fact: dict[str, object], at: str) -> None:
    refused = await served("POST", f"{S}/facts", {"fact": {"id": "f", "text": "tea", **fact}})

    assert (refused.status, refused.json()["code"]) == (422, "InvalidRequestError")
    assert at in {"", refused.json()["errors"][0]["at"]}
