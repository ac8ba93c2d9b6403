"""Responses by scope: a write-only key reads nothing, and a key for some spaces sees no others."""

from collections.abc import AsyncIterator

import pytest

from bethink.model.working import Event, Mode
from tests.doors.server_kit import CANARY, Served, furnish, operations, serving

S = "/v1/spaces/alice"


@pytest.fixture
async def served(target: str) -> AsyncIterator[Served]:
    async with serving(target) as served:
        yield served


async def test_a_key_that_may_only_write_reads_nothing_of_what_others_stored(served: Served) -> None:
    things = await furnish(served.memory, "alice")
    desk = served.memory.backend.local().working("alice")
    stepping = await desk.open_thread("stepping", mode=Mode.STEPPING)
    for _ in range(3):
        await desk.dispatch(stepping.id, Event(type="USER_MESSAGE", payload={"text": f"feed {CANARY} figs"}))
    writer = await served.key_for("write", spaces=["alice"])

    for operation in operations():
        for thread in (things.thread_id, stepping.id):
            path = things.path(operation.path).replace(things.thread_id, thread) + operation.query
            answer = await served(operation.method, path, things.body(operation), key=writer)
            assert CANARY.encode() not in answer.body, operation.name
            assert things.document_id.encode() not in answer.body or "document_id" in operation.path, operation.name


async def test_restoring_and_stepping_need_a_key_that_may_read_too(served: Served) -> None:
    things = await furnish(served.memory, "alice")
    both = await served.key_for("read", "write", spaces=["alice"])
    writer = await served.key_for("write", spaces=["alice"])
    restore = (f"{S}/documents/{things.document_id}/restore", {"version": 1, "if_version": 1})
    said = (f"{S}/threads/{things.thread_id}/events", {"event": {"type": "USER_MESSAGE", "payload": {"text": "hi"}}})

    for path, body in (restore, said):
        refused = await served("POST", path, body, key=writer)
        assert (refused.status, refused.json()["detail"]) == (403, "This key lacks the scope read.")
        assert (await served("POST", path, body, key=both)).status == 200
    told = {each.name for each in operations() if each.scopes == ("write", "read")}
    assert told == {
        "space.documents.restore",
        "space.threads.dispatch",
        "space.threads.step",
        "space.threads.set_mode",
        "space.threads.replay",
        "session.wait_until_learned",
        "space.reviews.propose",
        "space.admin.rules.preview",
    }


async def test_agent_key_cannot_approve_claims_or_change_rules(served: Served) -> None:
    things = await furnish(served.memory, "alice")
    agent = await served.key_for("read", "write", "erase", spaces=["alice"])
    decides = [each for each in operations() if each.scope == "steer"]
    assert {each.name for each in decides} == {
        "space.admin.rules.set",
        "space.reviews.approve",
        "space.reviews.reject",
        "space.documents.changes.approve",
        "space.documents.changes.reject",
        "space.documents.changes.undo",
        "space.correct",
        "space.admin.relearning.propose",
        "space.admin.relearning.apply",
        "space.admin.relearning.undo",
        "space.facts.pin",
        "space.facts.unpin",
        "space.facts.rate",
        "space.reviews.approve_many",
        "space.reviews.reject_many",
    }

    for each in decides:
        refused = await served(each.method, things.path(each.path), things.body(each), key=agent)
        assert (refused.status, refused.json()["detail"]) == (403, "This key lacks the scope steer."), each.name
        assert "--scope steer" in refused.json()["hint"]
    proposed = await served("POST", f"{S}/reviews", {"ref": things.ref, "kind": "preference"}, key=agent)
    assert (proposed.status, proposed.json()["status"]) == (201, "pending")
    person = await served.key_for("read", "steer", spaces=["alice"])
    approved = await served("POST", f"{S}/reviews/{proposed.json()['id']}/approve", {}, key=person)
    assert (approved.status, approved.json()["status"]) == (200, "approved")


async def test_webhooks_need_an_admin_key_without_steer_scope(served: Served) -> None:
    things = await furnish(served.memory, "alice")
    admin = await served.key_for("read", "keys", "operate")
    steers = await served.key_for("read", "write", "steer")

    for each in operations():
        if each.scope == "steer":
            refused = await served(each.method, things.path(each.path), things.body(each), key=admin)
            assert refused.status == 403, each.name
        if each.name.startswith("webhooks."):
            refused = await served(each.method, things.path(each.path), things.body(each), key=steers)
            assert refused.status == 403, each.name


async def test_duplicate_slug_error_hides_the_other_document(served: Served) -> None:
    things = await furnish(served.memory, "alice")
    writer = await served.key_for("write", spaces=["alice"])

    taken = await served("POST", f"{S}/documents", {"draft": {"slug": "parrot", "title": "Parrot"}}, key=writer)

    assert (taken.status, taken.json()["detail"]) == (409, "The slug 'parrot' is in use there.")
    assert things.document_id.encode() not in taken.body


async def test_the_figures_are_for_keys_that_may_read_everywhere(served: Served) -> None:
    await served("POST", f"{S}/remember", {"messages": "figs"})

    answers = {
        "one space": await served("GET", "/metrics", key=await served.key_for(spaces=["bob"])),
        "no read": await served("GET", "/metrics", key=await served.key_for("write", "erase", "keys", "operate")),
        "nobody": await served("GET", "/metrics", key=""),
        "reader": await served("GET", "/metrics", key=await served.key_for("read")),
    }

    assert {who: answer.status for who, answer in answers.items()} == {
        "one space": 403,
        "no read": 403,
        "nobody": 401,
        "reader": 200,
    }
    assert [who for who, answer in answers.items() if b"bethink_capture_total" in answer.body] == ["reader"]


async def test_hint_for_a_key_of_some_spaces_names_a_call_that_works(served: Served) -> None:
    some = await served.key_for("read", "write", spaces=["alice"])

    learned = await served("POST", "/v1/learn", {}, key=some)
    assert learned.status == 403
    assert "`space.admin.learn()`" in learned.json()["hint"]
    assert (await served("POST", f"{S}/learn", {}, key=some)).status == 200
    audited = await served("GET", "/v1/audit", key=some)
    assert audited.json()["hint"].startswith("Create a key for all spaces with this scope: ")
