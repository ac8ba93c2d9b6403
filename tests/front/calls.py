"""Calls as people write them: pyright checks them in strict mode, and `test_surface.py` runs them.

Words instead of enums, ISO dates instead of datetimes, one tag or kind instead of a list, refs as text.
"""

from datetime import date

import bethink


async def remember(space: bethink.Space) -> str:
    """Store messages in every form, and return the ref of a fact."""
    await space.remember("I live in Oslo.", conversation="chat", tags="home", idempotency_key="oslo")
    await space.remember([{"role": "user", "content": "I like tea."}], tags=["food", "drinks"], metadata={"page": 1})
    await space.remember([{"role": "user", "content": "I moved.", "said_at": "2026-05-02"}])
    await space.remember([bethink.Message(role="user", content="I moved again.", tags=["home"])])
    saved = await space.facts.save(bethink.Fact(id="tea", text="The user likes tea.", tags=("food",)))
    await space.facts.pin(saved.ref)
    await space.facts.rate(str(saved.ref), "useful", note="still true")
    return str(saved.ref)


async def search(space: bethink.Space, ref: str) -> list[str]:
    """Search with words for kinds, certainty and times, and return the texts of the matches."""
    await space.recall("tea", kinds=["fact", "message"], min_certainty="fair", since="2026-01-01", until="2026-12-31")
    await space.recall("tea", kinds="fact", tags="food", origin="user")
    await space.recall("tea", as_of=date(2026, 5, 2), where={"page": 1}, speaker="Mira", limit=3)
    result = await space.recall("tea", kinds="message")
    if result:
        first = result[0]
        assert len(result) >= 1
        assert first.certainty in ("high", "fair", "weak")
        assert first.ref.kind == "message"
    block = await space.context("tea", budget=500, tags=["food"])
    assert str(block) == block.text
    assert block.to_openai()
    assert block.to_anthropic()
    assert not (await space.explain(ref)).sources
    return [match.text for match in result]


async def list_everything(space: bethink.Space) -> list[str]:
    """List collections by words, and read every page."""
    await space.reviews.list(status="pending")
    await space.admin.jobs.list(status="failed", kind="extract")
    await space.admin.timeline.list(kinds="message")
    await space.sessions.list(conversation="chat", since="2026-01-01")
    await space.facts.history(status="current", kind="knowledge")
    page: bethink.Page[bethink.Fact] = await space.facts.list(limit=1)
    assert [fact.id for fact in page] == [page[0].id]
    assert (len(page), page.next) == (1, "")
    return [fact.text async for fact in page.iterate()]


async def converse(space: bethink.Space) -> None:
    """Use a session from its first message to its end."""
    session = await space.session("chat", kind="primary", tags="work")
    await session.append({"role": "user", "content": "Hello."} for _ in range(2))
    await session.messages(last=2)
    reply = await session.strip_citations("Hello [1].")
    await session.append([{"role": "assistant", "content": reply}])
    await session.checkpoint(force=True)
    session = await session.restart("compaction")
    await session.end()


async def handle_errors(space: bethink.Space) -> list[str | int | None]:
    """Catch errors by their classes, and return what each says."""
    details: list[str | int | None] = []
    try:
        await space.facts.get("unknown")
    except bethink.NotFoundError as error:
        details.append(error.hint)
    try:
        await space.recall("tea", limit=0)
    except bethink.InvalidFieldError as error:
        details.append(error.field)
    try:
        await space.ask("Which drink?", min_certainty="weak", exclude="fact:tea:1", timeout=5.0, on_sentence=print)
    except bethink.InvalidRequestError as error:
        details.append(str(error))
    try:
        await space.facts.save(bethink.Fact(id="tea", text="Tea."), if_version=7)
    except bethink.VersionConflictError as error:
        details.append(error.current)
    return details


async def administer(memory: bethink.Memory, space: bethink.Space) -> bethink.Deletion:
    """Use words where administration takes enums, and delete everything."""
    await memory.spaces.list(prefix="mi")
    await memory.admin.costs.list(by="model", since="2026-05-01", until="2026-05-31")
    await memory.admin.jobs.list(status="abandoned")
    await memory.admin.keys.create("reader", "read", spaces="mira", expires_at="2999-01-01")
    await memory.learn(kinds="index")
    await space.admin.retention.set("message", 30)
    await space.admin.rules.set(bethink.LearningRules(time_zone="Europe/Oslo"))
    await space.forget(tags="food", kinds="message", before="2026-01-01", dry_run=True, missing_ok=True)
    return await space.forget(everything=True)
