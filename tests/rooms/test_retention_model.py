"""Any history of a space, swept by any rules in any batch size, ends as a plain Python model predicts."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bethink
from bethink.errors import LegalHoldError
from bethink.features.retention import service as sweeping
from bethink.features.retention.records import RetentionKind
from bethink.model.documents import DocumentDraft
from bethink.model.facts import Fact
from bethink.model.records import Message, Origin
from tests.conftest import FakeClock
from tests.length import often
from tests.page_kit import EVERY_CHECK

DAY = timedelta(days=1)
MESSAGE, FACT, DOCUMENT, THREAD = (
    RetentionKind.MESSAGE, RetentionKind.FACT, RetentionKind.DOCUMENT, RetentionKind.THREAD,
)  # fmt: skip
ORIGINS = ("user", "assistant", "tool:web", "tool:mail")
KINDS = st.sampled_from([MESSAGE, MESSAGE, MESSAGE, FACT, FACT, DOCUMENT, THREAD])
_RULE = st.one_of(
    st.just((MESSAGE, None)),
    st.tuples(st.sampled_from([MESSAGE, FACT]), st.sampled_from([None, "tool", *ORIGINS])),
    st.tuples(st.sampled_from([DOCUMENT, THREAD]), st.none()),
)
RULES = st.dictionaries(_RULE, st.integers(1, 4), min_size=1, max_size=4)
_runs = count()


@dataclass(frozen=True)
class Thing:
    """Something in a space, as the model knows it."""

    kind: RetentionKind
    origin: str
    at: datetime
    name: str


def left(
    things: list[Thing], rules: dict[tuple[RetentionKind, str | None], int], now: datetime
) -> set[tuple[RetentionKind, str]]:
    """What a sweep leaves, in plain words: all that no rule is about, or that is not older than it says."""

    def goes(thing: Thing) -> bool:
        return any(
            thing.kind is kind
            and (origin in (None, thing.origin) or (origin == "tool" and thing.origin.startswith("tool:")))
            and thing.at < now - days * DAY
            for (kind, origin), days in rules.items()
        )

    return {(thing.kind, thing.name) for thing in things if not goes(thing)}


async def put(space: bethink.Space, kind: RetentionKind, origin: str, name: str) -> str:
    """Put something into a space, and return what it is called there."""
    if kind is MESSAGE:
        role = "user" if origin == "user" else "assistant"
        message = Message(role=role, content=name, origin=Origin(origin))
        await space.remember([message], conversation=f"c{len(name) % 2}")
    elif kind is FACT:
        await space.facts.save(Fact(id=name, text=name, origin=Origin(origin)))
    elif kind is DOCUMENT:
        await space.documents.create(DocumentDraft(slug=name, title=name, body=name))
    else:
        return (await space.threads.open()).id
    return name


async def kept(space: bethink.Space) -> set[tuple[RetentionKind, str]]:
    """What a space holds."""
    found = {(FACT, each.id) for each in await space.facts.list(limit=1_000)}
    for entry in await space.sessions.list():
        session = await space.sessions.get(entry.session.id)
        found |= {(MESSAGE, each.message.content) for each in await session.messages()}
    for each in await space.documents.list():
        body = (await space.documents.get(each.id)).body
        found |= {(DOCUMENT, body)} if body else set()
    return found | {(THREAD, each.id) for each in await space.threads.list()}


@settings(max_examples=often(15, long=300), suppress_health_check=EVERY_CHECK)
@given(
    life=st.lists(st.tuples(st.integers(0, 2), KINDS, st.sampled_from(ORIGINS)), min_size=3, max_size=8),
    rules=RULES,
    batch=st.integers(1, 3),
    held=st.booleans(),
)
async def test_a_sweep_leaves_what_the_model_leaves(
    memory: bethink.Memory,
    clock: FakeClock,
    life: list[tuple[int, RetentionKind, str]],
    rules: dict[tuple[RetentionKind, str | None], int],
    batch: int,
    held: bool,
) -> None:
    run = next(_runs)
    space = memory.space(f"run{run}")
    things: list[Thing] = []
    for number, (gap, kind, origin) in enumerate(life):
        clock.time += gap * DAY
        at = clock.time
        name = await put(space, kind, origin, f"r{run}n{number}" + "x" * number)
        things.append(Thing(kind, origin, at, name))
    for (kind, origin), days in rules.items():
        await space.admin.retention.set(kind, days, origin=origin)
    hold = await space.admin.holds.place("case") if held else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweeping, "_BATCH", batch)
        if hold is not None:
            before = await kept(space)
            with pytest.raises(LegalHoldError):
                await space.admin.retention.run()
            assert await kept(space) == before
            await memory.admin.holds.lift(space.name, hold.id, "closed")
        would = await space.admin.retention.run(dry_run=True)
        swept = await space.admin.retention.run()

    assert await kept(space) == left(things, rules, clock.time)
    assert not swept.more
    assert len(await space.admin.erasures.list()) == len(swept.erasures)
    if batch * sweeping._MAX_ERASURES > len(things):
        same = ("messages", "facts", "documents", "threads")
        assert [getattr(would.deletion, each) for each in same] == [getattr(swept.deletion, each) for each in same]
    assert (await space.admin.retention.run()).erasures == ()
