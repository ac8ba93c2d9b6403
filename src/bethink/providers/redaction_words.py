"""Secrets that the words around them reveal: names with values, headers, commands, and sentences."""

import re
from collections.abc import Iterator
from itertools import product

from bethink.providers.redaction_tokens import MatchSpan, either
from bethink.providers.redaction_values import is_assigned_password, is_digest, is_password, is_token


def _joined(*names: str) -> list[str]:
    return [joiner.join(name.split()) for name, joiner in product(names, ("", "_", "-", " "))]


_NAMES = {
    "password": [
        *("password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "contraseña", "contrasena", "senha"),
        *("mot de passe", "clave", "parola", "wachtwoord", "lösenord", "adgangskode", "salasana", "hasło", "şifre"),
        *("пароль", "пароля", "密码", "密碼", "パスワード", "비밀번호"),
        *("pasword", "passwrd", "passowrd", "paswd", "requirepass", "pwd", "pass", "pw", "psk"),
    ],
    "aws_secret": _joined("secret access key"),
    "private_key": _joined("private key"),
    "api_key": _joined(
        *("api key", "access key", "secret key", "license key", "licence key", "auth key", "encryption key", "app key"),
        *("signing key", "master key", "account key", "preshared key", "shared key", "service key", "webhook key"),
    ),
    "token": ["token", "bearer"],
    "secret": ["secret", "credential", "credentials", "creds"],
    "authorization": ["authorization"],
    "key": ["key"],
}
_KIND = {name: kind for kind, names in _NAMES.items() for name in names}
_NAME = re.compile(either(_KIND))
HINTS = (
    *("pass", "pasw", "pw", "psk", "secret", "token", "key", "cred", "bearer", "authorization", "kennwort", "contrase"),
    *("senha", "clave", "parola", "wachtwoord", "lösenord", "adgangskode", "salasana", "hasło", "şifre"),
    *("парол", "密", "パスワード", "비밀번호"),
)
"""Every lower-cased text that contains a name contains one of these."""
_WHOLE_WORDS = {"pwd", "pass", "pw", "psk", "key"}
_NOT_BEFORE = (
    *("page", "pagination", "continuation", "cursor", "public", "publishable", "primary", "foreign"),
    *(
        "sort",
        "partition",
        "cache",
        "idempotency",
        "storage",
        "hashed",
        "pad",
        "eos",
        "bos",
        "unk",
        "sep",
        "cls",
        "mask",
    ),
)
_AFTER = re.compile(
    r"(?:[_-]?(?:key|token|secret|password|value|string|base|old|new|prod|production|live|test|dev|staging|main|primary|"
    r"secondary|default|b64|base64|hex|code|[0-9]{1,3})){0,4}+(?![A-Za-z0-9])"
)
_ASSIGN = re.compile(
    r"""["']?[ \t,]{0,4}(?:\r?\n[ \t]{0,20})?["']?value["']?[ \t]{0,3}[:=][ \t]{0,20}|"""
    r"""(?:\\{0,3}["'`]|\*\*)?\]?[ \t]{0,20}"""
    r"""(?::[ \t]?[A-Za-z][\w.\[\]|?]{0,30}[ \t]?=(?![=>])|=>|->|:=|:-(?=\w)|={1,3}|:|\uff1a|→)[ \t]{0,20}"""
)
_GAP = re.compile(r"""(?:['\u2019]s|["'`*)]{1,2}|:)?(?=[ \t\n])|(?=[^\x00-\x7f])""")
_SCHEME = re.compile(r"(?:bearer|basic|token|apikey|digest)[ \t]{1,4}", re.IGNORECASE)
_QUOTED = re.compile(r"""[rbu]?(?:\\{0,3}"([^"\n]{1,4096}+)"|\\{0,3}'([^'\n]{1,4096}+)'|`([^`\n]{1,4096}+)`)""")
_LONGEST = 256  # a longer value is judged by its beginning, and removed completely
_PLAIN = re.compile(rf"""[^\s"'`<>]{{1,{_LONGEST}}}+""")
_MORE = re.compile(r"""[^\s"'`<>,;&\\)\]}]*+""")
_DENSE = re.compile(rf"""[^\s"'`<>;&,|]{{{_LONGEST}}}""")
"""Many names without a gap occur only in minified code or in an attack, so they are checked only once."""
_CUT = re.compile(r""";|\|[\w.-]{1,40}[=:]|,[\w.-]{1,40}[=:]|\\|\)[;,]""")
_CUT_QUERY = re.compile(r""";|\|[\w.-]{1,40}[=:]|,[\w.-]{1,40}[=:]|&[\w.-]{1,40}[=:]|\\|\)[;,]""")
_ELEMENT = re.compile(r"(?:</\w{1,20}>\s{0,40}<\w{1,20}>|>)([^<\s]{1,512})</")
_TOKEN = re.compile(r"[\w+/=.~-]{20,}", re.ASCII)
_WORD = re.compile(rf"\S{{1,{_LONGEST}}}+")
_LEADS = frozenset(
    (
        *("is", "was", "are", "to", ":", "=", "->", "=>", "→", "now", "as", "ist", "lautet", "war", "est"),
        *("es", "é", "è", "era", "jest", "是", "は", "は、", "为", "это", "it's", "-", "set"),
    )
)
_DETERMINERS = frozenset(
    (
        *("the", "my", "our", "your", "his", "her", "their", "a", "as", "is", "new", "old", "current"),
        *("admin", "root", "main"),
    )
)
_OPENING = "\"'`(<[*“«\u2018是は为"
_CLOSING = "\"'`)>]}*,;:.”»\u2019。、"


def named(text: str, lowered: str) -> Iterator[MatchSpan]:
    """Find secrets by the names in front of them."""
    names = list(_names(lowered))
    done = 0
    for (name, start, end), limit in zip(names, _limits(names), strict=True):
        if start < done or limit - end <= 1:  # skip a name inside a secret, and one directly before another name
            continue
        span = _found(text, start, end, name, limit)
        if span is None:
            done = _end(_DENSE.match(text, end), end)
        elif lowered.rfind("arn:", max(0, start - 80), start) < 0:
            done = span.end
            yield span


def _names(lowered: str) -> Iterator[tuple[str, int, int]]:
    for found in _NAME.finditer(lowered):
        name, start = found.group(), found.start()
        if name in _WHOLE_WORDS and lowered[max(0, start - 1) : start].isalpha():
            continue
        rest = _AFTER.match(lowered, found.end())
        if rest and not lowered[max(0, start - 16) : start].rstrip("_- ").endswith(_NOT_BEFORE):
            yield name, start, rest.end()


def _limits(names: list[tuple[str, int, int]]) -> list[int]:
    """Return for each name where the search for its value ends: at the next name of the same kind."""
    limits: list[int] = []
    next_of: dict[str, int] = {}
    for name, start, end in reversed(names):
        limits.append(min(next_of.get(_KIND[name], end + 160), end + 160))
        next_of[_KIND[name]] = start
    return limits[::-1]


def _found(text: str, start: int, end: int, name: str, limit: int) -> MatchSpan | None:
    kind = _KIND[name]
    assign = _ASSIGN.match(text, end)
    flag = text[end : end + 1] == " " and text.startswith("--", max(0, start - 2))
    if assign or flag or text[end : end + 1] in ("<", ">"):
        span = _assigned(text, end, assign.end() if assign else end + 1, kind)
        if span:
            return span
    gap = None if name == "pass" else _GAP.match(text, end)  # "pass" is also an ordinary verb
    return (_said(text, gap.end(), kind, limit) if gap else None) or _said_before(text, start, kind)


def _assigned(text: str, end: int, start: int, kind: str) -> MatchSpan | None:
    element = _ELEMENT.match(text, end)
    if element:
        return _judged(text, *element.span(1), kind, quoted=True)
    start = _past_scheme(text, start)
    quoted = _QUOTED.match(text, start)
    if quoted:
        begin, stop = quoted.span(quoted.lastindex or 0)
        begin = _past_scheme(text, begin)
        return _judged(text, begin, begin + len(text[begin:stop].rstrip("\\")), kind, quoted=True)
    plain = _PLAIN.match(text, start + (text[start : start + 1] in ("'", '"')))
    if plain is None:
        return None
    cut = (_CUT_QUERY if text[end : end + 1] == "=" else _CUT).search(text, plain.start(), plain.end())
    stop = _trimmed(text, plain.start(), cut.start() if cut else plain.end())
    span = _judged(text, plain.start(), stop, kind, quoted=False)
    if span is None or stop - plain.start() < _LONGEST:
        return span
    return MatchSpan(span.start, _end(_MORE.match(text, stop), stop), kind)


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise


def _past_scheme(text: str, start: int) -> int:
    return _end(_SCHEME.match(text, start), start)


def _trimmed(text: str, start: int, stop: int) -> int:
    return start + len(text[start:stop].rstrip(_CLOSING))


def _judged(text: str, start: int, stop: int, kind: str, *, quoted: bool) -> MatchSpan | None:
    value = text[start:stop]
    if kind == "password":
        good = is_assigned_password(value, quoted=quoted)
    elif kind == "key":
        good = _is_plain_token(value)
    else:
        good = is_token(value) or (kind == "secret" and len(value) >= 12 and value.isalnum() and is_password(value))
    return MatchSpan(start, stop, kind) if good else None


def _said(text: str, end: int, kind: str, limit: int) -> MatchSpan | None:
    led, before = True, end
    least = 6 if kind == "password" else 16
    for index, found in enumerate(_WORD.finditer(text, end)):
        word = found.group()
        if (
            index > 8
            or found.start() > limit
            or ("\n" in text[before : found.start()] and text[before - 1] not in ":=")
        ):
            return None
        if least <= len(word) and not (kind == "password" and len(word) > 160):
            start = found.start() + len(word) - len(word.lstrip(_OPENING))
            stop = _trimmed(text, start, found.end())
            if stop > start and _is_said(text[start:stop], kind, led=led):
                return MatchSpan(start, _end(_MORE.match(text, stop), stop) if len(word) == _LONGEST else stop, kind)
        if word[-1] in ".?!":
            return None
        led, before = word[-1] in ":=>\uff1a" or (len(word) < 8 and word.lower() in _LEADS), found.end()
    return None


def _is_said(value: str, kind: str, *, led: bool) -> bool:
    if '"' in value:
        return False
    if kind == "password":
        return led and is_password(value)
    if kind == "key":
        return led and _is_plain_token(value)
    return is_token(value, least=16) if led else _is_plain_token(value)


def _is_plain_token(value: str) -> bool:
    """Return whether a value is a token even without a clear name: long, random, and not a hash."""
    return _TOKEN.fullmatch(value) is not None and is_token(value, least=20) and not is_digest(value)


def _said_before(text: str, start: int, kind: str) -> MatchSpan | None:
    first = max(0, start - 40)
    near = text[first:start]
    link = max(near.rfind(" as "), near.rfind(" is "))
    if link < 0 or any(word not in _DETERMINERS for word in near[link + 4 :].lower().split()):
        return None
    word = text[max(0, first + link - 512) : first + link].rpartition(" ")[2].rpartition("\n")[2]
    begin = first + link - len(word.lstrip(_OPENING))
    stop = _trimmed(text, begin, first + link)
    return MatchSpan(begin, stop, kind) if _is_said(text[begin:stop], kind, led=True) else None
