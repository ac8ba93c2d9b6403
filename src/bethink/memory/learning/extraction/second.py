"""The second pass: a model checks the claims against the messages they quote."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import cast

from bethink.base.frozen import frozen
from bethink.errors import ModelResponseError
from bethink.memory.learning.extraction.answer import fields_of, loads
from bethink.memory.learning.extraction.request import Scene, dated_lines, known_facts, short_id
from bethink.memory.learning.extraction.validation import CheckedClaim, ClaimReason
from bethink.model.facts import Fact
from bethink.model.framing import has_frame_tags, inert
from bethink.model.records import Record, Role
from bethink.model.reviews import ClaimChange
from bethink.model.text import JsonObject

VERDICTS = (
    ClaimReason.DENIED,
    ClaimReason.OTHER_PERSON,
    ClaimReason.QUOTED_OR_SUPPOSED,
    ClaimReason.NO_LONGER,
    ClaimReason.UNCLEAR,
)
FIXED, PROOF = "fixed", "proof"
"""Entries that go with a confirmed claim: the corrected sentence, and the words of a message that settle a doubt."""
_BECAUSE = "because"
_MARKED_CHANGES = (ClaimChange.REPLACES, ClaimChange.CORRECTS, ClaimChange.ENDS, ClaimChange.FORGET)
_MAX_REASON = 200
_MAX_NEIGHBOR = 120
_MAX_STATEMENT = 1_000
_MAX_PROOF = 500
_TEXT: JsonObject = {"type": "string"}
_ENTRY: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claim", "verdict", "text"],
    "properties": {"claim": _TEXT, "verdict": {"enum": [*map(str, VERDICTS), FIXED, PROOF]}, "text": _TEXT},
}
SCHEMA: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "required": ["said", "others"],
    "properties": {"said": {"type": "array", "items": _TEXT}, "others": {"type": "array", "items": _ENTRY}},
}


@frozen(kw_only=False)
class Verdict:
    """A reader's verdict: `reason` is None for a confirmed claim.

    A confirmed claim may have a corrected sentence in `fixed`, and in `proof` words of a message that settle its doubt.
    """

    reason: ClaimReason | None
    because: str = ""
    fixed: str | None = None
    proof: str = ""


def request(
    claims: Sequence[CheckedClaim], records: Mapping[int, Record], scene: Scene, existing: Sequence[Fact] = ()
) -> str:  # fmt: skip
    """Write the request: the existing facts that claims name, the quoted messages with their neighbors, and the claims.

    Each claim lists its doubt: words around its quotes that may change their meaning, or what no message says.
    """
    named_ids = {fact_id for checked in claims for fact_id in _named_ids(checked)}
    named = [fact for fact in existing if fact.id in named_ids]
    ids = {fact.id: short_id(position) for position, fact in enumerate(named)}
    quoted = {quote.number for checked in claims for quote in checked.quotes}
    shown = [records[number] for number in sorted(_with_neighbors(quoted, records)) if number in records]
    return "\n".join(
        [
            *([known_facts(named, scene.zone)] if named else []),
            "<messages>",
            *dated_lines(shown, scene, full=quoted, max_length=_MAX_NEIGHBOR),
            "</messages>",
            "<claims>",
            *(_claim(checked, ids) for checked in claims),
            "</claims>",
        ]
    )


def _with_neighbors(quoted: Collection[int], records: Mapping[int, Record]) -> set[int]:
    """Add the message before each quoted one, and the next message of a person, in which it may be taken back."""
    numbers = set(quoted)
    for number in quoted:
        numbers.add(number - 1)
        following = (number + 1, number + 2)
        numbers.update(
            [later for later in following if later in records and records[later].message.role is Role.USER][:1]
        )
    return numbers


def merge_verdicts(verdicts: Sequence[Verdict], again: Mapping[int, Verdict]) -> list[Verdict]:
    """Merge two readings: a claim that was read `again` must be confirmed both times, and has the second proof."""
    merged = list(verdicts)
    for position, verdict in again.items():
        confirmed = replace(verdicts[position], proof=verdict.proof)
        merged[position] = confirmed if verdict.reason is None else verdict
    return merged


def parse(text: str, count: int) -> list[Verdict]:
    """Parse the verdicts on `count` claims, by position; a claim without one is unclear. Raises `ModelResponseError`.

    A claim keeps its position, whichever claims are read with it: an answer that was recorded before a crash refers to
    the same claims after it.
    """
    tree = loads(text)
    confirmed, others = tree.get("said"), tree.get("others")
    if not isinstance(confirmed, list) or not isinstance(others, list):
        raise ModelResponseError("The answer needs the lists `said` and `others`.")
    accepted = {item for item in cast("list[object]", confirmed) if isinstance(item, str)}
    texts: dict[tuple[str, str], str] = {}
    rejected: dict[str, str] = {}
    for name, verdict, text_of_entry in map(_parse_entry, cast("list[object]", others)):
        if verdict in (FIXED, PROOF):
            texts[name, verdict] = text_of_entry
        else:
            rejected[name], texts[name, _BECAUSE] = verdict, text_of_entry
    return [_verdict(name, accepted, rejected, texts) for name in map(claim_id, range(count))]


def claim_id(position: int) -> str:
    """Return the short id of the claim at a position of the answer."""
    return f"c{position + 1}"


def _verdict(
    name: str, accepted: Collection[str], rejected: Mapping[str, str], texts: Mapping[tuple[str, str], str]
) -> Verdict:
    if name in rejected:  # a claim that is also in `said` is not confirmed beyond doubt
        reason = ClaimReason(rejected[name]) if rejected[name] in VERDICTS else ClaimReason.UNCLEAR
        return Verdict(reason, inert(texts[name, _BECAUSE], limit=_MAX_REASON))
    if name not in accepted:
        return Verdict(ClaimReason.UNCLEAR, "the second pass has no verdict on it")
    return Verdict(None, fixed=_sentence(texts.get((name, FIXED), "")), proof=texts.get((name, PROOF), "")[:_MAX_PROOF])


def _parse_entry(entry: object) -> tuple[str, str, str]:
    fields = fields_of(entry)
    name, verdict, text = (
        value if isinstance(value, str) else "" for value in map(fields.get, ("claim", "verdict", "text"))
    )
    return name, verdict, text


def _sentence(value: str) -> str | None:
    text = " ".join(value.split())
    return text if 0 < len(text) <= _MAX_STATEMENT and not has_frame_tags(text) else None


def _named_ids(checked: CheckedClaim) -> tuple[str, ...]:
    return (*checked.claim.fact_ids, *checked.claim.later_ids)


def _claim(checked: CheckedClaim, ids: Mapping[str, str]) -> str:
    """Return the line of a claim: whom it is about, its kind, what it changes, its doubt, its quotes and its text."""
    claim = checked.claim
    changed = [name for name in map(ids.get, claim.fact_ids) if name]
    parts = [
        f"about {inert(claim.about) or 'no one'}",
        "note" if claim.kind is None else str(claim.kind),
        *([" ".join([claim.change, *changed])] if claim.change in _MARKED_CHANGES else []),
        *([f"doubt: {inert(checked.doubt, limit=_MAX_REASON)}"] if checked.doubt else []),
        f"[{', '.join(str(number) for number in dict.fromkeys(quote.number for quote in checked.quotes))}]",
    ]
    return f"{claim_id(claim.position)} {', '.join(parts)}: {inert(claim.statement)}"
