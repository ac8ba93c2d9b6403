"""The children of the campaign of erasure: one lives with a model that cites at random, one forgets and may die."""

import json
import math
import os
import random
import re
import signal
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bethink
from bethink.memory.deletion import settling
from bethink.model.calls import ModelCall
from bethink.model.records import conversation_key
from bethink.model.working import Event, EventType
from bethink.providers.scripted_model import ScriptedModel
from bethink.store.engines.postgres import PostgresTx
from bethink.store.engines.sqlite import SqliteDatabase, SqliteTx
from faults.scripted import answer, claim, claimed, judged, new_lines, quote

PIECE = 6
_LETTERS = "бвгджзклмнпрстфх"
_VOWELS = "аеиоу"
"""Cyrillic: six letters of ASCII may stand in an id or a signature by chance, and among ten thousand lives they do."""
_LETTER, _ESCAPED = rb"[\xd0\xd1][\x80-\xbf]", rb"\\u04[0-9a-f]{2}"
_RUNS = [(re.compile(each + b"(?:" + each + b"){5,}"), size) for each, size in ((_LETTER, 2), (_ESCAPED, 6))]
"""Six letters and more of these, plain and as JSON may escape them, with the bytes of a letter."""
_FACT = re.compile(r"^- (f[0-9]+) \w+ about [^:]+: (.+)$", re.MULTILINE)
_CHATS, _LINES = 60, 500
"""A busy life on SQLite has this many more conversations and lines: it splits pages then, and moves rows.

It leaves a copy of about one row in a thousand behind, so that few lives show it, and many do. PostgreSQL's documented
vacuum writes every page anew.
"""
_LAST_STATEMENT = 130
"""One erasure takes about so many statements; a kill is aimed at one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """One history: its space, its files and its dice."""

    target: str
    space: str
    folder: Path
    seed: int
    busy: float = 0.0
    """How likely it is to be busy."""

    @property
    def said(self) -> Path:
        """What was said, by its ref, with the words that stand nowhere else."""
        return self.folder / "said.json"

    @property
    def asked(self) -> Path:
        """The words that have to go, by request, once it was asked for."""
        return self.folder / "asked.json"

    @property
    def files(self) -> Path:
        """The folder of artifacts."""
        return self.folder / "files"

    def dice(self, what: str) -> random.Random:
        return random.Random(f"{self.seed}/{self.space}/{what}")

    def memory(self, what: str) -> bethink.Memory:
        return bethink.connect(
            self.target,
            model=ScriptedModel(liar(self.dice(what))),
            embedder="none",
            artifacts_dir=str(self.files),
            learn_in_background=False,
            daily_budget=math.inf,
        )


def pieces(words: Iterable[str]) -> set[bytes]:
    """Every piece of six letters of some words, plain and as JSON may escape it."""
    found = {word[at : at + PIECE] for word in words for at in range(len(word) - PIECE + 1)}
    return {form.encode() for piece in found for form in (piece, json.dumps(piece)[1:-1])}


def pieces_in(data: bytes) -> set[bytes]:
    """Every piece of six letters that stands in some bytes: one pass, however many pieces are looked for."""
    return {
        run[at : at + PIECE * size]
        for runs, size in _RUNS
        for run in runs.findall(data)
        for at in range(0, len(run) - PIECE * size + 1, size)
    }


def canary(dice: random.Random) -> str:
    """A word that no one has said before."""
    return "".join(dice.choice(_LETTERS) + dice.choice(_VOWELS) for _ in range(5))


def liar(dice: random.Random) -> Callable[[ModelCall], str]:
    """A model that claims what was said, and names some other message or fact for it as often as the right one."""

    def line(call: ModelCall) -> str:
        if call.schema_name == "document_calls" or "document" in call.schema_name:
            return _pages(call.prompt, dice)
        if claimed(call.prompt):
            return judged(call.prompt, lambda _: True)
        lines = new_lines(call.prompt)
        claims: list[dict[str, object]] = []
        for each in lines:
            cited = dice.choice(lines)
            claims.append(claim(each.text, quote(cited.number, cited.text), kind=dice.choice(("detail", "preference"))))
        return answer(claims)

    return line


def _pages(prompt: str, dice: random.Random) -> str:
    facts = _FACT.findall(prompt)
    calls: list[dict[str, Any]] = []
    for _, text in facts:
        label = dice.choice(facts)[0]
        path = f"~/memory/topic-{dice.randrange(4)}"
        calls.append(
            {"tool": "document_write", "path": path, "title": "Things", "description": "", "old": None, "to": None,
             "body": f"- {text} [{label}]"}
        )  # fmt: skip
    return json.dumps({"calls": calls[:6], "done": True})


async def live(life: Life) -> None:
    """Say things in several conversations, with threads, summaries and questions, and learn from them."""
    dice = life.dice("live")
    said: dict[str, list[str]] = {}
    async with life.memory("live") as memory:
        space = memory.space(life.space)
        sessions: list[bethink.Session] = []
        for chat in range(dice.choice((2, 3))):
            key = conversation_key(channel="c", chat=str(chat))
            session = await space.session(key)
            sessions.append(session)
            if dice.random() < 0.4:
                desk = memory.backend.local().working(life.space)
                await desk.open_thread(f"thread_{chat}", session_id=session.id)
                await desk.dispatch(f"thread_{chat}", Event(type=EventType.USER_MESSAGE, payload={"content": "hello"}))
            number = 0
            for _ in range(dice.choice((1, 2, 3))):
                words = [canary(dice), canary(dice)]
                [number] = await session.append(
                    [bethink.Message(role="user", content=f"I met {words[0]} and {words[1]} there.")]
                )
                said[f"message:{session.id}:{number}"] = words
            if dice.random() < 0.3:
                words = said[f"message:{session.id}:{number}"]
                await memory.backend.local().history(life.space).set_summary(key, f"about {words[0]}")
            await session.checkpoint(force=True)
            if dice.random() < 0.7:
                await memory.learn()
        if dice.random() < 0.5:
            asked = dice.choice(list(said.values()))
            await space.recall(f"Who is {asked[0]}?", session_id=dice.choice(sessions).id)
        await memory.learn()
        if dice.random() < life.busy and not life.target.startswith("postgresql:"):
            await _talk(space, dice, said)
    life.said.write_text(json.dumps(said))


async def _talk(space: bethink.Space, dice: random.Random, said: dict[str, list[str]]) -> None:
    """Say much more, now in one conversation and now in another; no one learns from it."""
    sessions = [await space.session(conversation_key(channel="c", chat=f"more {chat}")) for chat in range(_CHATS)]
    for _ in range(_LINES):
        session, word = dice.choice(sessions), canary(dice)
        content = f"Then came {word}" + " and so on" * dice.randrange(30)
        [number] = await session.append([bethink.Message(role="user", content=content)])
        said[f"message:{session.id}:{number}"] = [word]


async def forget(life: Life, *, kill: bool) -> None:
    """Forget something, and be killed at a statement of it if asked to."""
    dice = life.dice("forget")
    said: dict[str, list[str]] = json.loads(life.said.read_text())
    asked: list[list[str]] = []
    async with life.memory("forget") as memory:
        for request, going in _requests(dice, sorted(said)):
            asked.append([word for each in going for word in said[each]])
            life.asked.write_text(json.dumps(asked))
            if kill and len(asked) == 1:
                _die_at(dice.randrange(1, _LAST_STATEMENT))
            await memory.space(life.space).forget(**request)


def _requests(dice: random.Random, said: list[str]) -> Iterable[tuple[dict[str, Any], list[str]]]:
    """Return what is asked to be forgotten, and the refs of what has to go with it."""
    ref = dice.choice(said)
    by_session: dict[str, list[str]] = {}
    for each in said:
        by_session.setdefault(each.split(":")[1], []).append(each)
    session = ref.split(":")[1]
    what = dice.choice(("message", "message", "session", "everything"))
    if what == "message":
        return [({"ref": ref, "include_repeats": dice.random() < 0.3}, [ref])]
    if what == "everything":
        return [({"everything": True}, said)]
    others = [each for each in by_session if each != session][::2] if len(by_session) > _CHATS else []
    return [({"session_id": each}, by_session[each]) for each in (session, *others)]


def _die_at(statement: int) -> None:
    """Kill this process, as a power cut would, before one of the statements and steps that follow."""
    left = statement

    def step() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(owner: Any, name: str) -> None:
        inner = getattr(owner, name)

        def outer(*given: Any, **named: Any) -> Any:
            step()
            return inner(*given, **named)

        setattr(owner, name, outer)

    for owner in (SqliteTx, PostgresTx):
        for name in ("_run", "_fetch", "_open"):
            counted(owner, name)
    counted(SqliteDatabase, "empty_log")
    counted(settling, "clear_folder")


async def learn(life: Life) -> None:
    """Learn what there is to learn, as a worker beside would."""
    async with life.memory("learn") as memory:
        await memory.learn()


async def finish(life: Life, result: Path) -> None:
    """Open the database as any process would, and write down what of the erasure is recorded and open."""
    async with life.memory("finish") as memory:
        waiting = [each.sinks for each in await memory.admin.erasures.list() if each.space == life.space]
        recorded = await memory.space(life.space).admin.erasures.list()
        asked = json.loads(life.asked.read_text())[: len(recorded)]
        shown = await _shown(memory.space(life.space), [word for words in asked for word in words])
    result.write_text(  # noqa: ASYNC240 - nothing else runs here
        json.dumps({"recorded": len(recorded), "waiting": waiting, "shown": shown})
    )


async def _shown(space: bethink.Space, words: list[str]) -> list[str]:
    """Return those words that recall still shows."""
    found = [await space.recall(f"Who is {word}?") for word in words[:4]]
    return [word for word, each in zip(words, found, strict=False) if any(word in item.text for item in each.items)]
