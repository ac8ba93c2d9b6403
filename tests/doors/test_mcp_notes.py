"""Text that a model stores over MCP is a note: visible at once and labeled as such, with and without a model."""

from typing import Any

from mcp import Client

import bethink
import bethink.types
from bethink.mcp.grant import Grant
from bethink.mcp.server import make_server
from bethink.providers.scripted_model import ScriptedModel
from tests.conftest import Quiet
from tests.doors.mcp_kit import Checked, in_process
from tests.rooms.learn_kit import a_fact, answer, quoting, willing


async def load_context(client: Client, **arguments: str) -> str:
    got: Any = await client.get_prompt("load_context", arguments)
    return got.messages[0].content.text


async def test_note_is_listed_and_found_at_once_and_after_reconnect(target: str) -> None:
    async with in_process(target, "alice") as client:
        call = await Checked.of(client)
        stored = await call("remember", text="Alice prefers pnpm over npm.")

        for _ in range(2):
            listed = await call("list_memories")
            [item] = listed["items"]
            assert (item["ref"], item["kind"], item["origin"]) == (stored["refs"][0], "note", "assistant")
            assert "Alice prefers pnpm over npm. (note, assistant" in listed["memory"]
            found = await call("recall", question="Does Alice prefer pnpm?")
            assert [each["kind"] for each in found["items"]] == ["note"]
            assert "(note, assistant" in found["memory"]
            text = await load_context(client)
            assert "## Assistant notes\n- Alice prefers pnpm over npm. (assistant" in text
    async with in_process(target, "alice") as client:
        assert "Alice prefers pnpm" in await load_context(client)


async def test_notes_documents_and_facts_are_listed_together_page_by_page(target: str) -> None:
    async with bethink.connect(target, redactor=Quiet(), learn_in_background=False) as memory:
        alice = memory.space("alice")
        for number in range(3):
            await alice.facts.save(bethink.Fact(id=f"fact-{number}", text=f"Cello number {number}."))
        await alice.documents.create(bethink.types.DocumentDraft(slug="people", title="People", body="Anna"))
        async with Client(make_server(memory, grant=lambda: Grant(space="alice", may_write=True))) as client:
            call = await Checked.of(client)
            for number in range(3):
                await call("remember", text=f"Note number {number}.")
            seen: list[str] = []
            after: str | None = ""
            while after is not None:
                page = await call("list_memories", limit=2, after=after)
                seen += [item["kind"] for item in page["items"]]
                after = page.get("next")
            notes = await call("list_memories", kind="note", limit=10)

    assert seen[:3] == ["note"] * 3
    assert seen.count("document") >= 1
    assert seen[-3:] == ["knowledge"] * 3
    assert [item["kind"] for item in notes["items"]] == ["note"] * 3


async def test_note_with_learned_facts_is_not_shown_twice(target: str) -> None:
    learnt = answer(a_fact("The build runs with pnpm", 1, about="build", kind="knowledge"))
    model = ScriptedModel(lambda call: quoting(learnt, call) if call.schema_name == "claims" else willing(call))
    async with (
        bethink.connect(target, redactor=Quiet(), model=model) as memory,
        Client(make_server(memory, grant=lambda: Grant(space="alice", may_write=True))) as client,
    ):
        call = await Checked.of(client)
        await call("remember", text="The build runs with pnpm.")
        assert (await memory.space("alice").admin.learn()).settled == {"added": 1}
        text = await load_context(client)

    assert "## Assistant notes" not in text
    assert text.count("The build runs with pnpm") == 1


async def test_captured_assistant_answer_is_not_a_note(target: str) -> None:
    async with bethink.connect(target, redactor=Quiet(), learn_in_background=False) as memory:
        await memory.space("alice").remember([{"role": "assistant", "content": "Alice prefers yarn."}])
        async with Client(make_server(memory, grant=lambda: Grant(space="alice", may_write=True))) as client:
            call = await Checked.of(client)
            found = await call("recall", question="Does Alice prefer yarn?")
            assert [each["kind"] for each in found["items"]] == ["message"]
            assert (await call("list_memories"))["items"] == []
            assert "Assistant notes" not in await load_context(client)
