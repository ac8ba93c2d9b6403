"""Claims of a model. This module checks their shape, the validator their quotes, a second reading their meaning."""

import re
from collections.abc import Collection, Sequence
from dataclasses import field, replace
from datetime import datetime
from functools import cache
from typing import cast

from bethink.base.frozen import frozen
from bethink.errors import ModelResponseError
from bethink.memory.learning.extraction.answer import fields_of, loads, moment, slugify, span
from bethink.model.framing import has_frame_tags
from bethink.model.kinds import FactKind, Kind, kind_of
from bethink.model.reviews import ClaimChange
from bethink.model.rules import CLAIM_FLAGS
from bethink.model.text import JsonObject
from bethink.model.words import WORD

NOTE = "note"
"""The kind of a claim that stays in its session and becomes no fact."""
STANCES = ("said", "agreed", "reported", "planned")
KINDS = (*map(str, FactKind), NOTE)
MAX_CLAIMS = 200
_MAX_STATEMENT = 1_000
_MAX_NAME = 100
_MAX_KEY = 40
_MAX_KEY_WORDS = 4
_MAX_QUOTES = 20
_MAX_QUOTE = 2_000
_MAX_KNOWN = 10
FORGET_SCOPES = ("one", "person", "topic")
"""Extents of a request to forget: one statement, everything about a person, or a topic."""
_CHANGES = frozenset({ClaimChange.REPLACES, ClaimChange.CORRECTS, ClaimChange.ENDS, ClaimChange.FORGET})
_CLAIM_ID = re.compile(r"c([1-9]\d{0,3})")

_TEXT: JsonObject = {"type": "string"}
_NULLABLE: JsonObject = {"type": ["string", "null"]}


def _object(properties: JsonObject) -> JsonObject:
    return {
        "type": "object", "additionalProperties": False, "required": list(properties), "properties": properties
    }  # fmt: skip


def _list(items: JsonObject) -> JsonObject:
    return {"type": "array", "items": items}


def _claim(kinds: Sequence[str]) -> JsonObject:
    return _object(
        {
            "quotes": _list(_QUOTE),
            "statement": _TEXT,
            "about": _TEXT,
            "kind": {"enum": list(kinds)},
            "stance": {"enum": list(STANCES)},
            "scope": _NULLABLE,
            "slot": _NULLABLE,
            "happened": _NULLABLE,
            "since": _NULLABLE,
            "until": _NULLABLE,
            "op": {"enum": [str(change) for change in ClaimChange]},
            "known": _list(_TEXT),
            "earlier": _list(_TEXT),
            "rests_on": _list(_TEXT),
            "review": {"enum": [None, *CLAIM_FLAGS]},
        }
    )


@cache
def schema(*own: str) -> JsonObject:
    """Return the schema of an answer, with the kinds of a space. The result is cached."""
    claim = _claim([*KINDS, *own])
    return _object({"claims": _list(claim), "suspicious": _list({"type": "integer"}), "title": _NULLABLE})


_QUOTE = _object({"message": {"type": "integer"}, "text": _TEXT, "as": {"enum": ["word", "context"]}})


@frozen(kw_only=False)
class DraftQuote:
    """Words that a model claims to have copied from a message."""

    message: int
    text: str
    context: bool = False


@frozen
class DraftClaim:
    """A well-formed claim. `kind` is None for a note; `position` is its index in the answer.

    `fact_ids` are what it repeats or changes, `later_ids` what was said later and already changes it, and `base_ids`
    what it depends on: the ids of facts, and `c1`, `c2` and so on for claims of the same answer. `forget` is the extent
    of a request to forget.
    """

    statement: str
    kind: Kind | None
    quotes: tuple[DraftQuote, ...]
    about: str = ""
    stance: str = "said"
    scope: str | None = None
    slot: str | None = None
    happened: tuple[datetime | None, datetime | None] = (None, None)
    since: datetime | None = None
    until: datetime | None = None
    change: ClaimChange = ClaimChange.NEW
    fact_ids: tuple[str, ...] = ()
    later_ids: tuple[str, ...] = ()
    base_ids: tuple[str, ...] = ()
    forget: str | None = None
    review: str | None = None
    position: int = field(default=0, compare=False)

    @property
    def words(self) -> tuple[DraftQuote, ...]:
        """The quotes that support the claim."""
        return tuple(quote for quote in self.quotes if not quote.context)


@frozen
class ExtractionAnswer:
    """A model's claims, the messages it marked as suspicious, and the number of malformed claims."""

    claims: tuple[DraftClaim, ...] = ()
    suspicious: frozenset[int] = frozenset()
    slug: str = ""
    title: str = ""
    malformed: int = 0


def parse(text: str, own: Collection[str] = ()) -> ExtractionAnswer:
    """Parse an answer that is already redacted.

    `own` are kinds of the space. Raises `ModelResponseError` if the answer is invalid.
    """
    tree = loads(text)
    claims, suspicious, title = tree.get("claims"), tree.get("suspicious", []), tree.get("title")
    if not isinstance(claims, list) or not isinstance(suspicious, list) or not isinstance(title, str | None):
        raise ModelResponseError(
            "The answer needs `claims` (a list), `suspicious` (a list of numbers) and `title` (a text or null)."
        )
    entries = cast("list[object]", claims)
    drafts = [draft(entry, own) for entry in entries[:MAX_CLAIMS]]
    name = " ".join((title or "").split())
    return ExtractionAnswer(
        claims=tuple(replace(claim, position=position) for position, claim in enumerate(drafts) if claim is not None),
        suspicious=frozenset(number for number in cast("list[object]", suspicious) if type(number) is int),
        slug=slugify(name),
        title="" if has_frame_tags(name) else name[:_MAX_NAME],
        malformed=drafts.count(None) + max(0, len(entries) - MAX_CLAIMS),
    )


def draft(entry: object, own: Collection[str] = ()) -> DraftClaim | None:
    """Parse one claim; return None if it is malformed."""
    fields = fields_of(entry)
    statement, kind, quotes = fields.get("statement"), fields.get("kind"), _quotes(fields.get("quotes"))
    if not isinstance(statement, str) or (kind not in KINDS and kind not in own) or not quotes:
        return None
    text = " ".join(statement.split())
    if not text or len(text) > _MAX_STATEMENT or has_frame_tags(text):
        return None
    since, until = moment(fields.get("since")), moment(fields.get("until"), end=True)
    if since is not None and until is not None and until < since:
        since = until = None  # one of them is wrong, and there is no way to tell which
    fact_ids = _ids(fields.get("known"))
    change = _change(fields.get("op"), fact_ids)
    asks_to_forget = change is ClaimChange.FORGET
    if asks_to_forget:
        kind = FactKind.DETAIL  # it is a request, which has no kind
    return DraftClaim(
        statement=text,
        kind=None if kind == NOTE else kind_of(kind),
        quotes=quotes,
        about=_name(fields.get("about")),
        stance=cast("str", fields["stance"]) if fields.get("stance") in STANCES else "said",
        scope=None if asks_to_forget else _name(fields.get("scope")) or None,
        slot=_key(fields.get("slot")),
        happened=span(fields.get("happened")),
        since=since,
        until=until,
        change=change,
        fact_ids=fact_ids,
        later_ids=_ids(fields.get("earlier")),
        base_ids=_ids(fields.get("rests_on")),
        # A request has no scope of its own, so `scope` says what to forget; answers of older prompts say it apart.
        forget=_forget_scope(fields.get("forget") or fields.get("scope")) if asks_to_forget else None,
        review=cast("str", fields["review"]) if fields.get("review") in CLAIM_FLAGS else None,
    )


def claim_position(name: str) -> int | None:
    """Return the position of the claim that an id such as `c2` names; None for the id of a fact."""
    match = _CLAIM_ID.fullmatch(name)
    return None if match is None else int(match[1]) - 1


def _change(value: object, fact_ids: Sequence[str]) -> ClaimChange:
    """Return the effect of a claim. Without ids it may change something that is learned later, but repeats nothing."""
    if not isinstance(value, str) or value not in tuple(ClaimChange):
        return ClaimChange.NEW
    change = ClaimChange(value)
    return change if fact_ids or change in _CHANGES else ClaimChange.NEW


def _forget_scope(value: object) -> str:
    return value if isinstance(value, str) and value in FORGET_SCOPES else FORGET_SCOPES[0]


def _ids(value: object) -> tuple[str, ...]:
    return _texts(value)[:_MAX_KNOWN]


def _quotes(value: object) -> tuple[DraftQuote, ...]:
    if not isinstance(value, list) or len(cast("list[object]", value)) > _MAX_QUOTES:
        return ()
    quotes: list[DraftQuote] = []
    for item in cast("list[object]", value):
        fields = fields_of(item)
        message, text = fields.get("message"), fields.get("text")
        if type(message) is not int or not isinstance(text, str) or not 0 < len(text.strip()) <= _MAX_QUOTE:
            return ()
        quotes.append(DraftQuote(message, text.strip(), fields.get("as") == "context"))
    return tuple(dict.fromkeys(quotes))


def _texts(value: object) -> tuple[str, ...]:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return tuple(dict.fromkeys(item.strip() for item in items if isinstance(item, str) and item.strip()))


def _name(value: object) -> str:
    name = " ".join(value.split()) if isinstance(value, str) else ""
    return "" if len(name) > _MAX_NAME or has_frame_tags(name) else name


def _key(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    key = "_".join(WORD.findall(value.casefold().replace("_", " "))[:_MAX_KEY_WORDS])
    return key if 0 < len(key) <= _MAX_KEY else None
