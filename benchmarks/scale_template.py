"""A space as the product writes it, cut into sessions, and ready to be written again under other ids and another key.

A clone has ids, keyed hashes and seals of its own, so its rows are what the product would have written for it. Where a
large space is made of many copies of one session, each copy is also in other words.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import bethink
from benchmarks.latency_space import _vocabulary
from bethink.api.connect import memory_from
from bethink.model.calls import ModelCall
from bethink.model.ids import base32, new_id
from bethink.model.jobs import JobKind
from bethink.model.records import conversation_key
from bethink.model.refs import RefKind
from bethink.model.words import gist
from bethink.providers.scripted_model import ScriptedModel
from bethink.store import chain
from bethink.store.db import Database
from bethink.store.terms import KINDS, Hashes, Words, fact_words, number_of, words_of
from faults import scripted

SESSION = 30
FACT_EVERY = 10
_OWN_WORDS = 8_000
"""How many words the people of one ordinary space use."""
_COMMON_WORDS = 2_000
_LENGTH = range(10, 60)
_ID = re.compile(r"\b[a-z]{3}_[0-9a-hjkmnp-tv-z]{26}")
_WORD = re.compile(r"[bdfgklmnprtvz][a-z]{4,}")
TAIL = 5
_SPACE, _TAIL, _HEAD = "\x01", "\x02", "\x03"
"""What stands in a template for the space, the end of an id of the session, and that of an id of the whole space."""
_WHOLE = ("agents", "space_spending")
"""Tables with rows that belong to no session."""

Texts = Mapping[str, str]


def talk(name: str, size: int) -> Iterator[str]:
    """Give the messages of a space."""
    words, weights = _vocabulary()
    words, weights = words[:_OWN_WORDS], weights[:_OWN_WORDS]
    chance = random.Random(f"{name}/scale")
    for _ in range(size):
        yield " ".join(chance.choices(words, cum_weights=weights, k=chance.choice(_LENGTH)))


def question(said: str, chance: random.Random) -> str:
    """Return a question that shares a few words with what was said."""
    words = list(dict.fromkeys(said.split()))
    return f"What about {' '.join(chance.sample(words, k=min(len(words), chance.randint(3, 5))))}?"


def model() -> ScriptedModel:
    """Return a model that finds a fact in one of ten messages, and says of each that it was said."""

    def answer(call: ModelCall) -> str:
        if call.schema_name == "verdicts":
            return scripted.verdicts([each.name for each in scripted.claimed(call.prompt)])
        lines = scripted.new_lines(call.prompt)[::FACT_EVERY]
        return scripted.answer(
            [
                scripted.claim(line.text, scripted.quote(line.number, line.text), about="no one", kind="knowledge")
                for line in lines
            ]
        )

    return ScriptedModel(answer)


def memory_on(database: Database) -> bethink.Memory:
    """Return the memory that templates are written with, and operations measured on.

    Copies have no vectors, so that an embedder which happens to be installed would only look for what is missing.
    """
    settings = bethink.Settings.load(environ={}, learn_in_background=False, embedder="none")
    return memory_from(settings, database=database, model=model())


async def write(memory: bethink.Memory, name: str, texts: Sequence[str]) -> None:
    """Write a space by the public operations: its sessions end, and are learnt from."""
    space = memory.space(name)
    for first in range(0, len(texts), SESSION):
        session = await space.session(conversation_key(channel="scale", chat=new_id("cht")))
        said = texts[first : first + SESSION]
        roles = ("user", "assistant")
        await session.append([bethink.Message(role=roles[n % 2], content=text) for n, text in enumerate(said)])
        await session.end()
    while (await space.admin.learn(kinds=[JobKind.EXTRACT])).leased:
        pass


@dataclass(slots=True, kw_only=True)
class Clone:
    """A space that is written by copying: how far its numbers have come."""

    name: str
    place: int
    key: bytes
    head: str
    docs: int = 0
    changes: int = 0
    numbers: "Numbers" = field(init=False)

    def __post_init__(self) -> None:
        self.numbers = Numbers(self.key)


class Numbers(dict[str, str]):
    """The keyed hashes of a space's terms as COPY reads them."""

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._hashes = Hashes(key)

    def __missing__(self, term: str) -> str:
        self[term] = made = str(number_of(self._hashes[term]))
        return made


@dataclass(frozen=True, slots=True)
class _Message:
    front: str
    sealed: list[str | None]
    back: str


@dataclass(frozen=True, slots=True)
class _Term:
    code: int
    middle: str
    text: str
    fact: tuple[str, str | None] | None
    words: Words


@dataclass(slots=True)
class Session:
    """The rows of one session of a template."""

    id: str
    plain: dict[str, str] = field(default_factory=dict[str, str])
    messages: list[_Message] = field(default_factory=list[_Message])
    recorded_at: int = 0
    terms: list[_Term] = field(default_factory=list[_Term])
    changes: list[str] = field(default_factory=list[str])

    def copied(self, clone: Clone, tail: str, said: "Rewording | None" = None) -> Texts:
        """Return the rows of this session in a clone, as COPY reads them, by table."""
        reword = said.text if said else _same
        found = {table: reword(text) for table, text in self.plain.items()}
        if said and "facts" in found:
            found["facts"] = said.facts(found["facts"])
        found["messages"] = self._messages(clone, tail, said)
        found["terms"] = "".join(self._terms(clone, said))
        found["changes"] = "".join(f"{_SPACE}\t{n}\t{row}" for n, row in enumerate(self.changes, clone.changes + 1))
        clone.changes += len(self.changes)
        return {table: _named(text, clone, tail) for table, text in found.items()}

    def _messages(self, clone: Clone, tail: str, said: "Rewording | None") -> str:
        rows = [said.sealed(each.sealed) if said else each.sealed for each in self.messages]
        session = self.id[:-TAIL] + tail
        at = self.recorded_at
        seals = chain.seals(rows, key=clone.key, session_id=session, first=1, recorded_at=at, before="")
        reword = said.text if said else _same
        return "".join(
            f"{reword(each.front)}\t{seal}\t{each.back}" for each, seal in zip(self.messages, seals, strict=True)
        )

    def _terms(self, clone: Clone, said: "Rewording | None") -> Iterator[str]:
        for number, each in enumerate(self.terms, clone.docs + 1):
            words = analysed(said.text(each.text), each.fact) if said else each.words
            doc = (clone.place << 34) + (number << 2) + each.code
            yield f"{doc}\t{each.middle}\t{_indexed(words, clone.numbers)}\n"
        clone.docs += len(self.terms)


def _same(text: str) -> str:
    return text


def _named(text: str, clone: Clone, tail: str) -> str:
    return text.replace(_SPACE, clone.name).replace(_TAIL, tail).replace(_HEAD, clone.head)


def _indexed(words: Words, numbers: Numbers) -> str:
    """Return the last columns of a row of the index: length, asks, terms, hits."""
    hits = bytes(words.counts.values()).hex()
    terms = ",".join(map(numbers.__getitem__, words.counts))
    return f"{words.length}\t{int(words.asks)}\t{{{terms}}}\t\\\\x{hits}"


def analysed(text: str, fact: tuple[str, str | None] | None) -> Words:
    """Return what is indexed of a text."""
    return words_of(text) if fact is None else fact_words(text, *fact)


class Rewording:
    """Says a session in other words that are about as frequent: frequent ones for frequent ones, rare ones for rare."""

    def __init__(self, chance: random.Random) -> None:
        self._offset = chance.randrange(1 << 30)
        self._known: dict[str, str] = {}

    def text(self, text: str) -> str:
        """Return a text in other words."""
        return _WORD.sub(self._word, text)

    def sealed(self, row: Sequence[str | None]) -> list[str | None]:
        """Return what is sealed of a message."""
        return [self.text(value) if value and place == 1 else value for place, value in enumerate(row)]

    def facts(self, rows: str) -> str:
        """Return rows of facts with the digest of what they say now."""
        split = [line.split("\t") for line in rows.splitlines()]
        for line in split:
            line[_DIGEST] = gist(line[_CONTENT])
        return "".join("\t".join(line) + "\n" for line in split)

    def _word(self, match: re.Match[str]) -> str:
        word = match[0]
        if (known := self._known.get(word)) is None:
            ranks, words, bands = _ranks()
            rank = ranks.get(word)
            first, last = (0, 1) if rank is None else bands[rank]
            known = word if rank is None else words[first + (rank - first + self._offset) % (last - first)]
            self._known[word] = known
        return known


_RANKS: list[tuple[dict[str, int], list[str], list[tuple[int, int]]]] = []


def _ranks() -> tuple[dict[str, int], list[str], list[tuple[int, int]]]:
    """Return the rank of each word, the words, and for each rank the ranks that may stand for it."""
    if not _RANKS:
        words = _vocabulary()[0]
        edges = [0]
        while edges[-1] < _COMMON_WORDS:
            edges.append(max(edges[-1] + 1, edges[-1] * 5 // 4))
        bands = [(first, last) for first, last in pairwise([*edges, len(words)]) for _ in range(last - first)]
        _RANKS.append(({word: rank for rank, word in enumerate(words)}, words, bands))
    return _RANKS[0]


_CONTENT, _DIGEST = 3, 18
"""Where those columns stand in a row of `facts`."""

Rows = Mapping[str, tuple[Sequence[str], Sequence[str]]]
"""For each table its columns, and its rows as COPY writes them."""


@dataclass(frozen=True, slots=True)
class Template:
    """A written space, cut into its sessions; `head` is what it has once."""

    head: Texts
    sessions: Sequence[Session]
    texts: Sequence[str]

    def begun(self, clone: Clone) -> Texts:
        """Return the rows that a clone has once."""
        return {table: _named(text, clone, clone.head) for table, text in self.head.items()}


def template_of(name: str, key: bytes, rows: Rows, texts: Sequence[str]) -> Template:
    """Cut a written space into sessions, and check that its index is understood."""
    owners = _owners(rows)
    whole = {found for row in rows["agents"][1] for found in _ID.findall(row)}
    sessions = {each: Session(each) for each in dict.fromkeys(owners.values())}
    head: dict[str, str] = {}
    columns = {table: {column: place for place, column in enumerate(names)} for table, (names, _) in rows.items()}
    assert (columns["facts"]["content"], columns["facts"]["digest"]) == (_CONTENT, _DIGEST)
    said = _said(rows, columns)
    numbers = Numbers(key)
    for table, (_, lines) in rows.items():
        for line in lines:
            marked = _marked(line, name, whole)
            owner = _owner(line, owners)
            if table in _WHOLE or owner is None:
                head[table] = head.get(table, "") + marked + "\n"
            elif table == "messages":
                _add_message(sessions[owner], line, marked, columns[table])
            elif table == "terms":
                sessions[owner].terms.append(_term(line, marked, said, numbers))
            elif table == "changes":
                sessions[owner].changes.append(marked.split("\t", 2)[2] + "\n")
            else:
                plain = sessions[owner].plain
                plain[table] = plain.get(table, "") + marked + "\n"
    return Template(head, list(sessions.values()), texts)


def _owners(rows: Rows) -> dict[str, str]:
    """Return for every id the session that it came with."""
    owners: dict[str, str] = {}
    for line in rows["sessions"][1]:
        found = _ID.findall(line)
        owners.update(dict.fromkeys([each for each in found if not each.startswith("agt_")], found[0]))
    for _, lines in rows.values():
        for line in lines:
            found = [each for each in _ID.findall(line) if not each.startswith(("agt_", "acc_"))]
            session = next((each for each in found if each.startswith("ses_")), None)
            for each in found if session else ():
                owners.setdefault(each, session or "")
    return owners


def _owner(line: str, owners: Mapping[str, str]) -> str | None:
    return next((owners[each] for each in _ID.findall(line) if each in owners), None)


def _marked(line: str, name: str, whole: set[str]) -> str:
    """Put marks where a clone has names of its own."""
    line = _ID.sub(lambda match: match[0][:-TAIL] + (_HEAD if match[0] in whole else _TAIL), line)
    return line.replace(name, _SPACE)


def _add_message(session: Session, line: str, marked: str, columns: Mapping[str, int]) -> None:
    values, place = marked.split("\t"), columns["seal"]
    plain = line.split("\t")
    sealed = [None if (value := plain[columns[each]]) == "\\N" else value for each in chain.FIELDS]
    sealed[chain.FIELDS.index("said_at")] = plain[columns["said_at"]]
    session.recorded_at = int(plain[columns["recorded_at"]])
    session.messages.append(
        _Message("\t".join(values[:place]), sealed, "\t".join(values[place + 1 :]) + "\n")
    )  # fmt: skip


Said = Mapping[tuple[str, str, str], tuple[str, tuple[str, str | None] | None]]


def _said(rows: Rows, columns: Mapping[str, Mapping[str, int]]) -> Said:
    """Return the text of everything that is indexed, by kind, id and number."""
    found: dict[tuple[str, str, str], tuple[str, tuple[str, str | None] | None]] = {}

    def read(table: str, *names: str) -> Iterator[list[str]]:
        for line in rows[table][1]:
            values = line.split("\t")
            yield [values[columns[table][name]] for name in names]

    for session, number, content in read("messages", "session_id", "number", "content"):
        found[RefKind.MESSAGE, session, number] = (content, None)
    for fact, version, content, kind, slot in read("facts", "id", "version", "content", "kind", "slot"):
        found[RefKind.FACT, fact, version] = (content, (kind, None if slot == "\\N" else slot))
    for session, summary, raw in read("session_summaries", "session_id", "summary", "raw_memory"):
        found[RefKind.SESSION_SUMMARY, session, "0"] = (f"{summary}\n{raw}".replace("\\n", "\n"), None)
    return found


def _term(line: str, marked: str, said: Said, numbers: Numbers) -> _Term:
    """Read a row of the index: what it holds must be what the text comes to."""
    values = line.split("\t")
    kind, name, number = values[2:5]
    text, fact = said[kind, name, number]
    words = analysed(text, fact)
    if "\t".join(values[6:]) != _indexed(words, numbers):
        raise SystemExit(f"the index holds something else for {kind} {name} {number}")
    return _Term(KINDS.index(RefKind(kind)), "\t".join(marked.split("\t")[1:6]), text, fact, words)


def tail_of(number: int) -> str:
    """Return the end of the ids of a clone."""
    return base32(number)[-TAIL:]
