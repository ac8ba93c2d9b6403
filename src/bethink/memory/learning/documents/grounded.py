"""Check a paragraph of a page: it cites its facts, and adds no name, number or address that they lack."""

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
_FACT_LABEL = re.compile(r"f[0-9]+")
_LINK = re.compile(r"(?:\b\w{1,20}:?[ ])?\[\[[^\[\]\n]{1,500}\]\]")
"""A link, with the word before it, as in "See [[~/memory/mia]]"."""
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s)\]>\"'`]{1,500}|[^\s(<@]{1,64}@[^\s)>]{1,200}", re.IGNORECASE)
_POINT = re.compile(r"\s*(?:[-*+]|[0-9]{1,3}[.)])\s+")
_LEAD = re.compile(r"^(?:\s*[-*+])?\s*[*_]{0,2}[\w ]{1,30}[*_]{0,2}:(?=\s)")
"""The topic at the beginning of a paragraph, as in "Code: tabs"."""
_BLOCK = re.compile(r"\n[ \t]*\n")
_MAX_QUOTE = 80
_MAX_REFUSALS = 10
_OWN_SHARE = 0.5
_OWN_SHARE_OF_PARAGRAPH = 0.7
_MAX_OWN_WORDS = 3
_MAX_OWN_PATH_WORDS = 2
"""Number of words of its own that a path may always have."""
_DAY = timedelta(days=1)


@frozen(kw_only=False)
class CheckedBody:
    """A body without its labels, and the facts it cites; `refusal` is the problem with the body, if any."""

    body: str
    facts: tuple[Fact, ...] = ()
    refusal: str | None = None


def paragraphs(body: str) -> list[str]:
    """Return the paragraphs of a body."""
    return [part.strip("\n") for part in _BLOCK.split(body.strip()) if part.strip()]


def check_body(body: str, by_label: Mapping[str, Fact], *, allowed_texts: Sequence[str] = ()) -> CheckedBody:
    """Check every paragraph and every list item. A paragraph may also use the words of `allowed_texts`."""
    if len(body) > MAX_BODY:
        return CheckedBody(
            body, refusal=f"Refused: the body is longer than {MAX_BODY} characters. Split it into pages."
        )
    blocks: list[str] = []
    cited: dict[str, Fact] = {}
    refused: list[str] = []
    for paragraph in paragraphs(body):
        lines: list[str] = []
        for unit in units(paragraph):
            facts, refusal = _facts_of(unit, by_label)
            refusal = refusal or _content_refusal(unit, facts, allowed_texts)
            refused += [] if refusal is None else [refusal]
            cited |= {fact.id: fact for fact in facts}
            lines.append(_LABEL.sub("", unit))
        blocks.append("\n".join(lines))
    if refused:
        return CheckedBody(body, refusal="\n".join(refused[:_MAX_REFUSALS]))
    return CheckedBody("\n\n".join(blocks), tuple(cited.values()))


def heading_refusal(
    title: str, description: str, body: str, facts: Sequence[Fact], allowed_texts: Sequence[str]
) -> str | None:
    """Return why a title or a description is refused: its page lacks the words. None if accepted."""
    text = f"{title}. {description}"
    refusal = _unsupported_content(
        text.lower(), facts, [*allowed_texts, body]
    )  # a title has words of its own, so capitals tell nothing
    own, words = _own_words(text, facts, [*allowed_texts, body])
    # Titles and descriptions are in the index, which any prompt may begin with.
    if refusal is None and len(own) > _OWN_SHARE * len(words):
        refusal = f"the page does not say: {', '.join(own[:5])}"
    return None if refusal is None else f"Refused: in the title or description, {refusal}."


def path_refusal(name: str, facts: Sequence[Fact], allowed_texts: Sequence[str]) -> str | None:
    """Return why the path of a new page is refused: its facts lack the words. None if it only names a topic."""
    own, _ = _own_words(name, facts, allowed_texts)
    return f"Refused: the path says {', '.join(own)}, which no fact does." if len(own) > _MAX_OWN_PATH_WORDS else None


def _own_words(text: str, facts: Sequence[Fact], allowed_texts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the words of a text that neither facts nor allowed texts have, and all words that carry meaning."""
    words = key_words(text)
    stems = {stem(word) for source in (*_fact_texts(facts), *allowed_texts) for word in words_of(source)}
    return [word for word in words if stem(word) not in stems], words


def units(paragraph: str) -> list[str]:
    """Return list items one by one, and any other paragraph or heading as one unit."""
    result: list[str] = []
    for line in paragraph.splitlines():
        if result and not _POINT.match(line) and not line.startswith("#") and not result[-1].startswith("#"):
            result[-1] += f"\n{line}"
        else:
            result.append(line)
    return result


def split_point(unit: str) -> tuple[str, str]:
    """Split a list item into its marker and its text; the marker of any other text is empty."""
    end = _text_start(unit)
    return unit[:end], unit[end:]


def without_labels(text: str) -> str:
    """Return a text without the labels of facts."""
    return _LABEL.sub("", text)


def _facts_of(unit: str, by_label: Mapping[str, Fact]) -> tuple[list[Fact], str | None]:
    labels = [label for group in _LABEL.findall(unit) for label in _FACT_LABEL.findall(group)]
    unknown = [label for label in labels if label not in by_label]
    if unknown:
        return [], f"Refused: there is no fact {unknown[0]}, named in: {_quote(unit)}"
    if not labels and not unit.startswith("#"):
        return [], f"Refused: no fact is named in: {_quote(unit)} End it with the labels of its facts, as [f1]."
    return [by_label[label] for label in labels], None


def _content_refusal(unit: str, facts: Sequence[Fact], allowed_texts: Sequence[str]) -> str | None:
    heading = unit.startswith("#")
    text = _LEAD.sub("", _LINK.sub(" ", _LABEL.sub("", unit)))
    reason = _unsupported_content(text, [] if heading else facts, allowed_texts)
    if reason is None and not heading:
        own, words = _own_words(text, facts, allowed_texts)
        if len(own) > max(_MAX_OWN_WORDS, _OWN_SHARE_OF_PARAGRAPH * len(words)):
            reason = f"the facts named there do not say: {', '.join(own[:5])}"
    return (
        None if reason is None or (heading and not _ADDRESS.search(text)) else f"Refused: {reason}, in: {_quote(unit)}"
    )


def _unsupported_content(text: str, facts: Sequence[Fact], allowed_texts: Sequence[str]) -> str | None:
    texts = _fact_texts(facts)
    everything = "\n".join((*texts, *allowed_texts)).casefold()
    address = next(
        (candidate for candidate in _ADDRESS.findall(text) if candidate.rstrip(".,;:").casefold() not in everything),
        None,
    )
    if address is not None:
        return f"no fact named there has {address[:_MAX_QUOTE]}"
    days = [f"{day.year} {day.month} {day.day}" for fact in facts for day in _days(fact)]
    allowed_numbers = {value for item in (*texts, *allowed_texts, *days) for value in numbers_in(item)}
    runs = number_runs("\n".join(line[_text_start(line) :] for line in text.splitlines()))
    numbers = [
        str(number)
        for number, *groups in runs
        if number not in allowed_numbers and not all(item in allowed_numbers for item in groups)
    ]
    if numbers:
        return f"no fact named there has {', '.join(numbers[:3])}"
    names = Ground([*texts, *allowed_texts]).foreign_names(text)
    return f"no fact named there has {', '.join(names[:3])}" if names else None


def _text_start(line: str) -> int:
    """Return where the text of a line begins after a list marker. A number at its end, as in "in 2020.", is none."""
    match = _POINT.match(line)
    return 0 if match is None else match.end()


def _days(fact: Fact) -> list[datetime]:
    """Return the days of a fact, and the day before each: a period ends where the next one begins."""
    moments = (fact.event_from, fact.event_to, fact.valid_from, fact.valid_to, fact.created_at)
    return [
        day
        for moment in moments
        if moment is not None
        for day in (moment, moment - _DAY if moment.year > 1 else moment)
    ]


def _fact_texts(facts: Sequence[Fact]) -> list[str]:
    return [
        text for fact in facts for text in (fact.text, fact.speaker, fact.subject, fact.scope, *fact.entities) if text
    ]


def _quote(text: str) -> str:
    line = " ".join(text.split())
    return f'"{line}"' if len(line) <= _MAX_QUOTE else f'"{line[:_MAX_QUOTE].rpartition(" ")[0] or line[:_MAX_QUOTE]}…"'
