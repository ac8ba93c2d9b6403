"""Write the lines of a block of memory: what is said, about what time, by whom, how it is known, and its label."""

import re
from datetime import datetime, time, timedelta

from bethink.memory.recall.tuning import TUNING
from bethink.model.facts import Evidence, Fact
from bethink.model.framing import inert
from bethink.model.kinds import OwnKind
from bethink.model.moments import from_micros
from bethink.model.recall import RefKind
from bethink.model.rules import confidential, tells
from bethink.store.search import Text

_BRACKETS = re.compile(r"[(),\[\]]+")
_LONGEST_NAME = 60
_OWNERS = frozenset({"owner", "user", "the user"})


def line_of(text: Text, said: str, label: str, *, superseded: bool, space: str) -> str:
    """Return the line of a memory, given what is `said_in` it."""
    about = [text.name] if text.name and text.ref.kind is RefKind.MESSAGE else []
    if text.fact is not None:
        about += _about(text.fact, said=from_micros(text.at), space=space)
    if superseded:
        about.append("superseded" if text.ref.kind is RefKind.MESSAGE else "partly superseded")
    who = [*map(_plain, about), ":".join(map(_plain, text.origin.split(":"))), _day(from_micros(text.at))]
    return f"- {said} ({', '.join(who)}) [^{label}]"


def said_in(text: Text) -> str:
    """Return what a line says."""
    return inert(text.text, limit=TUNING.line_characters)


def begins(fact: Fact) -> datetime | None:
    """Return when what a fact is about happens or begins, if that is known."""
    return fact.valid_from if fact.happened_from is None else fact.happened_from


def _about(fact: Fact, *, said: datetime, space: str) -> list[str]:
    found: list[str] = [fact.kind] if isinstance(fact.kind, OwnKind) else []
    if tells(fact.kind):
        found += [_shortened(fact.speaker)] if fact.speaker and not _is_owners(fact, space) else []
        found += [f"scope: {_shortened(fact.scope)}"] if fact.scope else []
    if fact.happened_from is not None:
        first, last = _day(fact.happened_from), _last_day(fact.happened_to or fact.happened_from)
        found.append(f"on {first}" if last <= first else f"{first} to {last}")
    if fact.valid_from is not None and fact.valid_from > said:
        found.append(f"from {_day(fact.valid_from)}")
    if fact.valid_to is not None:
        found.append(f"until {_last_day(fact.valid_to)}")
    found += ["in confidence"] if confidential(fact) else []
    found += ["only quoted"] if fact.evidence is Evidence.QUOTED else []
    return found


def _is_owners(fact: Fact, space: str) -> bool:
    """Return whether a wish is that of the owner of the space, whose name it often has."""
    speaker = (fact.speaker or "").casefold()
    return fact.subject == "user" or speaker in _OWNERS or speaker == space.casefold()


def _shortened(name: str) -> str:
    return inert(name, limit=_LONGEST_NAME)


def _plain(name: str) -> str:
    if name.isascii() and name.isalnum():  # most are, and need not be looked at
        return name
    # A tool can choose its name so that its line seems to come from someone else.
    return " ".join(_BRACKETS.sub(" ", inert(name)).split())


def _day(at: datetime) -> str:
    return at.date().isoformat()


def _last_day(end: datetime) -> str:
    """Return the last day of a period: one that ends at midnight ended with the day before."""
    whole = end.time() == time() and end.year > 1
    return _day(end - timedelta(days=1) if whole else end)
