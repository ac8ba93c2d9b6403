"""Check the facts that a model claims against the messages it cites. Unproven claims are refused and counted."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from bethink.learning.extraction.answer import DraftFact
from bethink.model.proof import ENOUGH, REPORTING, Clause, Evidence, Statement, are_named, clause_of, proves, says
from bethink.model.records import Origin, Record
from bethink.model.rules import lowest, tells
from bethink.model.words import key_words, negated, stem

_SENTENCE = re.compile(r"[.!?\n]+")


class Refusal(StrEnum):
    """Why a claim was refused."""

    MALFORMED = "malformed"
    NO_SOURCE = "no_source"
    NOT_NEW = "not_new"
    UNPROVEN = "unproven"
    NOT_THE_USERS_WORD = "not_the_users_word"
    ECHO = "echo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """A claim whose sources exist and contain its words, with the least trusted of their origins."""

    draft: DraftFact
    origin: Origin


def prove(
    drafts: Sequence[DraftFact], records: Mapping[int, Record], *, start: int, shown: Sequence[str] = ()
) -> tuple[list[Proven], Counter[str]]:
    """Return the claims that the records prove, and the number of refused ones by reason.

    `start` is the number of the last record learnt from before; a claim must cite a newer one. `shown` is what memory
    showed to the session: an assistant that repeats it proves nothing.
    """
    shown_clauses = [clause_of(part) for text in shown for part in _SENTENCE.split(text)]
    proven: list[Proven] = []
    refused: Counter[str] = Counter()
    evidence: dict[int, Evidence] = {}
    for draft in drafts:
        if not draft.sources or any(number not in records for number in draft.sources):
            refused[Refusal.NO_SOURCE] += 1
            continue
        evidence |= {number: Evidence(records[number]) for number in draft.sources if number not in evidence}
        sources = [evidence[number] for number in draft.sources]
        reason = Refusal.NOT_NEW if draft.sources[-1] <= start else _refusal(draft, sources, shown_clauses)
        if reason is None:
            entities = tuple(name for name in draft.entities if are_named(name, sources))
            origin = lowest(each.origin for each in sources)
            proven.append(Proven(draft=replace(draft, entities=entities), origin=origin))
        else:
            refused[reason] += 1
    return proven, refused


def _refusal(draft: DraftFact, sources: Sequence[Evidence], shown: Sequence[Clause]) -> Refusal | None:
    statement = Statement(draft.statement, draft.kind, draft.valid_from, draft.valid_to)
    if not proves(statement, sources):
        return Refusal.NOT_THE_USERS_WORD if tells(draft.kind) else Refusal.UNPROVEN
    return Refusal.ECHO if shown and _repeats(statement, sources, shown) else None


def _repeats(statement: Statement, sources: Sequence[Evidence], shown: Sequence[Clause]) -> bool:
    """Return whether only an assistant states it, in the words that memory has shown to it."""
    users = [each for each in sources if each.origin == "user"]
    if lowest(each.origin for each in sources) != "assistant" or (users and says(statement, users, enough=ENOUGH)):
        return False
    wanted = {stem(word) for word in key_words(statement.text)} - REPORTING
    return any(wanted <= clause.words and clause.denies == negated(statement.text) for clause in shown)
