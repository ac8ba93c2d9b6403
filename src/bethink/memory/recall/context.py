"""Build the context block for a prompt. Its bytes stay the same until memory changes."""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.extend import Tokens
from bethink.memory.recall.context_builder import BlockBuilder
from bethink.memory.recall.context_lines import frame_sections, pending_line, start_of, write_block
from bethink.memory.recall.context_sources import COMING, ContextSources
from bethink.memory.recall.status import StatusMark
from bethink.memory.recall.tuning import TUNING
from bethink.model.facts import SourceMessage
from bethink.model.moments import EPOCH, to_micros
from bethink.model.recall import Certainty, ContextBlock, Match
from bethink.model.refs import Ref
from bethink.model.rules import is_directive
from bethink.store.search import Text

PREFERENCES = "What the user wants"
PINNED = "Pinned"


@frozen
class BlockLimits:
    """The budget of a block, and the question that it answers."""

    budget: int
    has_question: bool = False
    words: Collection[str] = ()
    """The stems of the question, by which a long answer is cut."""


class _Section(NamedTuple):
    heading: str
    texts: Sequence[Text]
    reserved_share: float
    """The share of the budget that earlier sections leave for it."""


def build_block(
    sources: ContextSources, answers: Sequence[Match], *, limits: BlockLimits, tokens: Tokens, citations: bool
) -> ContextBlock:
    """Build a block: answers, preferences, pinned and known facts, coming events, notes, documents, sessions.

    Answers take what the other sections do not need, and at least a guaranteed share. They are added by rank until
    their share is used, and then sorted by time. Openings and summaries of sessions are listed only without answers.
    """
    answers = _without_outdated(answers, sources)
    frame = frame_sections(pending_line(sources.pending), citations=citations)
    builder = BlockBuilder(
        _with_marks_of(answers, sources),
        budget=limits.budget - tokens.count(frame),
        tokens=tokens,
        citations=citations,
    )
    preferences = sorted(
        [*filter(_is_instruction, sources.facts), *sources.stated.current], key=lambda text: (-text.at, text.ref.parts)
    )
    known = [fact for fact in sources.facts if not _is_instruction(fact)]
    coming = [fact for fact in known if _comes_up(fact, sources.now)]
    sections = [
        _Section("What is known", [fact for fact in known if fact not in coming], 0.0),
        _Section("Coming up", sorted(coming, key=_start_key), TUNING.coming_reserved),
        _Section("Assistant notes", sources.notes, TUNING.notes_reserved),
        _Section("Documents", sources.documents, TUNING.documents_reserved),
    ]
    if answers:
        others = [_Section(PINNED, sources.pinned, 0.0), *sections]
        builder.add_answers(answers, until=_share_of_answers(builder, preferences, others), words=limits.words)
    builder.add_section(PREFERENCES, preferences, until=builder.spent + TUNING.preferences_until)
    builder.add_section(PINNED, sources.pinned, until=1.0)
    if not limits.has_question:
        sections.append(_Section("Last session", sources.last, TUNING.sessions_reserved))
        sections.append(_Section("Earlier sessions", sources.sessions, TUNING.sessions_reserved))
    for index, section in enumerate(sections):
        reserved = sum(later.reserved_share for later in sections[index + 1 :] if later.texts)
        texts = section.texts if section.texts is not sources.sessions else builder.with_new_lines(section.texts)
        builder.add_section(section.heading, texts, until=1 - reserved)
    items = builder.items_in_order()
    if not items:
        return ContextBlock()
    text = write_block(items, space=sources.space, citations=citations, pending=sources.pending)
    digest = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return ContextBlock(text=text, tokens=tokens.count(text), items=tuple(items), digest=digest)


def _without_outdated(answers: Sequence[Match], sources: ContextSources) -> list[Match]:
    """Return the answers without what another one replaced, and without weak ones that have a section of their own."""
    answer_refs = {item.ref for item in answers}
    # A fact that is always shown keeps its section, instead of becoming a weak match.
    always = {text.ref for text in (*filter(_is_instruction, sources.facts), *sources.pinned, *sources.stated.current)}
    former = {text.text for text in sources.stated.replaced}
    return [
        item
        for item in answers
        if item.replaced_by not in answer_refs
        and item.text.strip() not in former
        and not (item.certainty is Certainty.WEAK and item.ref in always)
    ]


def _share_of_answers(builder: BlockBuilder, preferences: Sequence[Text], others: Sequence[_Section]) -> float:
    """Return the share of the budget for answers: what other sections do not need, and at least a guaranteed share."""
    preferred = builder.share_of(PREFERENCES, preferences, until=TUNING.preferences_until)
    needed = preferred + sum(builder.share_of(section.heading, section.texts, until=1.0) for section in others)
    return max(min(TUNING.answers_until, TUNING.preferences_and_answers_until - preferred), 1 - needed)


def _with_marks_of(answers: Sequence[Match], sources: ContextSources) -> ContextSources:
    """Return the sources with what is known about the answers: what replaced them, and what is confidential."""
    superseded = {item.ref: item.replaced_by for item in answers if item.replaced_by is not None}
    marks = {
        item.ref: StatusMark(item.status, item.because_of, item.because_text)
        for item in answers
        if item.status is not None
    }
    confidential_answers = {SourceMessage(item.ref.id, item.ref.number) for item in answers if item.confidential}
    return replace(
        sources,
        superseded={**sources.superseded, **superseded},
        marks={**sources.marks, **marks},
        confidential=confidential_answers.union(sources.confidential),
    )


def _is_instruction(fact: Text) -> bool:
    # Only a direct statement of a user may instruct an agent.
    return fact.fact is not None and is_directive(fact.fact.kind) and fact.origin == "user"


def _comes_up(fact: Text, now: datetime) -> bool:
    start = None if fact.fact is None else start_of(fact.fact)
    return start is not None and now <= start and to_micros(start) <= to_micros(now) + COMING // _MICROSECOND


_MICROSECOND = timedelta(microseconds=1)


def _start_key(fact: Text) -> tuple[int, Ref]:
    start = None if fact.fact is None else start_of(fact.fact)
    return to_micros(start or EPOCH), fact.ref
