"""Rank exchanges: a question lends its score to the reply, and an echo never outranks the statement it repeats.

A message that asks shares the words of the question, but the message after it has the answer. An acknowledgment such as
"Got it, the 9:40 train" repeats what the message before it states.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bethink.base.frozen import frozen
from bethink.base.language import terms_of
from bethink.memory.recall.candidates import Candidates, Key
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.signals.asks import AsksSignal, asks, only_asks
from bethink.memory.recall.signals.speaker import SpeakerSignal
from bethink.memory.recall.tuning import Tuning
from bethink.model.refs import RefKind
from bethink.store.search import Text

NAME = "exchange"
"""The name under which `explain` lists the changes."""


class Lent(NamedTuple):
    """A reply at `reply` that takes over a share of the score of the question at `source`."""

    reply: int
    source: int
    share: float


@frozen
class Exchanges:
    """The totals of the candidates after the exchanges among them are ranked, and which replies gained."""

    totals: Sequence[float]
    lent: Sequence[Lent]

    def lend(self, values: Sequence[float]) -> list[float]:
        """Return other values of the candidates, such as their similarities, with those of replies raised alike."""
        result = list(values)
        for reply, source, share in self.lent:
            result[reply] += share * max(0.0, values[source] - values[reply])
        return result

    def are_relevant(self, relevant: Sequence[bool]) -> list[bool]:
        """Return whether each candidate is relevant: the reply to a relevant question is."""
        result = list(relevant)
        for reply, source, _ in self.lent:
            result[reply] = result[reply] or relevant[source]
        return result


_GOES_ON = 2
"""Somebody who is answered goes on in the message after the next."""


def with_neighbors(keys: Sequence[Key], best: Sequence[int], tuning: Tuning) -> list[int]:
    """Return the positions in `best`, and those of the messages around the first of them."""
    around = [keys[index] for index in best[: tuning.exchanges]]
    positions = {key: index for index, key in enumerate(keys)}
    near = (
        positions.get((kind, session, number + step))
        for steps, some in (((-1, 1), around), ((_GOES_ON,), around[: tuning.going_on]))
        for kind, session, number in some
        if kind is RefKind.MESSAGE
        for step in steps
    )
    return list(dict.fromkeys([*best, *(index for index in near if index is not None)]))


def going_on(pool: Candidates, best: Sequence[int], tuning: Tuning) -> list[int]:
    """Return the positions of messages in which the speakers of the best go on, often without words of the matter."""
    positions = {key: index for index, key in enumerate(pool.keys)}
    result: list[int] = []
    for index in best[: tuning.going_on]:
        kind, session, number = pool.keys[index]
        after = positions.get((kind, session, number + _GOES_ON)) if kind is RefKind.MESSAGE else None
        if after is not None and _speaker(pool.texts[after]) == _speaker(pool.texts[index]):
            result.append(after)
    return result


def rank_exchanges(
    question: ParsedQuestion, pool: Candidates, totals: Sequence[float], factors: Mapping[str, Sequence[float]],
    tuning: Tuning,
) -> Exchanges:  # fmt: skip
    """Raise the totals of replies and of echoed statements, and lower those of echoes.

    `factors` has the values of the factors in the totals, by name. Only the best candidates and their neighbors change.
    """
    asking, speaker = factors[AsksSignal.name], factors[SpeakerSignal.name]
    # The score of a question without what it lost for asking, and for being said by another speaker than its reply.
    full = [total / (1 + tuning.asks * share) for total, share in zip(totals, asking, strict=True)]
    positions = {key: index for index, key in enumerate(pool.keys) if _is_current(pool, index)}
    share = {"user": tuning.exchange_of_user, "assistant": tuning.exchange_of_assistant}.get(
        question.role or "", tuning.exchange
    )
    result, lent = list(totals), list[Lent]()
    for source in _best(full, positions, tuning):
        kind, session, number = pool.keys[source]
        reply = positions.get((kind, session, number + 1)) if kind is RefKind.MESSAGE else None
        if reply is not None and answers(pool.texts[source], pool.texts[reply], question.language, tuning):
            said_by = (1 + tuning.speaker * speaker[reply]) / (1 + tuning.speaker * speaker[source])
            result[reply] += share * max(0.0, full[source] * said_by - totals[reply])
            lent.append(Lent(reply, source, share))
    for echo in _best(result, positions, tuning):
        kind, session, number = pool.keys[echo]
        stated = positions.get((kind, session, number - 1)) if kind is RefKind.MESSAGE else None
        asked_for = speaker[echo] > 0 and question.role != "user"  # such as "What did you say about the train?"
        if stated is not None and not asked_for and _is_echo(pool.texts[stated], pool.texts[echo], question, tuning):
            result[stated] = max(result[stated], result[echo])
            result[echo] *= 1 - tuning.echo
    return Exchanges(totals=result, lent=lent)


def answers(before: Text, reply: Text, language: str, tuning: Tuning) -> bool:
    """Return whether a message asks something short, and another speaker's next message states something."""
    return (
        len(before.text) <= tuning.exchange_characters
        and _speaker(before) != _speaker(reply)
        and asks(before, language)
        and not only_asks(reply, language, tuning)
    )


def _is_current(pool: Candidates, index: int) -> bool:
    return index not in pool.outdated and pool.texts[index].fate is None


def _best(totals: Sequence[float], positions: Mapping[Key, int], tuning: Tuning) -> list[int]:
    return sorted(positions.values(), key=lambda index: -totals[index])[: tuning.exchanges]


def _is_echo(stated: Text, echo: Text, question: ParsedQuestion, tuning: Tuning) -> bool:
    """Return whether a short message mostly repeats the words of another speaker's statement before it, or has none."""
    if len(echo.text) > tuning.echo_characters or _speaker(stated) == _speaker(echo):
        return False
    words = set(terms_of(echo.text))
    if len(words) > 1 and len(words.intersection(terms_of(stated.text))) < tuning.echo_share * len(words):
        return False
    return not asks(stated, question.language) and not asks(echo, question.language)


def _speaker(text: Text) -> tuple[str | None, str | None]:
    return text.role, text.name
