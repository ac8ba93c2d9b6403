"""Validate claims in code: quotes must exist, and the speaker of the quoted words decides what a claim may be.

The second pass judges the meaning. A claim is rejected, sent to review, or doubted. A doubted claim is accepted only if
the second pass confirms it.
"""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from bethink.base.frozen import frozen
from bethink.base.language.letters import words_in
from bethink.base.language.numbers import number_runs, numbers_in
from bethink.memory.learning.extraction.claims import DraftClaim, DraftQuote
from bethink.memory.learning.extraction.doubts import doubt
from bethink.memory.learning.extraction.grounding import Ground, capitalized_words, date_numbers, foreign_numbers
from bethink.model.facts import Quote
from bethink.model.framing import own_words
from bethink.model.kinds import FactKind
from bethink.model.records import Origin, Record, Role
from bethink.model.reviews import ClaimChange
from bethink.model.rules import is_directive, least_trusted, rank
from bethink.model.words import is_negated, key_stems, stem, words_of

_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"\S+")
_SENTENCE = re.compile(r"[.!?\n\u3002\uff01\uff1f]+")
_MAX_TEXT = 100_000
_PEOPLE_ONLY = frozenset({FactKind.DECISION, FactKind.GOAL})
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}\.\w{1,24}|\w{1,16}://\S{1,500}|(?:[\w-]{1,64}\.){1,8}[^\W\d]\w{1,24}")
OWNER = "owner"


class ClaimReason(StrEnum):
    """Reasons why a claim is not accepted."""

    MALFORMED = "malformed"
    NO_QUOTE = "no_quote"
    NOT_NEW = "not_new"
    NOT_FROM_USER = "not_from_user"
    FROM_TOOL = "from_tool"
    SUSPICIOUS = "suspicious"
    ECHO = "echo"
    ASSISTANT_ONLY = "assistant_only"
    OTHER_SPEAKER = "other_speaker"
    FOREIGN_NAME = "foreign_name"
    FOREIGN_NUMBER = "foreign_number"
    FLAGGED = "flagged"
    REVIEW_KIND = "review_kind"
    OUTRANKED = "outranked"
    DENIED = "denied"
    OTHER_PERSON = "somebody_elses"
    QUOTED_OR_SUPPOSED = "quoted_or_supposed"
    NO_LONGER = "no_longer"
    UNCLEAR = "unclear"


class Effect(StrEnum):
    """The effect of a problem on a claim."""

    REJECT = "refuses"
    REVIEW = "holds"
    DOUBT = "doubts"
    """The claim needs review, unless the second pass confirms it."""


@frozen(kw_only=False)
class ClaimProblem:
    """A problem with a claim: its reason, details and effect."""

    reason: ClaimReason
    detail: str
    effect: Effect = Effect.REJECT


@frozen
class CheckedClaim:
    """A claim with its quotes looked up: exact words, least trusted origin, and speaker."""

    claim: DraftClaim
    quotes: tuple[Quote, ...]
    origin: Origin
    speaker: str
    problem: ClaimProblem | None = None
    doubt: str = ""
    """What the second pass must settle: words that may change the meaning of the quotes, or what no message says."""


UNSAID = (ClaimReason.FOREIGN_NAME, ClaimReason.FOREIGN_NUMBER)
"""Problems that a verdict alone does not settle: it needs the words that the name or number stands for."""


class ClaimValidator:
    """Validates the claims of one conversation."""

    def __init__(
        self,
        records: Mapping[int, Record],
        *,
        owner: str | None = None,
        known_texts: Sequence[str] = (),
        start: int = 0,
        shown_texts: Sequence[str] = (),
        suspicious: Collection[int] = (),
    ) -> None:
        self._records = records
        self._owner = owner
        self._start = start
        self._suspicious = suspicious
        self._known_texts = known_texts
        self._existing_numbers = {value for text in known_texts for value in numbers_in(text)}
        self._numbers: dict[int, set[int]] = {}
        self._texts = {
            number: plain(own_words(record.message.content)[:_MAX_TEXT]) for number, record in records.items()
        }
        self._words = {number: frozenset(words_in(text)) for number, text in self._texts.items()}
        names = [name for record in records.values() if (name := record.message.name)]
        self._ground = Ground([*self._texts.values(), *names, owner or "", *known_texts])
        self._people = {OWNER, "user", "the user", *map(str.casefold, filter(None, [owner, *self._speakers()]))}
        self._shown_stems = [_key_stems(part) for text in shown_texts for part in _SENTENCE.split(text)]

    def missing(self, claim: DraftClaim) -> list[DraftQuote]:
        """Return the quotes of a claim that are not in their messages."""
        return [quote for quote in claim.quotes if not is_in(plain(quote.text), self._texts.get(quote.message, ""))]

    def check(self, claim: DraftClaim) -> CheckedClaim:
        """Look up the quotes of a claim, and return it with its most serious problem, if there is one."""
        missing = self.missing(claim)
        quotes = [quote for quote in claim.quotes if quote not in missing and quote.message in self._records]
        words = [self._records[quote.message] for quote in quotes if not quote.context]
        origins = [Origin(record.message.origin or "import") for record in words]
        checked = CheckedClaim(
            claim=claim,
            quotes=tuple(
                Quote(
                    session_id=self._records[quote.message].session_id, number=quote.message, text=quote.text,
                    context=quote.context,
                )
                for quote in quotes
            ),
            origin=least_trusted(origins) if origins else Origin("import"),
            speaker=self._speaker(words[-1]) if words else "",
        )  # fmt: skip
        problem = self._quote_problem(claim, missing, words)
        if claim.change is ClaimChange.FORGET:
            problem = problem or _forget_problem(words)
        else:
            problem = problem or self._speaker_problem(claim, checked, words)
        problems = [] if problem is None else [problem]
        if problem is None or problem.effect is Effect.DOUBT:  # what no message has weighs more than who says it
            content = self._content_problem(claim.statement, claim)
            problems = problems if content is None else [content, *problems]
        return replace(
            checked,
            quotes=(*checked.quotes, *self._context_quotes(claim)),
            problem=problems[0] if problems else None,
            doubt=self._doubt(claim, problems, words),
        )

    def is_settled(self, checked: CheckedClaim, proof: str) -> bool:
        """Return whether words settle the doubt of a claim: they are in a message, and give no other number."""
        words = plain(proof)
        if not words or not any(is_in(words, text) for text in self._texts.values()):
            return False
        if checked.problem is None or checked.problem.reason is not ClaimReason.FOREIGN_NUMBER:
            return True
        # Words such as "half past two" may give any number, but digits give their own.
        return not number_runs(words) or not self._foreign_numbers(checked.claim.statement, checked.claim, words)

    def _doubt(self, claim: DraftClaim, problems: Sequence[ClaimProblem], words: Sequence[Record]) -> str:
        after = {record.number: self._next_text(record) for record in words}
        own = self.is_person(claim.about) and not self._is_from_others(claim.about, words)
        details = [problem.detail for problem in problems if problem.effect is Effect.DOUBT]
        return "; ".join(filter(None, (*details, doubt(claim, self._texts, after, own=own))))

    def _next_text(self, record: Record) -> str:
        """Return the speaker's next message, if it is one of the next two."""
        following = (self._records.get(record.number + step) for step in (1, 2))
        who = (record.message.role, self._speaker(record))
        return next(
            (
                self._texts[candidate.number]
                for candidate in following
                if candidate and (candidate.message.role, self._speaker(candidate)) == who
            ),
            "",
        )

    def check_rewording(self, statement: str, claim: DraftClaim) -> ClaimProblem | None:
        """Return the problem of a corrected statement: unsupported content, or a different claim."""
        address = self._tool_address(statement)
        if address:
            return ClaimProblem(ClaimReason.FROM_TOOL, f"no person said {address}", Effect.REVIEW)
        before = key_stems(claim.statement)
        if before.isdisjoint(key_stems(statement)):
            return ClaimProblem(ClaimReason.UNCLEAR, "the correction says something else", Effect.REVIEW)
        return self._content_problem(statement, claim)

    def is_person(self, name: str) -> bool:
        """Return whether a name is that of the owner or of a person in the conversation."""
        return name.casefold() in self._people

    def _quote_problem(
        self, claim: DraftClaim, missing: Sequence[DraftQuote], words: Sequence[Record]
    ) -> ClaimProblem | None:
        if missing:
            listed = "; ".join(f"[{quote.message}] {quote.text[:80]}" for quote in missing[:3])
            return ClaimProblem(ClaimReason.NO_QUOTE, f"not in its message: {listed}")
        if not any(record.number > self._start for record in words):
            return ClaimProblem(ClaimReason.NOT_NEW, "no supporting quote is from a new message")
        odd = [record.number for record in words if record.number in self._suspicious and not _is_person(record)]
        if odd:
            return ClaimProblem(ClaimReason.SUSPICIOUS, f"message {odd[0]} tries to write memory")
        if words and all(record.message.role is Role.ASSISTANT for record in words) and self._is_echo(claim):
            return ClaimProblem(ClaimReason.ECHO, "the assistant repeats a text from memory")
        return None

    def _speaker_problem(
        self, claim: DraftClaim, checked: CheckedClaim, words: Sequence[Record]
    ) -> ClaimProblem | None:
        """Return a problem with the speaker of the quoted words."""
        origin, kind = checked.origin, claim.kind
        if kind is not None and is_directive(kind):
            foreign = next((record for record in words if not _is_person(record)), None)
            if foreign is not None:
                return ClaimProblem(ClaimReason.NOT_FROM_USER, f"message {foreign.number} is not a person's own words")
            address = self._tool_address(claim.statement)
            if address:
                return ClaimProblem(ClaimReason.FROM_TOOL, f"no person said {address}", Effect.REVIEW)
            around = (self._records[quote.number] for quote in checked.quotes if quote.context)
            text = next((record for record in around if _is_from_tool(record)), None)
            if text is not None:  # the person may mean it, or a page that the person asked to have read
                return ClaimProblem(
                    ClaimReason.FROM_TOOL,
                    f"only message {text.number}, which no person wrote, states the request",
                    Effect.DOUBT,
                )
        of_person = self.is_person(claim.about)
        if rank(origin) < rank(Origin("import")):
            if kind in _PEOPLE_ONLY:
                return ClaimProblem(ClaimReason.FROM_TOOL, f"only {origin} says so, and decisions need a person")
            if of_person:
                return ClaimProblem(ClaimReason.FROM_TOOL, f"only {origin} says so about {claim.about}", Effect.REVIEW)
        if origin == "assistant" and of_person and not any(map(_is_person, words)):
            return ClaimProblem(
                ClaimReason.ASSISTANT_ONLY, f"only the assistant says so about {claim.about}", Effect.REVIEW
            )
        if claim.stance == "said" and of_person and self._is_from_others(claim.about, words):
            return ClaimProblem(
                ClaimReason.OTHER_SPEAKER, f"said by {checked.speaker}, not by {claim.about}", Effect.DOUBT
            )
        return None

    def _content_problem(self, statement: str, claim: DraftClaim) -> ClaimProblem | None:
        numbers = self._foreign_numbers(statement, claim)
        names = self._ground.foreign_names(statement) or self._ground.foreign_names(_about(claim.about))
        if not numbers and not names:
            return None
        reason = ClaimReason.FOREIGN_NUMBER if numbers else ClaimReason.FOREIGN_NAME
        return ClaimProblem(reason, f"not said: {', '.join([*numbers[:3], *names[:3]])}", Effect.DOUBT)

    def _foreign_numbers(self, statement: str, claim: DraftClaim, *texts: str) -> list[str]:
        """Return the numbers of a statement that no quoted message has, nor one of these texts."""
        quoted = [self._records[quote.message] for quote in claim.quotes if quote.message in self._records]
        numbers = self._existing_numbers.union(
            *(self._numbers_of(record.number) for record in quoted), *map(numbers_in, texts)
        )
        days = [record.message.said_at or record.recorded_at for record in quoted]
        statement = self._ground.without_models(statement)
        if not numbers_in(statement).isdisjoint(day.year for day in days):  # "on 9 June 2023", when that was said
            numbers = numbers.union(*((day.month, day.day) for day in days))
        year = max((day.year for day in days), default=0)
        return foreign_numbers(statement, numbers, dates=(*claim.happened, claim.since, claim.until), year=year)

    def _numbers_of(self, number: int) -> set[int]:
        """Return the numbers in a message, and those of the dates that it names. The result is cached."""
        if number not in self._numbers:
            record, text = self._records[number], self._texts[number]
            dates = date_numbers(text, record.message.said_at or record.recorded_at)
            self._numbers[number] = numbers_in(text) | dates
        return self._numbers[number]

    def _context_quotes(self, claim: DraftClaim) -> list[Quote]:
        """Return quotes from other messages for names that the quoted messages lack."""
        quoted = {quote.message for quote in claim.quotes}
        quoted_words = {word for number in quoted for word in self._words.get(number, ())}
        quotes: dict[int, Quote] = {}
        for name in capitalized_words(claim.statement):
            if name in quoted_words:
                continue
            number = next(
                (candidate for candidate in sorted(self._words, reverse=True) if name in self._words[candidate]), None
            )
            if number is not None and number not in quoted:
                record = self._records[number]
                exact = next((word for word in _WORD.findall(self._texts[number]) if name in words_in(word)), name)
                quotes[number] = Quote(session_id=record.session_id, number=number, text=exact, context=True)
        return list(quotes.values())

    def _tool_address(self, statement: str) -> str:
        """Return an address that only tools and documents contain: the goal of most hidden instructions."""
        spoken = (Role.USER, Role.ASSISTANT)
        texts = [text for number, text in self._texts.items() if self._records[number].message.role in spoken]
        spoken_text = "\n".join([*texts, *self._known_texts]).casefold()
        addresses = (address.rstrip(".,;:!?)\"'") for address in _ADDRESS.findall(statement))
        return next((address for address in addresses if address.casefold() not in spoken_text), "")

    def _is_echo(self, claim: DraftClaim) -> bool:
        claim_stems = key_stems(claim.statement)
        return bool(claim_stems) and any(
            claim_stems <= stems and denies == is_negated(claim.statement) for stems, denies in self._shown_stems
        )

    def _is_from_others(self, about: str, words: Sequence[Record]) -> bool:
        """Return whether only people other than the subject say so. Only the owner may lack a name."""
        owned = {OWNER, "user", "the user", (self._owner or OWNER).casefold()}
        subject_names = owned if about.casefold() in owned else {about.casefold()}
        people = [self._speaker(record).casefold() for record in words if _is_person(record)]
        return bool(people) and not subject_names.intersection(people)

    def _speaker(self, record: Record) -> str:
        message = record.message
        if message.role is Role.USER:
            return message.name or self._owner or OWNER
        return message.name or str(message.role)

    def _speakers(self) -> list[str]:
        return [self._speaker(record) for record in self._records.values() if _is_person(record)]


def plain(text: str) -> str:
    """Return a text normalized for comparing quotes: composed letters, and single spaces."""
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


def _splits(text: str, position: int) -> bool:
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    return before.isascii() and after.isascii() and before.isalnum() and after.isalnum()


def _is_person(record: Record) -> bool:
    return record.message.role is Role.USER and record.message.origin == "user"


def _forget_problem(words: Sequence[Record]) -> ClaimProblem | None:
    """Return who else makes a request to forget: only a person's own words can."""
    foreign = next((record for record in words if not _is_person(record)), None)
    if foreign is None:
        return None
    return ClaimProblem(ClaimReason.NOT_FROM_USER, f"message {foreign.number} is not a person's own words")


def _is_from_tool(record: Record) -> bool:
    """Return whether a message comes from a tool or a document."""
    return rank(Origin(record.message.origin or "import")) < rank(Origin("import"))


def _about(name: str) -> str:
    return "" if name.casefold() in (OWNER, "user", "the user") else name


def _key_stems(text: str) -> tuple[frozenset[str], bool]:
    words = words_of(text)
    return frozenset((*words, *map(stem, words))), is_negated(text)
