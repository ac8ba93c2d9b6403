"""Fifty questions that a visitor may ask the demo, and what its pages show of a day."""

import re
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, cast

import pytest

from bethink import Memory, Space
from bethink.cli.demo import SPACE, StoryClock, memory_at, seed
from bethink.cli.demo_data import story
from bethink.model.recall import Certainty
from tests.conftest import whole_tree
from tests.web.kit import windowed

# Each question is asked as of a day, or now. The first match has the words, or nothing is more than weak for None.
QUESTIONS: tuple[tuple[str, str, str | None], ...] = (
    ("Where do I live?", "", "Bergen"),
    ("Where do I live?", "2026-02-10", "Oslo"),
    ("Where do I live?", "2026-02-20", "Bergen"),
    ("Where did I move from?", "", "from Oslo"),
    ("When did I move?", "", "2026-02-20"),
    ("What floor do I live on?", "", "third floor"),
    ("How much is the rent?", "", "14,500"),
    ("When does the lease start?", "2026-02-10", "2026-02-20"),
    ("Who owns the flat?", "", "Berit"),
    ("Who is Berit?", "", "owner of the flat"),
    ("Where do I work?", "", "aquarium"),
    ("Where do I work?", "2026-02-10", "library"),
    ("Do I still work at the library?", "", "aquarium"),
    ("Where will I work in March?", "2026-02-10", "aquarium on 2026-03-02"),
    ("When do I start at the aquarium?", "2026-02-10", "2026-03-02"),
    ("When is my last day at the library?", "2026-02-10", "27th of February"),
    ("When did I get the job?", "", "got the job"),
    ("What do I teach?", "", "two classes a day"),
    ("When is the interview?", "2026-01-21", "28th of January"),
    ("How did the interview go?", "", "went well"),
    ("What did the children draw?", "", "octopus"),
    ("What do I do on Tuesdays?", "2026-02-10", "read to children"),
    ("What am I allergic to?", "", "cashews"),
    ("What am I allergic to?", "2026-02-10", "walnuts"),
    ("Can I eat walnuts?", "", "can eat walnuts"),
    ("Who is my doctor?", "", "Dr. Aas"),
    ("Where is Dr. Aas?", "", "fish market"),
    ("What hurts when I run?", "", "knee"),
    ("What run did I sign up for?", "", "ten kilometre"),
    ("When is my run?", "", "2026-04-25"),
    ("How far do I run?", "", "Five kilometres"),
    ("How do I drink my coffee?", "", "oat milk"),
    ("Do I take sugar?", "", "no sugar"),
    ("When is my sister's birthday?", "", "14th of March"),
    ("What is my sister called?", "", "Solveig"),
    ("What did I give Solveig for her birthday?", "", "pottery"),
    ("Which museum did we want to see?", "", "Louisiana"),
    ("What did Jonas lose?", "", "camera"),
    ("What is Pixel afraid of?", "", "umbrellas"),
    ("What is Pixel afraid of?", "2026-02-10", None),
    ("How old is Pixel?", "", "four"),
    ("How old is Pixel?", "2026-03-20", "three"),
    ("What does Pixel eat?", "", "salmon"),
    ("Is Pixel vaccinated?", "", "vaccinations"),
    ("When did I adopt Pixel?", "", "2026-03-18"),
    ("Where am I over Easter?", "", "Voss"),
    ("Where are my winter shoes?", "", "Jonas still has"),
    ("Who is my dentist?", "", None),
    ("What is my favorite film?", "", None),
    ("What is my wifi password?", "", None),
)

DAY = "2026-02-10"
FUTURE = re.compile(
    r"cashew|pixel|third floor|umbrella|vaccin|salmon|\baas\b|fish market|voss|cabin|camera|pottery|unpacked|"
    r"\bmoved\b|two classes|knee|winter shoes|drew me|2026-02-1[1-9]|2026-02-2[1-9]|2026-03-(?!02)|2026-04-(?!25)",
    re.IGNORECASE,
)
"""Words and days of what was said after the day, without the days that were plans before it."""


@pytest.fixture(scope="module")
async def demo_file(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, StoryClock]:
    path, clock = str(tmp_path_factory.mktemp("demo") / "demo.db"), StoryClock()
    await seed(path, clock)
    return path, clock


@pytest.fixture
async def demo(demo_file: tuple[str, StoryClock]) -> AsyncGenerator[Memory]:
    path, clock = demo_file
    async with memory_at(path, clock) as memory:
        yield memory


def test_there_are_fifty_questions() -> None:
    assert len(set(QUESTIONS)) == 50


async def test_every_question_is_answered_or_has_no_match(demo: Memory) -> None:
    wrong: list[str] = []
    for question, as_of, expected in QUESTIONS:
        result = await demo.space(SPACE).recall(question, limit=3, as_of=as_of or None)
        first = result.items[0].text if result.items else ""
        has_none = not result.items or result.certainty is Certainty.WEAK
        is_right = has_none if expected is None else expected in first
        if not is_right:
            wrong.append(f"{question} {as_of}: {first!r} instead of {expected!r}")
    assert wrong == []


async def test_what_was_replaced_or_corrected_has_a_mark(demo: Memory) -> None:
    """An old text follows the current one, and says so."""
    for question, old in (("Where do I live?", "live in Oslo"), ("What am I allergic to?", "allergic to walnuts")):
        result = await demo.space(SPACE).recall(question, limit=10)
        stale = [item for item in result.items if old in item.text and item.ref.kind == "message"]
        assert stale
        assert all(item.replaced_by or item.status in ("replaced", "corrected") for item in stale)


@pytest.mark.parametrize("view", ["as_of", "known_at"])
async def test_no_answer_of_a_day_shows_what_followed(demo: Memory, view: str) -> None:
    space, times = demo.space(SPACE), {view: DAY}
    shown: dict[str, object] = {}
    for question in dict.fromkeys(question for question, _, _ in QUESTIONS if not FUTURE.search(question)):
        shown[f"recall {question}"] = (await space.recall(question, explain=True, limit=10, **cast("Any", times))).items
        shown[f"context {question}"] = await space.context(question, **cast("Any", times))
    shown["context"] = await space.context(**cast("Any", times))
    shown["facts"] = await space.facts.list(**cast("Any", times))
    shown["history"] = await space.facts.history(**cast("Any", times))
    shown["documents"] = await space.documents.list(**cast("Any", times))
    for path in await whole_tree(space.documents):
        shown[f"document {path}"] = await space.documents.find(path, **cast("Any", times))
    for ref in await _refs(space, times):
        shown[f"explain {ref}"] = await space.explain(ref, depth=3, **cast("Any", times))
    assert _future_in(shown) == []


async def _refs(space: Space, times: Mapping[str, str]) -> list[str]:
    facts = [str(fact.ref) for fact in await space.facts.list(**cast("Any", times))]
    documents = [str(entry.ref) for entry in await space.documents.list(**cast("Any", times))]
    sessions = [entry for entry in await space.sessions.list() if entry.started_at and str(entry.started_at) < DAY]
    return [*facts, *documents, *(f"message:{entry.session.id}:1" for entry in sessions)]


def _future_in(shown: Mapping[str, object]) -> list[str]:
    return [
        f"{name}: {text[max(0, match.start() - 40) : match.end() + 40]!r}"
        for name, value in shown.items()
        for text in _texts(value)
        if (match := FUTURE.search(text)) is not None
    ]


def _texts(value: Any) -> Iterator[str]:
    """Yield every text and time in a value, with all fields of records."""
    if is_dataclass(value) and not isinstance(value, type):
        for item in fields(value):
            if item.name not in ("recorded_at", "created_by", "jobs"):  # the clock of the demo is that of the story
                yield from _texts(getattr(value, item.name))
    elif isinstance(value, Mapping):
        for pair in cast("Mapping[Any, Any]", value).items():
            yield from _texts(pair)
    elif isinstance(value, Iterable) and not isinstance(value, str):
        for item in cast("Iterable[Any]", value):
            yield from _texts(item)
    elif value is not None:
        yield str(value)


def test_the_words_of_the_future_are_those_of_the_story() -> None:
    """Nothing said until the day has them, so that the other tests look for the right words."""
    early = [text for talk in story() if talk.day <= DAY for _, text in talk.turns]
    late = [text for talk in story() if talk.day > DAY for _, text in talk.turns]
    assert [text for text in early if FUTURE.search(text)] == []
    assert len([text for text in late if FUTURE.search(text)]) >= 15


async def test_no_page_of_a_day_shows_what_followed(demo_file: tuple[str, StoryClock]) -> None:
    async with windowed(demo_file[0]) as window:
        here, times = f"/ui/s/{SPACE}", f"as_of={DAY}T23:59"
        space = window.memory.space(SPACE)
        shown: dict[str, object] = {}
        paths = ["/facts", "/facts?status=replaced", "/recall?q=Where+do+I+live%3F", "/timeline"]
        paths += [f"/memories/{ref}" for ref in await _refs(space, {"as_of": DAY})]
        paths += [f"/facts/{fact.id}" for fact in await space.facts.list(as_of=DAY)]
        for entry in await space.documents.list(as_of=DAY):
            paths += [f"/documents/{entry.id}{view}" for view in ("", "?view=lines", "?view=sources", "?view=versions")]
        for path in paths:
            page = await window.page(f"{here}{path}{'&' if '?' in path else '?'}{times}")
            shown[path] = _TAGS.sub(" ", page.partition("<main")[2])
        assert _future_in(shown) == []


_TAGS = re.compile(r"<form.*?</form>|<[^>]*>", re.DOTALL)
