"""Secrets that a heading names: tables, statements with columns, and blocks of settings."""

import re
from collections.abc import Iterator

from bethink.providers.redaction_hints import Hints, Lowered
from bethink.providers.redaction_tokens import MatchSpan
from bethink.providers.redaction_values import is_assigned_password, is_password, is_token

_PASSWORD_NAME = re.compile(
    r"(?:[\w .-]{0,24}[ _-])?(?:password|passwd|passwort|kennwort|pass|pwd|pw|contraseña|senha|mot de passe"
    r"|пароль|密码)s?",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"(?im)^[^\n]{0,200}\b(?:password|passwd|passwort|kennwort|pass|pwd|pw|contraseña|senha|mot de passe"
    r"|пароль)[^\n]{0,200}$|^[^\n]{0,200}密码[^\n]{0,200}$"
)
_COLUMN = re.compile(r"\s{0,8}[\"']?[\w*#-][\w .()/#-]{0,30}[\"']?\s{0,8}")
_MAX_ROWS = 50
_INSERT = re.compile(
    r"insert\s{1,8}into\s{1,8}[\w.\"`\[\]]{1,80}\s{0,8}\(([^()]{1,400})\)\s{0,8}values\s{0,8}", re.IGNORECASE
)
_TUPLE = re.compile(r"\s{0,8},?\s{0,8}\(((?:'(?:[^'\n]|''){0,200}+'|\"[^\"\n]{0,200}+\"|[^()'\"]{1,200}+){0,60}+)\)")
_CELL = re.compile(r"\s{0,8}(?:N?'((?:[^'\n]|'')*+)'\s{0,8}|\"([^\"\n]*+)\"\s{0,8}|([^,'\"]*+))(?:,|$)")
_BLOCK = re.compile(
    r"(?im)^([ \t]{0,20})(?:[\w.-]{0,24}(?:secrets|passwords|credentials|tokens|api_?keys)|stringdata"
    r"|data)[ \t]{0,4}:[ \t]{0,4}$"
)
_ENTRY = re.compile(
    r"\r?\n([ \t]{1,24})(?:- )?[\"']?[\w./-]{1,60}(?<!ame)(?<!path)(?<!file)(?<!ref)(?<!host)(?<!url)(?<!user)(?<!type)"
    r"[\"']?[ \t]{0,4}:[ \t]{1,4}[\"']?([^\s\"'#]{6,8192})[\"']?[ \t]{0,8}(?=\r?\n|$)"
)
_OTHER = re.compile(r"\r?\n([ \t]{1,24})[^\n]{0,400}")
_LIST = re.compile(
    r"(?i:\b[\w-]{0,30}(?:passwords|secrets|tokens|api_?keys|credentials|users"
    r"|accounts))[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\[{(]([^\[\]{}()]{4,800})[\]})]"
)
_STRINGS = re.compile(r"(:[ \t]{0,4})?[\"']([^\"'\n]{6,200})[\"'](?![ \t]{0,4}:)")


_TABLE_HINTS = Hints("pass", "pwd", "pw", "kennwort", "contraseña", "senha", "пароль", "密码", "mot de passe")
_BLOCK_HINTS = Hints("secrets", "passwords", "credentials", "tokens", "keys", "data")
_LIST_HINTS = Hints("passwords", "secrets", "tokens", "keys", "credentials", "users", "accounts")
_INSERT_HINTS = Hints("insert")


def find_in_blocks(text: str, lowered: Lowered) -> Iterator[MatchSpan]:
    """Find secrets in tables, inserted rows, blocks of settings and lists."""
    if "\n" in text:
        if lowered.has(_TABLE_HINTS):
            yield from _find_in_tables(text)
        if ":" in text and lowered.has(_BLOCK_HINTS):
            yield from _find_in_settings(text, lowered.text)
    if lowered.has(_INSERT_HINTS):
        yield from _find_in_inserts(text)
    if lowered.has(_LIST_HINTS):
        yield from _find_in_lists(text)


def _find_in_tables(text: str) -> Iterator[MatchSpan]:
    last = 0
    for header in _HEADER.finditer(text):
        if header.start() < last:
            continue
        line = header.group()
        mark = next((mark for mark in "|\t,;" if line.count(mark) > (mark == "|")), None)
        columns = line.split(mark) if mark else []
        indexes = [index for index, cell in enumerate(columns) if _PASSWORD_NAME.fullmatch(cell.strip(" \"'*"))]
        if mark in (",", ";") and not all(map(_COLUMN.fullmatch, columns)):  # a sentence, or one string of a list
            indexes = []
        at = header.end() + 1
        for _ in range(_MAX_ROWS if indexes else 0):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            cells = text[at:end].split(mark)
            if len(cells) != len(columns):
                break
            for index in indexes:
                start = at + sum(len(cell) + 1 for cell in cells[:index])
                value = cells[index].strip(" \"'`\r")
                start += cells[index].find(value) if value else 0
                if is_assigned_password(value, quoted=True):
                    yield MatchSpan(start, start + len(value), "password")
            at = last = end + 1


def _find_in_inserts(text: str) -> Iterator[MatchSpan]:
    for insert in _INSERT.finditer(text):
        names = [name.strip(' "`[]\n\t') for name in insert[1].split(",")]
        indexes = {index for index, name in enumerate(names) if _PASSWORD_NAME.fullmatch(name)}
        at = insert.end()
        for _ in range(_MAX_ROWS if indexes else 0):
            row = _TUPLE.match(text, at)
            if row is None:
                break
            for index, cell in enumerate(_CELL.finditer(text, row.start(1), row.end(1))):
                group = cell.lastindex or 0
                if index in indexes and group in (1, 2) and is_assigned_password(cell[group], quoted=True):
                    yield MatchSpan(*cell.span(group), "password")
            at = row.end()


def _find_in_settings(text: str, lowered: str) -> Iterator[MatchSpan]:
    secret = re.search(r"kind:[ \t]{0,4}secret\b", lowered) is not None
    last = 0
    for block in _BLOCK.finditer(text):
        plain = block.group().strip().lower().rstrip(": \t") == "data"
        if block.start() < last or (plain and not secret):
            continue
        at, deep = block.end(), len(block[1])
        for _ in range(_MAX_ROWS):
            entry = _ENTRY.match(text, at)
            other = entry or _OTHER.match(text, at)
            if other is None or len(other[1]) <= deep:
                break
            if entry and _is_setting(entry[2], sure=secret):
                yield MatchSpan(*entry.span(2), "secret")
            at = last = other.end()


def _is_setting(value: str, *, sure: bool) -> bool:
    return is_token(value, min_length=16) or (sure and is_assigned_password(value, quoted=True))


def _find_in_lists(text: str) -> Iterator[MatchSpan]:
    for block in _LIST.finditer(text):
        for value in _STRINGS.finditer(text, block.start(1), block.end(1)):
            if is_token(value[2], min_length=20) or (value[1] and is_password(value[2])):
                yield MatchSpan(*value.span(2), "secret")
