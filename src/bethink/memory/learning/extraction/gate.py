"""The gate: what code can tell about a claim. Its quotes must exist, and whose words they are decides what it may be.

What the words mean is left to a second reading. A claim is refused, held for a person, or doubted: then it needs the
second reading to stand.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.base.language.letters import words_in
from bethink.base.language.numbers import numbers_in
from bethink.memory.learning.extraction.claims import DraftClaim, DraftQuote
from bethink.memory.learning.extraction.doubts import doubt
from bethink.memory.learning.extraction.grounding import Ground, capitalised, foreign_numbers
from bethink.model.facts import Quote
from bethink.model.framing import own_words
from bethink.model.kinds import FactKind
from bethink.model.records import Origin, Record, Role
from bethink.model.rules import lowest, rank, tells
from bethink.model.words import key_words, negated, stem, words_of

_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"\S+")
_SENTENCE = re.compile(r"[.!?\n\u3002\uff01\uff1f]+")
_LONGEST = 100_000
_OF_PEOPLE = frozenset({FactKind.DECISION, FactKind.GOAL})
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.\w{1,24}|\w{1,16}://\S{1,500}|(?:[\w-]{1,64}\.){1,8}[^\W\d]\w{1,24}")
OWNER = "owner"


class ClaimReason(StrEnum):
    """Why a claim does not stand."""

    MALFORMED = "malformed"
    NO_QUOTE = "no_quote"
    NOT_NEW = "not_new"
    NOT_A_PERSONS_WORD = "not_a_persons_word"
    TOOLS_WORD = "tools_word"
    SUSPICIOUS = "suspicious"
    ECHO = "echo"
    ASSISTANT_ONLY = "assistant_only"
    NOT_THEIR_OWN = "not_their_own"
    FOREIGN_NAME = "foreign_name"
    FOREIGN_NUMBER = "foreign_number"
    FLAGGED = "flagged"
    HELD_KIND = "held_kind"
    OUTRANKED = "outranked"
    DENIED = "denied"
    SOMEBODY_ELSES = "somebody_elses"
    QUOTED_OR_SUPPOSED = "quoted_or_supposed"
    NO_LONGER = "no_longer"
    UNCLEAR = "unclear"


class Force(StrEnum):
    """What a problem does to a claim."""

    REFUSES = "refuses"
    HOLDS = "holds"
    DOUBTS = "doubts"
    """It holds the claim, unless a second reading finds that it was said."""


@frozen(kw_only=False)
class ClaimProblem:
    """What is wrong with a claim: one word for it, and what exactly."""

    reason: ClaimReason
    detail: str
    force: Force = Force.REFUSES


@frozen
class Checked:
    """A claim whose quotes were looked up: their exact words, the least trusted origin, and whose word it is."""

    claim: DraftClaim
    quotes: tuple[Quote, ...]
    origin: Origin
    speaker: str
    problem: ClaimProblem | None = None
    doubt: str = ""
    """What around its quotes may turn their meaning: then one reading of it is not enough."""


_OTHERS_WORD = (ClaimReason.NOT_THEIR_OWN, ClaimReason.TOOLS_WORD)


class Gate:
    """Checks the claims that were drawn from one conversation."""

    def __init__(
        self,
        records: Mapping[int, Record],
        *,
        owner: str | None = None,
        known: Sequence[str] = (),
        start: int = 0,
        shown: Sequence[str] = (),
        suspicious: Collection[int] = (),
    ) -> None:
        self._records = records
        self._owner = owner
        self._start = start
        self._suspicious = suspicious
        self._known = known
        self._known_numbers = {value for text in known for value in numbers_in(text)}
        self._numbers: dict[int, set[int]] = {}
        self._texts = {number: plain(own_words(each.message.content)[:_LONGEST]) for number, each in records.items()}
        self._words = {number: frozenset(words_in(text)) for number, text in self._texts.items()}
        names = [name for each in records.values() if (name := each.message.name)]
        self._ground = Ground([*self._texts.values(), *names, owner or "", *known])
        self._people = {OWNER, "user", "the user", *map(str.casefold, filter(None, [owner, *self._speakers()]))}
        self._shown = [_key_stems(part) for text in shown for part in _SENTENCE.split(text)]

    def missing(self, claim: DraftClaim) -> list[DraftQuote]:
        """Return the quotes of a claim that are not in their messages."""
        return [quote for quote in claim.quotes if not is_in(plain(quote.text), self._texts.get(quote.message, ""))]

    def check(self, claim: DraftClaim) -> Checked:
        """Look up the quotes of a claim, and return it with the gravest problem that code can see, if there is one."""
        missing = self.missing(claim)
        found = [quote for quote in claim.quotes if quote not in missing and quote.message in self._records]
        words = [self._records[quote.message] for quote in found if not quote.context]
        origins = [Origin(record.message.origin or "import") for record in words]
        checked = Checked(
            claim=claim,
            quotes=tuple(
                Quote(
                    session_id=self._records[quote.message].session_id, number=quote.message, text=quote.text,
                    context=quote.context,
                )
                for quote in found
            ),
            origin=lowest(origins) if origins else Origin("import"),
            speaker=self._speaker(words[-1]) if words else "",
        )  # fmt: skip
        problem = self._unfounded(claim, missing, words) or self._unowned(claim, checked, words)
        problem = problem or self._foreign(claim.statement, claim)
        return replace(
            checked,
            quotes=(*checked.quotes, *self._named_elsewhere(claim)),
            problem=problem,
            doubt=self._doubt(claim, problem, words),
        )

    def _doubt(self, claim: DraftClaim, problem: ClaimProblem | None, words: Sequence[Record]) -> str:
        if problem is not None and problem.reason in _OTHERS_WORD:
            return problem.detail
        after = {record.number: self._next_of(record) for record in words}
        own = self.is_person(claim.about) and not self._is_anothers(claim.about, words)
        return doubt(claim, self._texts, after, own=own)

    def _next_of(self, record: Record) -> str:
        """Return what the speaker of a message says next, if it is soon."""
        following = (self._records.get(record.number + step) for step in (1, 2))
        who = (record.message.role, self._speaker(record))
        return next(
            (
                self._texts[each.number]
                for each in following
                if each and (each.message.role, self._speaker(each)) == who
            ),
            "",
        )

    def reworded(self, statement: str, claim: DraftClaim) -> ClaimProblem | None:
        """Return what a correction of a claim brings in that was not said, or that it is another claim altogether."""
        borrowed = self._borrowed(statement)
        if borrowed:
            return ClaimProblem(ClaimReason.TOOLS_WORD, f"no person said {borrowed}", Force.HOLDS)
        before = {stem(word) for word in key_words(claim.statement)}
        if before.isdisjoint(stem(word) for word in key_words(statement)):
            return ClaimProblem(ClaimReason.UNCLEAR, "the correction says something else", Force.HOLDS)
        return self._foreign(statement, claim)

    def is_person(self, name: str) -> bool:
        """Return whether a name is that of the owner or of a person in the conversation."""
        return name.casefold() in self._people

    def _unfounded(
        self, claim: DraftClaim, missing: Sequence[DraftQuote], words: Sequence[Record]
    ) -> ClaimProblem | None:
        if missing:
            listed = "; ".join(f"[{quote.message}] {quote.text[:80]}" for quote in missing[:3])
            return ClaimProblem(ClaimReason.NO_QUOTE, f"not in its message: {listed}")
        if not any(record.number > self._start for record in words):
            return ClaimProblem(ClaimReason.NOT_NEW, "no quote that proves it is from a new message")
        odd = [record.number for record in words if record.number in self._suspicious and not _is_person(record)]
        if odd:
            return ClaimProblem(ClaimReason.SUSPICIOUS, f"message {odd[0]} tries to write memory")
        if words and all(record.message.role is Role.ASSISTANT for record in words) and self._echoes(claim):
            return ClaimProblem(ClaimReason.ECHO, "the assistant repeats what memory showed it")
        return None

    def _unowned(self, claim: DraftClaim, checked: Checked, words: Sequence[Record]) -> ClaimProblem | None:
        """Return what is wrong with whose words they are."""
        origin, kind = checked.origin, claim.kind
        if kind is not None and tells(kind):
            foreign = next((record for record in words if not _is_person(record)), None)
            if foreign is not None:
                return ClaimProblem(
                    ClaimReason.NOT_A_PERSONS_WORD, f"message {foreign.number} is not a person's own words"
                )
            borrowed = self._borrowed(claim.statement)
            if borrowed:
                return ClaimProblem(ClaimReason.TOOLS_WORD, f"no person said {borrowed}", Force.HOLDS)
            around = (self._records[quote.number] for quote in checked.quotes if quote.context)
            text = next((record for record in around if _is_text(record)), None)
            if text is not None:  # a person may mean it, or a page that a person asked to have read
                return ClaimProblem(
                    ClaimReason.TOOLS_WORD, f"it takes message {text.number} to say what is wanted", Force.DOUBTS
                )
        of_person = self.is_person(claim.about)
        if rank(origin) < rank(Origin("import")):
            if kind in _OF_PEOPLE:
                return ClaimProblem(ClaimReason.TOOLS_WORD, f"only {origin} says so, and only people decide")
            if of_person:
                return ClaimProblem(ClaimReason.TOOLS_WORD, f"only {origin} says so about {claim.about}", Force.HOLDS)
        if origin == "assistant" and of_person and not any(map(_is_person, words)):
            return ClaimProblem(
                ClaimReason.ASSISTANT_ONLY, f"only the assistant says so about {claim.about}", Force.HOLDS
            )
        if claim.stance == "said" and of_person and self._is_anothers(claim.about, words):
            return ClaimProblem(
                ClaimReason.NOT_THEIR_OWN, f"it is {checked.speaker}'s word, not {claim.about}'s", Force.DOUBTS
            )
        return None

    def _foreign(self, statement: str, claim: DraftClaim) -> ClaimProblem | None:
        quoted = [self._records[quote.message] for quote in claim.quotes if quote.message in self._records]
        said = [self._numbers_of(record.number) for record in quoted]
        year = max(((record.message.said_at or record.recorded_at).year for record in quoted), default=0)
        dates = (*claim.happened, claim.since, claim.until)
        numbers = foreign_numbers(statement, self._known_numbers.union(*said), dates=dates, year=year)
        if numbers:
            return ClaimProblem(ClaimReason.FOREIGN_NUMBER, f"not said: {', '.join(numbers[:3])}", Force.DOUBTS)
        names = self._ground.foreign_names(statement) or self._ground.foreign_names(_about(claim.about))
        if names:
            return ClaimProblem(ClaimReason.FOREIGN_NAME, f"not said: {', '.join(names[:3])}", Force.DOUBTS)
        return None

    def _numbers_of(self, number: int) -> set[int]:
        """Return the numbers in a message, which is read once however many claims quote it."""
        if number not in self._numbers:
            self._numbers[number] = numbers_in(self._texts[number])
        return self._numbers[number]

    def _named_elsewhere(self, claim: DraftClaim) -> list[Quote]:
        """Return where else the names of a statement stand that the quoted messages lack: it rests on these, too."""
        quoted = {quote.message for quote in claim.quotes}
        here = {word for number in quoted for word in self._words.get(number, ())}
        found: dict[int, Quote] = {}
        for name in capitalised(claim.statement):
            if name in here:
                continue
            number = next((each for each in sorted(self._words, reverse=True) if name in self._words[each]), None)
            if number is not None and number not in quoted:
                record = self._records[number]
                exact = next((word for word in _WORD.findall(self._texts[number]) if name in words_in(word)), name)
                found[number] = Quote(session_id=record.session_id, number=number, text=exact, context=True)
        return list(found.values())

    def _borrowed(self, statement: str) -> str:
        """Return an address in a statement that only tools and documents have: the goal of most hidden instructions."""
        spoken = (Role.USER, Role.ASSISTANT)
        said = [text for number, text in self._texts.items() if self._records[number].message.role in spoken]
        told = "\n".join([*said, *self._known]).casefold()
        found = (address.rstrip(".,;:!?)\"'") for address in _ADDRESS.findall(statement))
        return next((address for address in found if address.casefold() not in told), "")

    def _echoes(self, claim: DraftClaim) -> bool:
        wanted = {stem(word) for word in key_words(claim.statement)}
        return bool(wanted) and any(
            wanted <= stems and denies == negated(claim.statement) for stems, denies in self._shown
        )

    def _is_anothers(self, about: str, words: Sequence[Record]) -> bool:
        """Return whether other people than the one it is about say so. Only the owner may lack a name."""
        owned = {OWNER, "user", "the user", (self._owner or OWNER).casefold()}
        whose = owned if about.casefold() in owned else {about.casefold()}
        people = [self._speaker(record).casefold() for record in words if _is_person(record)]
        return bool(people) and not whose.intersection(people)

    def _speaker(self, record: Record) -> str:
        message = record.message
        if message.role is Role.USER:
            return message.name or self._owner or OWNER
        return message.name or str(message.role)

    def _speakers(self) -> list[str]:
        return [self._speaker(record) for record in self._records.values() if _is_person(record)]


def plain(text: str) -> str:
    """Return a text as quotes are compared: composed letters, and one space for any white space."""
    return _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()


def is_in(quote: str, text: str) -> bool:
    """Return whether a quote is in a text and neither begins nor ends inside a word."""
    begin = text.find(quote)
    while quote and begin >= 0:
        end = begin + len(quote)
        if not _splits(text, begin) and not _splits(text, end):
            return True
        begin = text.find(quote, begin + 1)
    return False


def _splits(text: str, place: int) -> bool:
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    return before.isascii() and after.isascii() and before.isalnum() and after.isalnum()


def _is_person(record: Record) -> bool:
    return record.message.role is Role.USER and record.message.origin == "user"


def _is_text(record: Record) -> bool:
    """Return whether a message is what a tool or a document says."""
    return rank(Origin(record.message.origin or "import")) < rank(Origin("import"))


def _about(name: str) -> str:
    return "" if name.casefold() in (OWNER, "user", "the user") else name


def _key_stems(text: str) -> tuple[frozenset[str], bool]:
    words = words_of(text)
    return frozenset((*words, *map(stem, words))), negated(text)
