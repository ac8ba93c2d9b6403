"""The second pass: a model checks the claims against the messages they quote."""

from collections.abc import Mapping, Sequence
from typing import cast

from bethink.base.frozen import frozen
from bethink.errors import ModelResponseError
from bethink.memory.learning.extraction.answer import fields_of, loads
from bethink.memory.learning.extraction.request import Scene, line
from bethink.memory.learning.extraction.validation import CheckedClaim, ClaimReason
from bethink.model.framing import has_frame_tags, inert
from bethink.model.records import Record
from bethink.model.reviews import ClaimChange
from bethink.model.text import JsonObject

VERDICTS = (
    ClaimReason.DENIED,
    ClaimReason.OTHER_PERSON,
    ClaimReason.QUOTED_OR_SUPPOSED,
    ClaimReason.NO_LONGER,
    ClaimReason.UNCLEAR,
)
_CHANGES = (ClaimChange.REPLACES, ClaimChange.CORRECTS, ClaimChange.ENDS, ClaimChange.FORGET)
_MAX_REASON = 200
_MAX_NEIGHBOR = 240
_MAX_STATEMENT = 1_000
_TEXT: JsonObject = {"type": "string"}
_OTHER: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claim", "verdict", "because"],
    "properties": {"claim": _TEXT, "verdict": {"enum": [str(reason) for reason in VERDICTS]}, "because": _TEXT},
}
_FIXED: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claim", "statement"],
    "properties": {"claim": _TEXT, "statement": _TEXT},
}
SCHEMA: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "required": ["said", "others", "fixed"],
    "properties": {
        "said": {"type": "array", "items": _TEXT},
        "others": {"type": "array", "items": _OTHER},
        "fixed": {"type": "array", "items": _FIXED},
    },
}


@frozen(kw_only=False)
class Verdict:
    """A reader's verdict: `reason` is None for a confirmed claim, which may have a corrected sentence in `fixed`."""

    reason: ClaimReason | None
    because: str = ""
    fixed: str | None = None


def request(
    claims: Sequence[CheckedClaim], records: Mapping[int, Record], scene: Scene, *, doubts: bool = False
) -> str:  # fmt: skip
    """Write the request: the quoted messages with their neighbors, and the claims.

    With `doubts`, each claim lists the words around its quotes that may change their meaning.
    """
    quoted = {quote.number for checked in claims for quote in checked.quotes}
    around = {number + step for number in quoted for step in (-1, 0, 1)}
    messages = [
        text if number in quoted else _shorten(text)
        for number in sorted(around)
        if number in records and (text := line(records[number], scene, timed=False))
    ]
    lines = [_claim(checked, doubts=doubts) for checked in claims]
    return "\n".join(["<messages>", *messages, "</messages>", "<claims>", *lines, "</claims>"])


def merge_verdicts(verdicts: Sequence[Verdict], again: Mapping[int, Verdict]) -> list[Verdict]:
    """Merge two readings: a claim that was read `again` must be confirmed both times."""
    return [
        again[position] if position in again and again[position].reason is not None else verdict
        for position, verdict in enumerate(verdicts)
    ]


def parse(text: str, count: int) -> list[Verdict]:
    """Parse the verdicts on `count` claims, by position; a claim without one is unclear. Raises `ModelResponseError`.

    A claim keeps its position, whichever claims are read with it: an answer that was recorded before a crash refers to
    the same claims after it.
    """
    tree = loads(text)
    confirmed, others, fixed = tree.get("said"), tree.get("others"), tree.get("fixed", [])
    if not isinstance(confirmed, list) or not isinstance(others, list) or not isinstance(fixed, list):
        raise ModelResponseError("The answer needs the lists `said`, `others` and `fixed`.")
    accepted = {item for item in cast("list[object]", confirmed) if isinstance(item, str)}
    rejected = {name: fields for name, fields in map(_parse_entry, cast("list[object]", others)) if name}
    corrected = {
        name: _sentence(fields.get("statement")) for name, fields in map(_parse_entry, cast("list[object]", fixed))
    }
    return [_verdict(short_id(position), accepted, rejected, corrected) for position in range(count)]


def short_id(position: int) -> str:
    """Return the short id of the claim at a position of the answer."""
    return f"c{position + 1}"


def _verdict(
    name: str, accepted: set[str], others: Mapping[str, Mapping[str, object]], fixed: Mapping[str, str | None]
) -> Verdict:
    if name in others:  # a claim in both lists is not confirmed beyond doubt
        verdict, because = others[name].get("verdict"), others[name].get("because")
        reason = ClaimReason(cast("str", verdict)) if verdict in VERDICTS else ClaimReason.UNCLEAR
        return Verdict(reason, inert(because, limit=_MAX_REASON) if isinstance(because, str) else "")
    if name not in accepted:
        return Verdict(ClaimReason.UNCLEAR, "the second pass has no verdict on it")
    return Verdict(None, fixed=fixed.get(name))


def _parse_entry(entry: object) -> tuple[str, Mapping[str, object]]:
    fields = fields_of(entry)
    name = fields.get("claim")
    return (name if isinstance(name, str) else ""), fields


def _sentence(value: object) -> str | None:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text if 0 < len(text) <= _MAX_STATEMENT and not has_frame_tags(text) else None


def _shorten(text: str) -> str:
    """Return both ends of a long neighbor, which only gives context."""
    return text if len(text) <= _MAX_NEIGHBOR else f"{text[: _MAX_NEIGHBOR // 2]} […] {text[-_MAX_NEIGHBOR // 2 :]}"


def _claim(checked: CheckedClaim, *, doubts: bool) -> str:
    claim = checked.claim
    doubt = f", doubt: {inert(checked.doubt, limit=_MAX_REASON)}" if doubts else ""
    numbers = ", ".join(str(number) for number in dict.fromkeys(quote.number for quote in checked.quotes))
    kind = "note" if claim.kind is None else str(claim.kind)
    change = f", {claim.change}" if claim.change in _CHANGES else ""
    head = f"{short_id(claim.position)} about {inert(claim.about) or 'no one'}, {kind}{change}{doubt}, [{numbers}]"
    return f"{head}: {inert(claim.statement)}"
