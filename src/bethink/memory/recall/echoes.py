"""Repeats of an assistant: a message that repeats what a person said in its session is as true as that."""

from collections.abc import Iterable

from bethink.base.language.numbers import numbers_in
from bethink.model.words import is_repeated, key_stems, stem, words_of
from bethink.store.learned_statements import LearnedStatement


def repeated(text: str, number: int, stated: Iterable[LearnedStatement]) -> list[LearnedStatement]:
    """Return the statements of a session, said before a message, that the message repeats best."""
    stems, numbers = {stem(word) for word in words_of(text)}, numbers_in(text)
    shares: list[tuple[float, LearnedStatement]] = []
    words: dict[int, frozenset[str]] = {}
    for statement in stated:
        meaning = key_stems(statement.text)
        if statement.source.number >= number or not is_repeated(meaning, stems):
            continue
        if numbers_in(statement.text) <= numbers:  # with another value, it says something else
            words[len(shares)] = meaning & stems
            shares.append((len(meaning & stems) / max(1, len(meaning)), statement))
    highest = max((share for share, _ in shares), default=0.0)
    best = {at for at, (share, _) in enumerate(shares) if share == highest}
    covered: set[str] = set()
    for at in best:
        covered |= words[at]
    # Another statement is repeated, too, if most of its words are not those of the best one.
    others = {at for at in words if at not in best and len(words[at] - covered) * 2 >= len(words[at])}
    return [statement for at, (_, statement) in enumerate(shares) if at in best | others]
