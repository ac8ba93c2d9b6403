"""Evidence recall on public conversations: Bethink with and without an embedder, and what anyone would try first.

Weights were found on odd conversations (the 1st, 3rd, …) and are reported on both halves, with bootstrap intervals.
"""

# pyright: reportUnknownMemberType=false

import argparse
import hashlib
import math
import sys
import tempfile
import time
from array import array
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import anyio
import apsw

import bethink
from benchmarks import recall_measures as measures
from benchmarks.recall_baselines import BASELINE, Baselines
from benchmarks.recall_measures import Outcome
from benchmarks.sets import Conversation, Question, Turn, load
from bethink.build import memory_from
from bethink.extend import Embedder, Reranker
from bethink.model.jobs import JobKind
from bethink.model.moments import EPOCH
from bethink.model.recall import RefKind
from bethink.model.verbs.memory import RecallRequest
from bethink.providers.estimated_tokens import EstimatedTokens
from bethink.providers.onnx_embedder import OnnxEmbedder
from bethink.providers.token_reranker import TokenReranker
from bethink.recall.index import Indexer
from bethink.recall.search import Searcher
from bethink.store.db import Database
from bethink.store.engines.sqlite import SqliteDatabase, SqliteOptions
from bethink.worker import Worker
from tools import minilm

GOALS = {
    "words": {
        "locomo": {"R@10": 0.65},
        "realtalk": {"R@10": 0.54},
        "beam": {"R@10": 0.46},
        "longmemeval": {"every@5": 0.90},
    },
    "words and vectors": {
        "locomo": {"R@10": 0.75, "R@5": 0.66},
        "realtalk": {"R@10": 0.60, "R@5": 0.53},
        "beam": {"R@10": 0.60, "R@5": 0.50},
        "longmemeval": {"every@5": 0.95, "any@5": 0.985},
    },
}
SETS = tuple(GOALS["words"])
_COLUMNS = ("R@5", "R@10", "R@20", "all@10", "MRR", "NDCG@10", "every@5", "any@5")
_SPACE = "benchmark"
_FIRST = 20
_SESSIONS_FROM = 200


class Kept:
    """An embedder that looks a text up in a file before it asks the real one: most turns are asked for many times."""

    def __init__(self, real: Embedder, file: Path) -> None:
        self._real = real
        self.name, self.dimension = real.name, real.dimension
        self._file = apsw.Connection(str(file))
        self._file.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = WAL")
        self._file.execute("CREATE TABLE IF NOT EXISTS kept (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    async def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Return the vectors, making those that are not kept yet."""
        keys = [hashlib.blake2b(f"{self.name}\n{text}".encode(), digest_size=16).digest() for text in texts]
        known = {key: found for key in keys if (found := self._find(key)) is not None}
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        made = await self._real.embed(list(new.values())) if new else []
        fresh = {key: array("f", vector) for key, vector in zip(new, made, strict=True)}
        with self._file:
            self._file.executemany(
                "INSERT OR IGNORE INTO kept VALUES (?, ?)", [(key, vector.tobytes()) for key, vector in fresh.items()]
            )
        return [known[key] if key in known else fresh[key] for key in keys]

    def _find(self, key: bytes) -> "array[float] | None":
        row = self._file.execute("SELECT vector FROM kept WHERE key = ?", (key,)).fetchone()
        return None if row is None else array("f", bytes(row[0]))


async def _asked(
    conversation: Conversation, *, odd: bool, embedder: Embedder | None, reranker: Reranker | None, whole: bool
) -> list[Outcome]:
    """Store a conversation, fill its vectors, and ask every question each way."""
    clock = _Clock()
    database = SqliteDatabase(SqliteOptions(path=":memory:"), clock=clock)
    memory = memory_from(bethink.load_settings(environ={}, learn=False), database=database, redactor=_AsItIs())
    outcomes: list[Outcome] = []
    async with memory:
        turns = await _stored(memory, conversation)
        vectors = None
        if embedder is not None:
            await fill(database, embedder)
            vectors = await embedder.embed([turn.text for turn in conversation.turns])
        baselines = Baselines(conversation.turns, vectors)
        tokens = EstimatedTokens()
        ways = {"words": Searcher(database, tokens=tokens)}
        if embedder is not None:
            ways["words and vectors"] = Searcher(database, tokens=tokens, embedder=embedder)
            if reranker is not None:
                ways["words, vectors, reranked"] = Searcher(
                    database, tokens=tokens, embedder=embedder, reranker=reranker
                )
        for question in conversation.questions:
            if not _counts(question, whole=whole):
                continue
            clock.time = question.at
            rankings = {way: await _ranked(searcher, question, turns, whole=whole) for way, searcher in ways.items()}
            vector = None if embedder is None else (await embedder.embed([question.text]))[0]
            rankings |= baselines.rankings(question.text, vector)
            for way, found in rankings.items():
                sessions = _sessions(found, conversation.turns) if whole else None
                figures = measures.judged(question, found[:_FIRST], sessions)
                outcomes.append(
                    Outcome(
                        way=way,
                        conversation=conversation.id,
                        question=question.id,
                        category=question.category,
                        odd=odd,
                        figures=figures,
                    )
                )
        baselines.close()
    return outcomes


async def fill(database: Database, embedder: Embedder) -> None:
    """Let a worker embed whatever has no vector yet."""
    worker = Worker(database, {JobKind.INDEX: Indexer(database=database, embedder=embedder)})
    while (await worker.run_once()).claimed:
        pass


class _AsItIs:
    """A redactor that has nothing to do: these texts are public."""

    def redact(self, text: str) -> str:
        return text


class _Clock:
    """Says that it is the time of the question."""

    def __init__(self) -> None:
        self.time = EPOCH

    def __call__(self) -> datetime:
        return self.time


async def _stored(memory: bethink.Memory, conversation: Conversation) -> dict[tuple[str, int], str]:
    """Append every turn in its session, and say which message each became."""
    turns: dict[tuple[str, int], str] = {}
    by_session: dict[str, list[Turn]] = {}
    for turn in conversation.turns:
        by_session.setdefault(turn.session, []).append(turn)
    for name, said in by_session.items():
        key = bethink.conversation_key(channel="benchmark", chat=name)
        session = await memory.space(_SPACE).session(key)
        numbers = await session.append([_message(turn) for turn in said])
        turns |= {(session.id, number): turn.id for number, turn in zip(numbers, said, strict=True)}
    return turns


def _message(turn: Turn) -> bethink.Message:
    if turn.speaker in ("user", "assistant"):
        return bethink.Message(role=turn.speaker, content=turn.text, said_at=turn.at)
    return bethink.Message(role="user", name=turn.speaker, content=turn.text, said_at=turn.at)


def _counts(question: Question, *, whole: bool) -> bool:
    return question.category != "adversarial" and (whole or bool(question.evidence))


async def _ranked(
    searcher: Searcher, question: Question, turns: dict[tuple[str, int], str], *, whole: bool
) -> list[str]:
    limit = _SESSIONS_FROM if whole else _FIRST
    found = await searcher.recall(_SPACE, RecallRequest(question=question.text, limit=limit, kinds=(RefKind.MESSAGE,)))
    return [turns[item.ref.id, item.ref.number] for item in found.items]


def _sessions(found: Sequence[str], turns: Sequence[Turn]) -> list[str]:
    where = {turn.id: turn.session for turn in turns}
    return list(dict.fromkeys(where[each] for each in found))


async def _measured(
    name: str, data: Path, *, embedder: Embedder | None, reranker: Reranker | None, first: int | None
) -> list[Outcome]:
    outcomes: list[Outcome] = []
    conversations = load(name, data)[:first]
    started = time.monotonic()
    for place, conversation in enumerate(conversations):
        outcomes += await _asked(
            conversation, odd=place % 2 == 0, embedder=embedder, reranker=reranker, whole=name == "longmemeval"
        )
        if sys.stderr.isatty() or place % 50 == 49 or place + 1 == len(conversations):
            spent = time.monotonic() - started
            print(f"{name}: {place + 1} of {len(conversations)} conversations, {spent:.0f} s", file=sys.stderr)
    return outcomes


def _table(name: str, outcomes: Sequence[Outcome], *, seed: int, categories: bool) -> None:
    ways = list(dict.fromkeys(outcome.way for outcome in outcomes))
    shown = [column for column in _COLUMNS if any(column in outcome.figures for outcome in outcomes)]
    asked = sum(1 for outcome in outcomes if outcome.way == ways[0])
    print(f"\n## {name}: {asked} questions\n")
    print("| way | " + " | ".join(shown) + " |")
    print("|---|" + "---|" * len(shown))
    for way in ways:
        of_way = [outcome for outcome in outcomes if outcome.way == way]
        print(f"| {way} | " + " | ".join(f"{measures.mean(of_way, column):.3f}" for column in shown) + " |")
    key = "every@5" if "every@5" in shown else "R@10"
    print(f"\n{key} by half, with 95 % intervals by drawing conversations; tuned on odd ones, reported on even ones:")
    for way in ways:
        of_way = [outcome for outcome in outcomes if outcome.way == way]
        halves: list[str] = []
        for half in (True, False):
            of_half = [outcome for outcome in of_way if outcome.odd is half]
            low, high = measures.interval(of_half, key, seed=seed)
            halves.append(f"{'odd' if half else 'even'} {measures.mean(of_half, key):.3f} [{low:.3f}, {high:.3f}]")
        gap, low, high = measures.differ(of_way, key, seed=seed)
        print(f"- {way}: {', '.join(halves)}; odd minus even {gap:+.3f} [{low:+.3f}, {high:+.3f}]")
        if categories and way.startswith("words"):
            for category in sorted({outcome.category for outcome in of_way}):
                of_kind = [outcome for outcome in of_way if outcome.category == category]
                figures = ", ".join(f"{column} {measures.mean(of_kind, column):.3f}" for column in shown)
                print(f"    - {category} ({len(of_kind)}): {figures}")


def _verdict(found: dict[str, list[Outcome]]) -> bool:
    """Print every figure beside its goal, and whether the tuned half gains more than noise; true if all is well."""
    print("\n## Goals\n")
    reached = True
    for way, sets in GOALS.items():
        for name, goals in sets.items():
            of_way = [outcome for outcome in found.get(name, ()) if outcome.way == way]
            if not of_way:
                continue
            for column, goal in goals.items():
                figure = measures.mean(of_way, column)
                bare = [outcome for outcome in found[name] if outcome.way == BASELINE]
                gap, low, high = measures.beyond(of_way, bare, column, seed=1)
                overfit = not math.isnan(low) and low > 0
                reached &= round(figure, 3) >= goal and not overfit
                note = "reached" if round(figure, 3) >= goal else "NOT reached"
                note += f"; beyond full text, odd minus even {gap:+.3f} [{low:+.3f}, {high:+.3f}]"
                note += ": tuned beyond what holds elsewhere" if overfit else ""
                print(f"{name}, {way}, {column}: {figure:.3f} (goal {goal:.3f}): {note}")
    return reached


def _data() -> Path:
    beside = [Path("bench/data"), *sorted(Path.cwd().parent.glob("*/bench/data"))]
    return next((folder for folder in beside if folder.is_dir()), beside[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, default=_data(), help="the folder with locomo, realtalk, beam, longmemeval"
    )
    parser.add_argument("--all", action="store_true", help="every set, with and without vectors")
    parser.add_argument("--set", choices=SETS, action="append", help="only these sets")
    parser.add_argument("--vectors", action="store_true", help="also with MiniLM vectors")
    parser.add_argument("--rerank", action="store_true", help="also with the reranker over MiniLM's tokens: slow")
    parser.add_argument("--first", type=int, help="only so many conversations of each set")
    parser.add_argument("--categories", action="store_true", help="also by category")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "bethink-benchmark-vectors.db")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    embedder = reranker = None
    if options.all or options.vectors or options.rerank:
        embedder, reranker = _minilm(options.cache, rerank=options.rerank)
    found: dict[str, list[Outcome]] = {}
    for name in options.set or (SETS if options.all else SETS[:1]):
        found[name] = anyio.run(
            lambda name=name: _measured(name, options.data, embedder=embedder, reranker=reranker, first=options.first)
        )
        _table(name, found[name], seed=options.seed, categories=options.categories or options.all)
    sys.exit(0 if _verdict(found) else 1)


def _minilm(cache: Path, *, rerank: bool) -> tuple[Embedder, Reranker | None]:
    real = OnnxEmbedder(minilm.FOLDER, tokenizer=minilm.TOKENIZER)
    return Kept(real, cache), TokenReranker(real) if rerank else None


if __name__ == "__main__":
    main()
