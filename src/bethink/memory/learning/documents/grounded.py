"""Check a paragraph of a page: it names the facts it rests on, and says no name, number or address that they do not."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from bethink.base.frozen import frozen
from bethink.base.language.numbers import number_runs, numbers_in
from bethink.memory.learning.extraction.grounding import Ground
from bethink.model.documents import MAX_BODY
from bethink.model.facts import Fact
from bethink.model.words import key_words, stem, words_of

_LABEL = re.compile(r"\s*\[(f[0-9]{1,6}(?:[ ,;]+f[0-9]{1,6})*)\]")
_EACH = re.compile(r"f[0-9]+")
_LINK = re.compile(r"(?:\b\w{1,20}:?[ ])?\[\[[^\[\]\n]{1,500}\]\]")
"""A link, with the word before it, as in "See [[~/memory/mia]]"."""
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s)\]>\"'`]{1,500}|[^\s(<@]{1,64}@[^\s)>]{1,200}", re.IGNORECASE)
_POINT = re.compile(r"\s*(?:[-*+]|[0-9]{1,3}[.)])\s+")
_LEAD = re.compile(r"^(?:\s*[-*+])?\s*[*_]{0,2}[\w ]{1,30}[*_]{0,2}:(?=\s)")
"""What a paragraph begins with to say what it is about, as in "Code: tabs"."""
_BLOCK = re.compile(r"\n[ \t]*\n")
_QUOTED = 80
_MOST_REFUSALS = 10
_OWN_SHARE = 0.5
_OWN_OF_PARAGRAPH = 0.7
_FEW_OWN = 3
_FEW_OF_PATH = 2
"""So many words of its own any paragraph may have."""
_DAY = timedelta(days=1)


@frozen(kw_only=False)
class CheckedBody:
    """A body without its labels, with the facts it named; `refusal` says what is wrong with it, if anything is."""

    body: str
    facts: tuple[Fact, ...] = ()
    refusal: str | None = None


def paragraphs(body: str) -> list[str]:
    """Return the paragraphs of a body."""
    return [part.strip("\n") for part in _BLOCK.split(body.strip()) if part.strip()]


def checked(body: str, told: Mapping[str, Fact], *, known: Sequence[str] = ()) -> CheckedBody:
    """Check every paragraph and every point of a list. A paragraph may also name what is `known`."""
    if len(body) > MAX_BODY:
        return CheckedBody(
            body, refusal=f"Refused: the body is longer than {MAX_BODY} characters. Split it into pages."
        )
    kept: list[str] = []
    named: dict[str, Fact] = {}
    refused: list[str] = []
    for paragraph in paragraphs(body):
        lines: list[str] = []
        for unit in _units(paragraph):
            facts, refusal = _facts_of(unit, told)
            refusal = refusal or _foreign(unit, facts, known)
            refused += [] if refusal is None else [refusal]
            named |= {fact.id: fact for fact in facts}
            lines.append(_LABEL.sub("", unit))
        kept.append("\n".join(lines))
    if refused:
        return CheckedBody(body, refusal="\n".join(refused[:_MOST_REFUSALS]))
    return CheckedBody("\n\n".join(kept), tuple(named.values()))


def heading_refusal(title: str, description: str, body: str, facts: Sequence[Fact], known: Sequence[str]) -> str | None:
    """Return what a title or a description says that its page does not say; None if nothing."""
    text = f"{title}. {description}"
    refusal = _unsaid(text.lower(), facts, [*known, body])  # a title has words of its own, so capitals tell nothing
    own, words = _own_words(text, facts, [*known, body])
    # Titles and descriptions stand in the index that every prompt may begin with.
    if refusal is None and len(own) > _OWN_SHARE * len(words):
        refusal = f"the page does not say: {', '.join(own[:5])}"
    return None if refusal is None else f"Refused: in the title or description, {refusal}."


def path_refusal(name: str, facts: Sequence[Fact], known: Sequence[str]) -> str | None:
    """Return what the words of a new page's path say that its facts do not; None if they only name a topic."""
    own, _ = _own_words(name, facts, known)
    return f"Refused: the path says {', '.join(own)}, which no fact does." if len(own) > _FEW_OF_PATH else None


def _own_words(text: str, facts: Sequence[Fact], known: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of a text that neither facts nor what is known have, and all that carry meaning."""
    words = key_words(text)
    said = {stem(word) for each in (*_said(facts), *known) for word in words_of(each)}
    return [word for word in words if stem(word) not in said], words


def _units(paragraph: str) -> list[str]:
    """Return the points of a list one by one, and any other paragraph, or a heading, as one."""
    units: list[str] = []
    for line in paragraph.splitlines():
        if units and not _POINT.match(line) and not line.startswith("#") and not units[-1].startswith("#"):
            units[-1] += f"\n{line}"
        else:
            units.append(line)
    return units


def _facts_of(unit: str, told: Mapping[str, Fact]) -> tuple[list[Fact], str | None]:
    labels = [label for group in _LABEL.findall(unit) for label in _EACH.findall(group)]
    unknown = [label for label in labels if label not in told]
    if unknown:
        return [], f"Refused: there is no fact {unknown[0]}, named in: {_quoted(unit)}"
    if not labels and not unit.startswith("#"):
        return [], f"Refused: no fact is named in: {_quoted(unit)} End it with the labels of its facts, as [f1]."
    return [told[label] for label in labels], None


def _foreign(unit: str, facts: Sequence[Fact], known: Sequence[str]) -> str | None:
    heading = unit.startswith("#")
    text = _LEAD.sub("", _LINK.sub(" ", _LABEL.sub("", unit)))
    reason = _unsaid(text, [] if heading else facts, known)
    if reason is None and not heading:
        own, words = _own_words(text, facts, known)
        if len(own) > max(_FEW_OWN, _OWN_OF_PARAGRAPH * len(words)):
            reason = f"the facts named there do not say: {', '.join(own[:5])}"
    return (
        None if reason is None or (heading and not _ADDRESS.search(text)) else f"Refused: {reason}, in: {_quoted(unit)}"
    )


def _unsaid(text: str, facts: Sequence[Fact], known: Sequence[str]) -> str | None:
    said = _said(facts)
    everything = "\n".join((*said, *known)).casefold()
    address = next(
        (found for found in _ADDRESS.findall(text) if found.rstrip(".,;:").casefold() not in everything), None
    )
    if address is not None:
        return f"no fact named there has {address[:_QUOTED]}"
    days = [f"{day.year} {day.month} {day.day}" for fact in facts for day in _days(fact)]
    told = {value for each in (*said, *known, *days) for value in numbers_in(each)}
    runs = number_runs("\n".join(line[_point_of(line) :] for line in text.splitlines()))
    numbers = [str(whole) for whole, *groups in runs if whole not in told and not all(each in told for each in groups)]
    if numbers:
        return f"no fact named there has {', '.join(numbers[:3])}"
    names = Ground([*said, *known]).foreign_names(text)
    return f"no fact named there has {', '.join(names[:3])}" if names else None


def _point_of(line: str) -> int:
    """Return where a line begins after the mark of a list: a number at its end, as in "in 2020.", does not count."""
    found = _POINT.match(line)
    return 0 if found is None else found.end()


def _days(fact: Fact) -> list[datetime]:
    """Return the days of a fact, and the day before each: a period ends where the next one begins."""
    moments = (fact.happened_from, fact.happened_to, fact.valid_from, fact.valid_to, fact.created_at)
    return [day for each in moments if each is not None for day in (each, each - _DAY if each.year > 1 else each)]


def _said(facts: Sequence[Fact]) -> list[str]:
    return [
        text
        for fact in facts
        for text in (fact.content, fact.speaker, fact.subject, fact.scope, *fact.entities)
        if text
    ]


def _quoted(text: str) -> str:
    one = " ".join(text.split())
    return f'"{one}"' if len(one) <= _QUOTED else f'"{one[:_QUOTED].rpartition(" ")[0] or one[:_QUOTED]}…"'
