"""Decides whether a check is in force: not over, not withdrawn, not replaced, and meant for this project."""

import posixpath
import re
from collections.abc import Collection, Sequence

from bethink.features.guard.acts import find_acts
from bethink.features.guard.check import NONE, ONCE, WITHDRAWS, CommandPattern, GuardCheck, UserStatement
from bethink.features.guard.files import is_below
from bethink.features.guard.read import read_statement
from bethink.features.guard.sentences import merge
from bethink.features.guard.sentences.binding import binding_of, is_temporary
from bethink.features.guard.sentences.mentions import find_mentions
from bethink.features.guard.tables import word_set

_STOP_WORDS = word_set(
    "again always never answer answers code commit commits file files from have into more only please that them "
    "then there "
    "these they this what when with without your about anything before after using used fine good said rule wieder "
    "jetzt nicht "
    "immer bitte darfst kannst mehr eine einen keine dateien datei antworten siempre nunca puedes para otra nuevo "
    "cuando tests "
    "will want want should does dont don't allowed forget vergiss olvida regel regla change edit touch run not for "
    "the you can may "
    "are was now the all any been back also either longer need ändern benutzen verwenden usar use mind changed idea"
)
UNCLEAR = "a later remark on the same subject"
_MAX_REMARK = 20
_LANGUAGE = re.compile(rf"\b(?:{'|'.join(merge('LANGUAGES'))})\b", re.IGNORECASE)
_EXCLUSIVE = frozenset({"answer-language"})


def reason_out_of_force(
    check: GuardCheck, statements: Sequence[UserStatement], *, cwd: str, at: str, this_session: Collection[str]
) -> str:
    """Return why a check does not apply now, or an empty text if it does.

    `statements` are all statements up to now, oldest first.
    """
    own = check.statement
    if own.project is not None and own.project not in cwd.split("/") and own.project != posixpath.basename(cwd):
        return "another project"
    if check.binds == ONCE and not _is_running(check, at, this_session):
        return "one-off, and over"
    position = next((i for i, statement in enumerate(statements) if statement.id == own.id), -1)
    for index, other in enumerate(statements):
        is_later = index > position if position >= 0 else other.at > own.at
        reason = _ended_by(check, other, is_later=is_later, this_session=this_session, cwd=cwd)
        if other.id != own.id and reason:
            return reason
    return ""


def _is_running(check: GuardCheck, at: str, this_session: Collection[str]) -> bool:
    if check.until:
        return at[: len(check.until)] < check.until
    return check.statement.id in this_session


def _ended_by(
    check: GuardCheck, other: UserStatement, *, is_later: bool, this_session: Collection[str], cwd: str
) -> str:
    own = check.statement
    if other.project is not None and other.project not in cwd.split("/"):
        return ""
    reading = read_statement(other)
    if own.who == "user" and other.who == "team":
        return ""
    if reading.binds == NONE:
        return UNCLEAR if is_later and _may_withdraw(check, other) else ""
    if reading.binds == WITHDRAWS:
        is_over = is_temporary(other.text) and other.id not in this_session
        return "withdrawn" if is_later and not is_over and is_about(check, other.text) else ""
    if reading.binds == ONCE and other.id not in this_session:
        return ""
    wins = is_later or (own.who == "team" and other.who == "user")
    return "replaced" if wins and reading.check is not None and conflicts(check, reading.check) else ""


def _may_withdraw(check: GuardCheck, other: UserStatement) -> bool:
    """Return True if a person said something else about the same program or path, which no pattern understands."""
    binds, text = binding_of(other)
    if binds == NONE or len(text.split()) > _MAX_REMARK:
        return False
    return any(_is_named(check, mention.text) for mention in find_mentions(text) if mention.kind in ("program", "path"))


def is_about(check: GuardCheck, text: str) -> bool:
    """Return True if a withdrawal is about the subject of a check."""
    mentions = [m for m in find_mentions(text) if m.kind != "code" or m.is_code]
    if mentions:
        return any(_is_named(check, mention.text) for mention in mentions)
    if check.act and check.act in {name for name, _ in find_acts(text)}:
        return True
    if check.shape == "answer-language" and _LANGUAGE.search(text):
        return True
    words = _content_words(text)
    own = _content_words(check.rule)
    return not words or bool({_stem(word) for word in words} & {_stem(word) for word in own})


def _is_named(check: GuardCheck, name: str) -> bool:
    lower = name.lower().rstrip("/")
    if any(is_below(name.rstrip("/"), path) or is_below(path.rstrip("/"), name) for path in check.paths):
        return True
    names = {lower, lower.split()[0]}
    return any(re.search(rf"(?<![\w-]){re.escape(item)}(?![\w-])", check.rule.lower()) for item in names)


def _content_words(text: str) -> set[str]:
    return {word for word in re.findall(r"[\w-]{4,}", text.lower()) if word not in _STOP_WORDS}


def _stem(word: str) -> str:
    return word[:-1] if word.endswith(("s", "n")) else word


def conflicts(check: GuardCheck, newer: GuardCheck) -> bool:
    """Return True if a newer check wants what an older one forbids, or the other way round."""
    if check.shape in _EXCLUSIVE and newer.shape == check.shape:
        return newer.value != check.value
    if _overlap(newer.good, check.bad) or _overlap(newer.bad, check.good):
        return True
    if check.shape != newer.shape:
        return False
    if check.shape == "required-path":
        return check.kinds == newer.kinds and check.paths != newer.paths
    if check.shape in ("limit", "answer-format", "commit-message") and check.limit is not None:
        return check.unit == newer.unit and newer.limit is not None and newer.limit != check.limit
    if check.shape == "required-flag" and check.flags:
        return check.good == newer.good and check.flags == newer.flags and check.value != newer.value
    return False


def _overlap(first: Sequence[CommandPattern], second: Sequence[CommandPattern]) -> bool:
    return any(a.program == b.program and (a.words == b.words or not a.words) for a in first for b in second)
