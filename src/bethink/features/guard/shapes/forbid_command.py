"""forbid-command: commands, flags and SQL statements that must not run."""

import re
from dataclasses import replace
from itertools import pairwise

from bethink.features.guard.acts import act_words, find_acts, performs
from bethink.features.guard.check import BREACHED, UNKNOWN, CommandPattern, GuardCheck, GuardVerdict
from bethink.features.guard.commands import flags_of, has_flag, is_help, matches_any, subcommand
from bethink.features.guard.events import COMMAND, TOOL
from bethink.features.guard.sentences.mentions import NamedWord, find, has
from bethink.features.guard.sentences.programs import FOLLOWING, SUBCOMMANDS
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check
from bethink.features.guard.shell import ShellCommand
from bethink.features.guard.tables import word_set

_SQL = re.compile(
    r"\b(?:DROP (?:TABLE|DATABASE|SCHEMA|INDEX|COLUMN|VIEW)|TRUNCATE(?: TABLE)?|DELETE FROM|ALTER TABLE|INSERT INTO|"
    r"UPDATE|DELETE|DROP|GRANT|VACUUM FULL)\b"
)
_SQL_CLIENTS = word_set(
    "psql mysql mariadb sqlite3 sqlite sqlcmd duckdb clickhouse-client clickhouse bq snowsql cockroach usql pgcli "
    "mycli "
    "litecli sqlplus isql trino presto spark-sql beeline d1 turso"
)
_SHELLS = word_set("sh bash zsh dash ksh ash fish")
_DOWNLOADERS = word_set("curl wget http https xh fetch aria2c lynx")
_BANNABLE = (
    *("force-push", "branch deletion", "amend", "rebase", "stash", "tests", "push", "commit", "deploy", "publish"),
    *("merge", "tag", "pull request", "delete", "build", "lint", "format", "migration", "cherry-pick"),
    "development server",
)
"""Acts that a sentence may ban, the more specific first."""
_ECHOES = word_set("echo printf grep egrep rg ag ack man sed awk")
_DOWNLOAD_PIPE = "a download piped into a shell"


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for a ban that names a program, a flag, an SQL statement or an act."""
    text = sentence.text
    if not has("negation", text) and not has("is_out", text):
        return None
    check = _ban(sentence)
    if check is None or not _CONDITIONS.search(text):
        return check
    return replace(check, is_conditional=True)


def _ban(sentence: RuleSentence) -> GuardCheck | None:
    text = sentence.text
    if has("download", text) and (has("pipe", text) or "|" in text) and re.search(r"\bshell|\bsh\b|\bbash\b", text):
        return make_check("forbid-command", sentence, value=_DOWNLOAD_PIPE)
    statements = tuple(dict.fromkeys(match[0].upper() for match in _SQL.finditer(text)))
    if statements:
        return make_check("forbid-command", sentence, phrases=statements, unit="sql")
    flags = [m for m in sentence.of_kind("flag") if m.polarity <= 0]
    programs = [m for m in sentence.of_kind("program") if m.polarity < 0]
    act = _banned_act(sentence, programs)
    if flags and not act and (mentions := sentence.of_kind("program")):
        bad = tuple(_with_flags(m, flags) for m in mentions)
        return make_check("forbid-command", sentence, bad=bad)
    if programs and not act:
        is_open = any(_is_narrower(text, m) for m in programs)
        return make_check("forbid-command", sentence, bad=tuple(m.pattern for m in programs), is_conditional=is_open)
    if flags and not act:
        return make_check("forbid-command", sentence, flags=tuple(m.text for m in flags))
    return make_check("forbid-command", sentence, act=act) if act else None


_BETWEEN = re.compile(
    r"\s*(?:,|/|or|and|nor|oder|und|y|o|ni)[\s,]*(?:(?:or|and|no|never|oder|und|kein|keine|nie|nunca|"
    r"ni)\s+)*",
    re.IGNORECASE,
)
_CONDITIONS = re.compile(
    r"\b(?:against|outside|during|while|except|unless|other than|apart from|besides|außer|während|gegen|excepto|"
    r"salvo|mientras|"
    r"contra|fuera de)\b|\b(?:on|in|to|for|auf|in der|en|im|für|para|gegen) (?:the )?(?:production|prod|staging|ci|"
    r"shared|"
    r"public|friday\w*|weekend\w*|produktion|producción|live|other people|someone else)\b|\b(?:if|when|wenn|falls|"
    r"si|cuando)\b",
    re.IGNORECASE,
)
"""Conditions that a command does not show: then a match is only unknown."""


def _with_flags(mention: NamedWord, flags: list[NamedWord]) -> CommandPattern:
    """Return the program's family with the flags that the sentence bans for it."""
    pattern = mention.pattern
    return CommandPattern(
        program=pattern.program, words=pattern.words, flags=(*pattern.flags, *(m.text for m in flags))
    )


def _is_narrower(text: str, mention: NamedWord) -> bool:
    """Return True if an unknown word follows the program: "never git frobnicate" bans less than git."""
    if mention.is_code or " " in mention.text or mention.text not in SUBCOMMANDS:
        return False
    following = re.match(r" ([a-z][\w-]*)", text[mention.end :])
    return following is not None and following[1] not in FOLLOWING


def _banned_act(sentence: RuleSentence, programs: list[NamedWord]) -> str:
    """Return the act that a ban names: "never force-push", "don't run the tests"."""
    ban = find("negation", sentence.text)
    acts = [name for name, _ in find_acts(sentence.text) if name in _BANNABLE]
    if programs:
        commands = {str(m.pattern) for m in programs}
        forced = any(item.startswith("git push") and ("--force" in item or "-f" in item) for item in commands)
        return "force-push" if forced else ""
    if ban is None or not acts:
        return ""
    others = [m for m in sentence.of_kind("program") if m.pattern.program not in ("git", "gh") or m.pattern.words]
    if others or sentence.of_kind("path") or (sentence.of_kind("flag") and acts[0] != "force-push"):
        return ""
    listed = _act_list(sentence.text)
    if len(listed) > 1 and not has("only_when", sentence.text) and not has("before", sentence.text):
        return ",".join(listed)
    acts.sort(key=_BANNABLE.index)
    # A ban with a condition is an order or a question for approval, never a plain ban.
    if sentence.until:
        return acts[0]
    return "" if has("before", sentence.text) or has("only_when", _without_ban(sentence.text)) else acts[0]


def _act_list(text: str) -> list[str]:
    """Return the acts of a list: "no rebase, no amend", "never commit or push"."""
    spans = [(name, match) for name in _BANNABLE for match in act_words(name).finditer(text)]
    spans.sort(key=lambda span: span[1].start())
    listed = [spans[0][0]] if spans else []
    for (_, before), (name, match) in pairwise(spans):
        if _BETWEEN.fullmatch(text[before.end() : match.start()]) is None:
            break
        listed.append(name)
    return listed


def _without_ban(text: str) -> str:
    return re.sub(r"\b(?:ohne|without|sin)\b", "", text) if not find_acts(text) else text


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge a command or a database tool: a ban is breached, or not concerned."""
    event = moment.event
    if event.kind == TOOL and check.unit == "sql" and event.tool.startswith("mcp__"):
        texts = [value for name, value in event.values if name in ("sql", "query", "statement")]
        return _verdict(next((sql for sql in texts if _forbidden_sql(check, sql)), ""))
    if event.kind != COMMAND:
        return NOT_CONCERNED
    for command in event.script.commands:
        if is_help(command):
            continue
        if _is_forbidden(check, command):
            is_open = command.is_remote or check.is_conditional
            return GuardVerdict(result=UNKNOWN, matched=str(command)) if is_open else _verdict(str(command))
    hidden = "a variable" in event.script.opaque
    return GuardVerdict(result=UNKNOWN, matched="a variable") if hidden and check.unit != "sql" else NOT_CONCERNED


def _verdict(matched: str) -> GuardVerdict:
    return GuardVerdict(result=BREACHED, matched=matched) if matched else NOT_CONCERNED


def _is_forbidden(check: GuardCheck, command: ShellCommand) -> bool:
    if check.value == _DOWNLOAD_PIPE:
        return command.program in _SHELLS and bool(_DOWNLOADERS & set(command.sources)) and _runs_input(command)
    if check.unit == "sql":
        return command.program in _SQL_CLIENTS and any(_forbidden_sql(check, text) for text in _sql_texts(command))
    if check.flags:
        return _has_forbidden_flag(check, command)
    if check.act:
        return any(performs(name, command) for name in check.act.split(","))
    return matches_any(check.bad, command) is not None


def _runs_input(command: ShellCommand) -> bool:
    texts = command.texts
    reads_words = [word for word in command.arguments if not word.is_literal]
    return bool(reads_words) or all(text.startswith("-") for text in texts if text) or "-s" in texts


def _has_forbidden_flag(check: GuardCheck, command: ShellCommand) -> bool:
    if command.program in _ECHOES or (command.program == "git" and subcommand(command) in ("log", "grep", "show")):
        return False
    long = [flag for flag in check.flags if flag.startswith("--")]
    if long:
        return has_flag(command, long)
    return bool(set(check.flags) & set(flags_of(command)))


def _sql_texts(command: ShellCommand) -> list[str]:
    return [*command.texts, command.stdin or ""]


def _forbidden_sql(check: GuardCheck, text: str) -> bool:
    """Return True if SQL text has a forbidden statement outside of its comments and strings."""
    plain = re.sub(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", " ", text, flags=re.DOTALL)
    squeezed = " ".join(plain.upper().split())
    return any(re.search(rf"(?:^|[;\s(]){re.escape(phrase)}\b", squeezed) for phrase in check.phrases)


SHAPE = Shape(name="forbid-command", order=90, parse=parse, judge=judge)
