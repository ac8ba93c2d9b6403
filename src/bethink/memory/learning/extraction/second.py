"""The second reading: claims and the messages they quote are shown to a model again, which judges what they mean."""

from collections.abc import Mapping, Sequence
from typing import cast

from bethink.base.frozen import frozen
from bethink.errors import BadAnswer
from bethink.memory.learning.extraction.answer import fields_of, loads
from bethink.memory.learning.extraction.gate import Checked, ClaimReason
from bethink.memory.learning.extraction.request import Scene, line
from bethink.model.framing import inert, tagged
from bethink.model.records import Record
from bethink.model.text import JsonObject

VERDICTS = (
    ClaimReason.DENIED,
    ClaimReason.SOMEBODY_ELSES,
    ClaimReason.QUOTED_OR_SUPPOSED,
    ClaimReason.NO_LONGER,
    ClaimReason.UNCLEAR,
)
_LONGEST = 200
_NEIGHBOUR = 240
_MAX_STATEMENT = 1_000
_TEXT: JsonObject = {"type": "string"}
_OTHER: JsonObject = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claim", "verdict", "because"],
    "properties": {"claim": _TEXT, "verdict": {"enum": [str(each) for each in VERDICTS]}, "because": _TEXT},
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
    """What a reader found: None for said, with the corrected sentence if there is one, or why it does not stand."""

    reason: ClaimReason | None
    because: str = ""
    fixed: str | None = None


def request(
    claims: Sequence[Checked], records: Mapping[int, Record], scene: Scene, *, doubts: bool = False
) -> str:  # fmt: skip
    """Write the request: the quoted messages with their neighbours, and the claims. No notes, nothing else.

    With `doubts`, each claim says what around its quotes may turn their meaning.
    """
    quoted = {quote.number for checked in claims for quote in checked.quotes}
    around = {number + step for number in quoted for step in (-1, 0, 1)}
    shown = [
        text if number in quoted else _shortened(text)
        for number in sorted(around)
        if number in records and (text := line(records[number], scene, timed=False))
    ]
    lines = [_claim(checked, doubts=doubts) for checked in claims]
    return "\n".join(["<messages>", *shown, "</messages>", "<claims>", *lines, "</claims>"])


def closer(verdicts: Sequence[Verdict], again: Mapping[int, Verdict]) -> list[Verdict]:
    """Return the verdicts, where what was read `again` must have been found said both times."""
    return [
        again[place] if place in again and again[place].reason is not None else verdict
        for place, verdict in enumerate(verdicts)
    ]


def parse(text: str, count: int) -> list[Verdict]:
    """Read the verdicts on the `count` claims of an answer, by place; one without is unclear. Raises `BadAnswer`.

    A claim keeps its place whatever else is read with it: an answer that was recorded before a crash means the same
    claims after it.
    """
    tree = loads(text)
    said, others, fixed = tree.get("said"), tree.get("others"), tree.get("fixed", [])
    if not isinstance(said, list) or not isinstance(others, list) or not isinstance(fixed, list):
        raise BadAnswer("the answer must have the lists said, others and fixed.")
    accepted = {each for each in cast("list[object]", said) if isinstance(each, str)}
    rejected = {name: fields for name, fields in map(_named, cast("list[object]", others)) if name}
    corrected = {name: _sentence(fields.get("statement")) for name, fields in map(_named, cast("list[object]", fixed))}
    return [_verdict(short_id(place), accepted, rejected, corrected) for place in range(count)]


def short_id(place: int) -> str:
    """Return the id by which a request names the claim at a place of the answer."""
    return f"c{place + 1}"


def _verdict(
    name: str, said: set[str], others: Mapping[str, Mapping[str, object]], fixed: Mapping[str, str | None]
) -> Verdict:
    if name in others:  # a claim in both lists is not said beyond doubt
        verdict, because = others[name].get("verdict"), others[name].get("because")
        reason = ClaimReason(cast("str", verdict)) if verdict in VERDICTS else ClaimReason.UNCLEAR
        return Verdict(reason, inert(because, limit=_LONGEST) if isinstance(because, str) else "")
    if name not in said:
        return Verdict(ClaimReason.UNCLEAR, "the second reading says nothing about it")
    return Verdict(None, fixed=fixed.get(name))


def _named(entry: object) -> tuple[str, Mapping[str, object]]:
    fields = fields_of(entry)
    name = fields.get("claim")
    return (name if isinstance(name, str) else ""), fields


def _sentence(value: object) -> str | None:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    return text if 0 < len(text) <= _MAX_STATEMENT and not tagged(text) else None


def _shortened(text: str) -> str:
    """Return both ends of a long neighbour, which is there only to be understood."""
    return text if len(text) <= _NEIGHBOUR else f"{text[: _NEIGHBOUR // 2]} […] {text[-_NEIGHBOUR // 2 :]}"


def _claim(checked: Checked, *, doubts: bool) -> str:
    claim = checked.claim
    doubt = f", doubt: {inert(checked.doubt, limit=_LONGEST)}" if doubts else ""
    numbers = ", ".join(str(number) for number in dict.fromkeys(quote.number for quote in checked.quotes))
    kind = "note" if claim.kind is None else str(claim.kind)
    head = f"{short_id(claim.place)} about {inert(claim.about) or 'no one'}, {kind}{doubt}, [{numbers}]"
    return f"{head}: {inert(claim.statement)}"
