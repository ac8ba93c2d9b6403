"""limit: a highest number of files per commit, lines per file, or questions per answer."""

import re

from bethink.features.guard.acts import performs
from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.commands import has_flag, positionals, subcommand
from bethink.features.guard.events import ANSWER, CHANGE, COMMAND
from bethink.features.guard.languages import is_code, prose_of
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.sentences.numbers import limit_of
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_ONE_QUESTION = re.compile(
    r"\bone question at a time\b|\bonly one question\b|\ba single question\b|\bnur eine frage\b|\beine frage "
    r"(?:auf einmal|"
    r"nach der anderen|pro)\b|\b(?:solo|sólo) una pregunta\b|\buna pregunta a la vez\b|\bone question per\b",
    re.IGNORECASE,
)
_FILE_WORD = re.compile(r"\bfiles?\b|\w*datei\w*|\barchivos?\b|\bficheros?\b|\bmodules?\b", re.IGNORECASE)


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for "at most ten files per commit" and similar limits."""
    text = sentence.text
    if _ONE_QUESTION.search(text):
        return make_check("limit", sentence, limit=1, unit="questions")
    questions = limit_of(text, "questions")
    if questions is not None:
        return make_check("limit", sentence, limit=questions, unit="questions")
    lines = limit_of(text, "lines")
    if lines is not None and _FILE_WORD.search(text):
        return make_check("limit", sentence, limit=lines, unit="lines")
    files = limit_of(text, "files") if has("per_commit", text) else None
    if (
        files is None
        and has("per_commit", text)
        and (match := re.search(r"\b(?:than|als|de)\s+(\w+)\s+(?:files|dateien)", text))
    ):
        files = limit_of(f"at most {match[1]} files", "files")
    return make_check("limit", sentence, limit=files, unit="files") if files is not None else None


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge what the event lets one count; unknown otherwise."""
    event, limit = moment.event, check.limit or 0
    if check.unit == "questions" and event.kind == ANSWER:
        count = len(re.findall(r"\?(?=\s|$|[\"')\]])", prose_of(event.text)))
        return _verdict(count, limit, "questions") if count else NOT_CONCERNED
    if check.unit == "lines" and event.kind in (CHANGE, COMMAND):
        return _judge_lines(moment, limit)
    if check.unit == "files" and event.kind == COMMAND:
        return _judge_files(moment, limit)
    return NOT_CONCERNED


def _verdict(count: int, limit: int, unit: str) -> GuardVerdict:
    return GuardVerdict(
        result=BREACHED if count > limit else OBEYED, matched=f"{count} {unit}", instead=f"at most {limit}"
    )


def _judge_lines(moment: Moment, limit: int) -> GuardVerdict:
    result = NOT_CONCERNED
    for change in moment.event.changes:
        if not is_code(change.path) or change.kind not in ("add", "edit"):
            continue
        verdict = _verdict(len(change.added), limit, "lines")
        if verdict.result == BREACHED:
            return verdict
        if change.is_complete:
            result = verdict
    return result


def _judge_files(moment: Moment, limit: int) -> GuardVerdict:
    staged: list[str] = []
    is_visible = True
    for command in moment.event.script.commands:
        if command.program == "git" and subcommand(command) == "add":
            names = positionals(command)[1:]
            is_bulk = has_flag(command, ("--all", "-u", "--update")) or any(_is_bulk(name) for name in names)
            is_visible = is_visible and command.is_literal and not is_bulk
            staged.extend(names)
        if not performs("commit", command):
            continue
        names = [*staged, *positionals(command)[1:]]
        unique = len({name for name in names if "*" not in name and name not in (".", "..")})
        if unique > limit:
            return _verdict(unique, limit, "files")
        if not is_visible or has_flag(command, ("--all",)) or not names:
            return GuardVerdict(result=UNKNOWN, matched=str(command))
        return _verdict(unique, limit, "files")
    return NOT_CONCERNED


def _is_bulk(name: str) -> bool:
    return name in (".", "..", "*") or name.endswith("/") or "*" in name or "." not in name.rsplit("/", 1)[-1]


SHAPE = Shape(name="limit", order=18, parse=parse, judge=judge)
