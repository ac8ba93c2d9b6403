"""The syntax around a name and its value: a settings file, a list of names, or the flag of a command."""

import re

_COMMAND_GOES_ON = re.compile(r"""["'`]?[ \t]{0,8}(?:\Z|\r?\n|\\|[|;&<>)\]"'`]|--?\w|\w{1,40}\s*(?:\Z|\n))""")
_KEY_ENDS = re.compile(r"""["'`]\s{0,8}(?::(?!:)|=>)""")
_NEXT_STRING = re.compile(r"""["'`],\s{0,40}["'`]""")
_LAST_STRING = re.compile(r"""(?:["'`],|\[)\s{0,40}["'`][\w.-]{0,40}\Z""")
_LIST_ENDS = re.compile(r"""["'`],?(?:\s{0,40}[\]}]|[ \t]{0,8}\r?\n[ \t]{0,40}\))""")
_BEFORE = re.compile(r"[\w.\s\"'-]{0,60}\Z")
_FLAG = re.compile(r"(?:(?<=\s)|\A)--?(?:[A-Za-z][\w.]*[-_.])*+[a-z]{0,12}\Z")
"""`--db-`, before `password`."""
_ENTRY = re.compile(
    r"[ \t]{2,40}(?:- )?[\w.-]{0,40}|[\w.-]{1,40}[_.](?=[a-z])[\w.]{0,40}|[a-z]{1,20}(?:[A-Z][a-z]{1,20}){1,4}"
)
_HEADING = re.compile(
    r"^\[[\w .:-]{1,60}\]\r?\n(?:[\w.-]{1,60}[ \t]?=[^\n]{0,120}\n){0,8}[\w.-]{0,40}\Z|\bX-[\w-]{0,40}\Z", re.MULTILINE
)
"""The heading of a settings section with the lines above a name, or the beginning of a header."""
_USER = re.compile(r"\b(?:user(?:name)?|login|benutzer|email|account|usuario)\b[\"']?\s{0,4}[:=]", re.IGNORECASE)


def is_setting(text: str, name: int, end: int, stop: int) -> bool:
    """Return whether a value is part of a shell command or a settings file, and not of code."""
    sign, after = text[end : end + 1], text[stop : stop + 1]
    line = text.rfind("\n", max(0, name - 80), name) + 1 or max(0, name - 80)
    if sign in ("=", ":", "\n", '"') and text[name:end].isupper():
        return True
    tight = sign == "=" and text[end + 1 : end + 2] not in (" ", "=")
    if (sign == "=" and after == ";") or (tight and _is_literal(text, line, name, stop)):
        return True
    if text[name - 1 : name] == "," and "(" not in text[max(0, name - 80) : name]:
        return True
    return _is_flag_or_header(text, name, end) or (after in ("", "\n", "\r") and _is_entry(text, line, name, end, stop))


def _is_flag_or_header(text: str, name: int, end: int) -> bool:
    """Return whether a name is the flag of a command, a header, or is below a heading."""
    if text[end : end + 1] in (" ", "=") and is_flag(text, name):
        return True
    if text.startswith(",ParameterValue=", end):
        return True
    first = max(0, name - 200)
    headed = text.rfind("[", first, name) >= 0 or text.rfind("X-", first, name) >= 0
    return headed and _HEADING.search(text, first, name) is not None


def is_flag(text: str, name: int) -> bool:
    """Return whether a name is the flag of a command, or the end of one."""
    first = max(0, name - 40)
    first = max(first, text.rfind(" ", first, name))
    return text.rfind("-", first, name) >= 0 and _FLAG.search(text, first, name) is not None


def _is_entry(text: str, line: int, name: int, end: int, stop: int) -> bool:
    """Return whether a name and the value at the end of its line are a settings entry."""
    if not _BEFORE.match(text[line:name]):
        return "(" not in text[line:name] and _USER.search(text, line, name) is not None
    if text[end : end + 1] == "=" or _USER.search(text, max(0, name - 120), stop + 80) is not None:
        return True
    # A label that users read begins with a capital letter.
    return _ENTRY.match(text, line, end) is not None and not text[end:stop].lstrip(": \t")[:1].isupper()


def _is_literal(text: str, line: int, name: int, stop: int) -> bool:
    """Return whether `name=value` is part of a command, a URL or a string, and not of a call."""
    after = text[stop : stop + 1]
    if text[name - 2 : name] in ("--", " /", " -"):
        return True
    if after == "," and " --set" in text[line:name]:
        return True
    if after in ("&", '"', "'", "\\") or text[name - 1 : name] in ("&", "?"):
        return True
    before = text[line:name]
    return (not after or after.isspace()) and ("(" not in before or before.count('"') % 2 == 1)


def is_listed(text: str, start: int, stop: int) -> bool:
    """Return whether a string is one of a list of names. After a flag, it is the value of the flag."""
    if text[start - 1 : start] == "-":
        return False
    if _NEXT_STRING.match(text, stop):
        return True
    return _LIST_ENDS.match(text, stop) is not None and _LAST_STRING.search(text, max(0, start - 60), start) is not None


def is_described(text: str, start: int, stop: int) -> bool:
    """Return whether the word after a flag is not a value: usage in capitals, or the sentence continues."""
    value = text[start:stop]
    if value.isupper() and not any(map(str.isdigit, value)):
        return True
    apart = text[start - 1] == " " and value.isalpha()
    return apart and (not value.isascii() or _COMMAND_GOES_ON.match(text, stop) is None)


def is_key(text: str, stop: int) -> bool:
    """Return whether a string is itself the name of a value."""
    return _KEY_ENDS.match(text, stop) is not None
