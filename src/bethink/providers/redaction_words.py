"""Secrets that the words around them reveal: names with values, headers, commands, and sentences."""

import re
from collections.abc import Iterator

from bethink.providers.redaction_names import CAMEL, DETERMINERS, KIND, LEADS, PINS, limits_of, names_in
from bethink.providers.redaction_places import is_flag, is_key, is_listed, is_setting, is_told_about
from bethink.providers.redaction_telling import told_later, told_without_verb
from bethink.providers.redaction_tokens import MatchSpan
from bethink.providers.redaction_values import (
    are_joined,
    are_words,
    is_assigned_password,
    is_digest,
    is_password,
    is_phrase,
    is_token,
    stands_for_one,
)

_ASSIGN = re.compile(
    r"""["']?[ \t,]{0,4}(?:\r?\n[ \t]{0,20})?["']?(?:Parameter)?[vV]alue["']?[ \t]{0,3}[:=][ \t]{0,20}|"""
    r"""(?:\\{0,3}["'`]|\*\*)?\]?[ \t]{0,20}"""
    r"""(?:\[\d{0,4}\][ \t]?=|\|\|=|:[ \t]?[A-Za-z][\w.\[\]|?]{0,30}[ \t]?=(?![=>])|=>|->|<-|:=|:-(?=\w)|\?=|\+="""
    r"""|={1,3}|:(?!:)|\uff1a|→"""
    r"""|\|(?=\S))[ \t]{0,20}"""
    r"""(?:[|>][-+]?[ \t]{0,4}\r?\n[ \t]{1,20}|base64:|N(?=')|\*\*[ \t]|</[a-z]{1,8}>[ \t]?"""
    r"""|[ \t]?\r?\n```\w{0,12}\r?\n|\{\s{0,8}["']?[vV]alue["']?[ \t]?:[ \t]?"""
    r"""|(?:(?:new[ ])?(?:[A-Za-z_]{1,20}(?:::|\.))?(?:from|new|of|[sS]tring|Secret(?:Str|String|Key)?"""
    r"""|SecureString|Some|b64decode|bytes))?\((?=b?["']))?"""
)
_CALLED = re.compile(
    r"""[\])]?(?:\\{0,3}["'`])?[\])]?(?:[ \t]{0,4}(?:\|\||\?\?|\?:|\bor\b|,(?:[ \t]{0,4}default[ \t]?=)?"""
    r"""|\()[ \t]{0,4}|[ \t]{1,8})"""
    r"""(?:\r?\n[ \t]{0,20})?(?=[rbuN]?["'`])"""
)
"""`setPassword("…")`, `define('DB_PASSWORD', '…')`, `env.DB_PASS || '…'`, `PASSWORD '…'`."""
_PASSED = re.compile(
    r"[ \t]{1,4}(?:to|its?|the|an?|this|that|these|them|through|by|along|into|via|all|any|each|both)\b"
)
"""What stands behind "pass" where it is a verb."""
_DEFINED = re.compile(
    r"(?:define|getenv|setenv|putenv|environ\.get|environ\.setdefault|add_argument|\bset|\bput|option"
    r"|setProperty|add|append"
    r"|\benv|setItem|store|save|setString|addProperty|with_env|withEnv|secrets? set"
    r"|config set)[( ][ ]?[\"'][\w.:/-]{0,60}\Z"
    r"|(?:\.|\b)(?:set|with|change|update|auth)_?\Z|[({,][ ]?:?\Z|[ {(]:\Z|\A[\"']?\Z"
    r"|\n[ \t]{0,20}[\"']?[\w.-]{0,40}\Z|(?:\A|\n)[\w ./-]{0,60}[-_.][a-z]{0,12}\Z|[\w)\]]?\.\Z"
)
_COMPOUND = re.compile(
    r"[ \t-](?:managers?|sync\w*|hash\w*|policy|policies|generators?|rotation|strength|length"
    r"|checks?|checkers?|recovery|hints?|prompts?|fields?|inputs?|labels?|columns?|forms?|dialogs?|requirements?|rules?"
    r"|expiry|expiration|attempts?|complexity|protection|authentication|history"
    r"|krzyżówk\w{1,3}|reklamow\w{1,4}|przewodni\w{1,3}|wyborcz\w{1,4}|encyklopedyczn\w{1,4}|słownikow\w{1,4})\b"
)
"""What makes "password" a part of another word, or "hasło" a slogan, an entry, or a clue of a crossword."""
_KEPT_IN = re.compile(r"\b(?:is|are|was|ist|sind|est|è|é|jest|staat|stored|saved) (?:in|im|dans|w|em|under|unter)\s+\Z")
"""What stands between a name and the place where a secret is kept."""
_NETWORK = re.compile(r"(?<![a-z])(?:wi-?fi|wlan|[be]?ssid(?![a-z])|hotspot|вайфа)", re.IGNORECASE)
_GAP = re.compile(
    r"""(?:['\u2019]s|["'`*)]{1,2}|[:=?])?(?=[ \t\r\n])|(?=[^\x00-\x7f])"""
    r"""|(?<=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3])"""
)
_SCHEME = re.compile(
    r"(?:bearer|basic|token|apikey|digest|ssws|splunk|geniekey|oauth)[ \t]{1,4}(?:token=)?|FlyV1 ", re.IGNORECASE
)
_QUOTED = re.compile(r"""[rbuN@]?(?:\\{0,3}"([^"\n]{1,4096}+)"|\\{0,3}'([^'\n]{1,4096}+)'|`([^`\n]{1,4096}+)`)""")
_LONGEST = 256  # a longer value is judged by its beginning, and removed completely
_PLAIN = re.compile(rf"""[^\s"'`<>]{{1,{_LONGEST}}}+""")
_MORE = re.compile(r"""[^\s"'`<>,;&\\)\]}]*+""")
_DENSE = re.compile(rf"""[^\s"'`<>;&,|]{{{_LONGEST}}}""")
"""Many names without a gap occur only in minified code or in an attack, so they are checked only once."""
_CUT = re.compile(r""";|\|[\w.-]{1,40}[=:]|,[\w.-]{1,40}[=:]|\\|\)[;,]""")
_CUT_QUERY = re.compile(r""";|\|[\w.-]{1,40}[=:]|,[\w.-]{1,40}[=:]|&[\w.-]{1,40}[=:]|\\|\)[;,]""")
_CUT_CHOICE = re.compile(r"[;)|\\]")
"""Behind `|` a choice of a pattern may stand: `(login|password|account)`."""
_ELEMENT = re.compile(
    r"(?:(?: [\w:]{1,20}=[\"'][^\"'<>\n]{0,80}[\"']|[\"'])?>(?:\s{0,40}<[vV]alue>)?"
    r"|</\w{1,20}>\s{0,40}<\w{1,20}>)([^<\s]{1,512})</"
)
_TOKEN = re.compile(r"[\w+/=.~-]{20,}", re.ASCII)
_GROUPS = re.compile(r"([0-9A-Fa-f]{4,8}|[0-9A-Z]{4,8})(?:[ -](?!\1)[0-9A-Za-z]{4,8}){3,15}(?![A-Za-z0-9])")
_APP_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}(?=\s*(?:\n|\Z|[,;#]))")
_WORD = re.compile(rf"\S{{1,{_LONGEST}}}+")
_LINKS = re.compile(
    r"(?: [—–-] (?:that'?s|that is|das ist|c'est|è|é|it's|это|to|dat is)"
    r"| (?:as|is|was|als|ist|war|comme|est|como|es|de|come|è|era|é|jako|to|jest|som|er|är|como sendo|kot|как"
    r"|это|—|–|-|="
    r"|olarak|on|<-|←|(?:should|will|would|must) be|so heißt|sera|será|sarà|będzie|будет|wird|ist jetzt|is now)"
    r"|[,;] (?:that'?s|that is|which is|das ist|c'est|es|è|é|it's|это|to)| [(])[ ]?(?<=[ (])",
    re.IGNORECASE,
)
_OPENING = "\"'`(<[*“«\u2018「『是は为為：:"
_CLOSING = "\"'`)>]}*,;:.”»\u2019。、」』，；"
_GLUED = re.compile(
    r"(?:[^\S\n]|[是为為はがをにのって就改成设設置定了变變更成은는이가을를로으「『“‘\"'：:=→]|です){0,8}([!-~]{4,64}+)"
)
"""A value right behind a name of a language that writes without spaces."""
_GLUES = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]\Z")
_THEN = re.compile(
    r"[\"'`,]{0,2}[ \t]{1,3}(?:to|into|and|or|zu|auf|in|und|oder|à|en|et|ou|a|y|o|para|e|na|i|на|и|naar|til"
    r"|till|->|→|/)"
    r"[ \t]{1,3}(\S{6,128})"
)
_FURTHEST = 12  # words between a name and its value
_NEAREST = 12  # characters: names closer to each other than this tell nothing
_QUOTES = ("«", "„", "“", '"', ">")
"""Marks that stand alone before a value, in French or in a quoted mail."""
_FIELD = re.compile(r"[A-Za-z_]{1,20}=(?=\w)")
"""The name of a field in a log: `session=`. A token that ends in `=` is none."""
_IS = frozenset(("is", "was", "ist", "lautet", "war", "est", "c'est", "es", "é", "è", "era", "jest", "это", "är", "er"))
"""Words that call what follows a password. Behind others, plain words that are joined are mostly names in code."""
_FROM = ("from", "von", "van", "z", "с")
"""Words before the first of two passwords; else they stand before the account."""
_TO = re.compile(r"(?:pass\w{0,6}|pwd?|login|kennwort) (?:to|zu) \Z", re.IGNORECASE)
_ACCOUNT = re.compile(r"[A-Z][A-Za-z]{1,20}[0-9]{0,3}")
_CHANGED = re.compile(
    r"\b(?:chang|set|reset|updat|switch|rotat|renew|made|make|chose|pick|ge?änder|ändere|gewechsel|wechs)\w{0,4}\b",
    re.IGNORECASE,
)
"""What makes "password to …" the new password. Without it, "to" stands before the account."""
_NOT_IS = frozenset(
    ("in", "with", "by", "on", "at", "from", "mit", "auf", "con", "avec", "com", "para", "for", "en", "op", "w")
)
"""Words that may stand before a password, but not tell that what stands in quotes is one."""
_SAID_QUOTED = re.compile(r"""["“„«'`]([^"”“»'`\n]{4,60})["”“»'`]""")


def named(text: str, lowered: str) -> Iterator[MatchSpan]:
    """Find secrets by the names in front of them."""
    names = list(names_in(text, lowered))
    done = 0
    for (name, start, end), limit in zip(names, limits_of(names), strict=True):
        if start < done or limit - end <= 1:  # skip a name inside a secret, and one directly before another name
            continue
        span = _found(text, start, end, name, limit)
        if span is None:
            done = _end(_DENSE.match(text, end), end)
        elif lowered.rfind("arn:", max(0, start - 80), start) < 0:
            done = span.end
            yield span
            if span.start > end and span.kind == "password":
                yield from _another(text, span.end)
        if KIND[name] == "password" and limit - end > _NEAREST and not (name == "pass" and _PASSED.match(text, end)):
            yield from told_later(text, lowered, max(done, end), limit)


def _another(text: str, end: int) -> Iterator[MatchSpan]:
    """Find the second of two passwords: "from … to …"."""
    then = _THEN.match(text, end)
    if then:
        start = then.start(1) + len(then[1]) - len(then[1].lstrip(_OPENING))
        stop = _trimmed(text, start, then.end(1))
        if is_password(text[start:stop]):
            yield MatchSpan(start, stop, "password")


def _found(text: str, start: int, end: int, name: str, limit: int) -> MatchSpan | None:
    kind = KIND[name]
    if kind == "key" and _NETWORK.search(text, max(0, start - 60), end + 24):
        kind = "password"
    assign = _ASSIGN.match(text, end)
    flag = text[end : end + 1] == " " and text[end + 1 : end + 2] != "-" and is_flag(text, start)
    if assign or flag or text[end : end + 1] in ("<", ">", '"', "'") or text[start - 1 : start] in ("<", ":"):
        span = _assigned(text, start, end, assign.end() if assign else end + 1 if flag else end, kind)
        if span:
            return span
    if kind == "password" and _COMPOUND.match(text, end):
        return None
    called = _CALLED.match(text, end)
    if called and not (name == "pass" and text[end] == " " and not text[start:end].isupper()):
        span = _given(text, start, called.end(), kind)
        if span:
            return span
    gap = None if name == "pass" else _GAP.match(text, end)  # "pass" is also an ordinary verb
    said = _said(text, gap.end(), kind, limit, pin=name in PINS) if gap else None
    passed = name == "pass" and _PASSED.match(text, end)
    if said is None and kind == "password" and limit - end > _NEAREST and not passed:
        said = told_without_verb(text, start, end)
    return said or _said_before(text, start, kind)


def _assigned(text: str, name: int, end: int, start: int, kind: str) -> MatchSpan | None:
    element = _ELEMENT.match(text, end)
    if element:
        return _judged(text, *element.span(1), kind, quoted=True)
    if start == end:
        return None
    start = _past_scheme(text, start)
    quoted = _QUOTED.match(text, start)
    if quoted:
        begin, stop = quoted.span(quoted.lastindex or 0)
        begin = _past_scheme(text, begin)
        stop = begin + len(text[begin:stop].rstrip("\\"))
        if kind == "password" and _is_sure(text, name, end, text[begin:stop]):
            return MatchSpan(begin, stop, kind)
        return _judged(text, begin, stop, kind, quoted=True)
    groups = _APP_PASSWORD.match(text, start) if kind == "password" else _GROUPS.match(text, start)
    if groups and (kind == "password" or _are_random(groups.group())):
        return MatchSpan(*groups.span(), kind)
    plain = _PLAIN.match(text, start + (text[start : start + 1] in ("'", '"')))
    if plain is None:
        return None
    cuts = _CUT_QUERY if text[end : end + 1] == "=" else _CUT_CHOICE if text[start - 1] == "|" else _CUT
    cut = cuts.search(text, plain.start(), plain.end())
    stop = _trimmed(text, plain.start(), cut.start() if cut else plain.end())
    told = is_flag(text, name) and is_told_about(text, plain.start(), stop)
    span = None if told else _judged(text, plain.start(), stop, kind, quoted=is_setting(text, name, end, stop))
    if span is None or stop - plain.start() < _LONGEST:
        return span
    return MatchSpan(span.start, _end(_MORE.match(text, stop), stop), kind)


def _is_sure(text: str, name: int, end: int, value: str) -> bool:
    """Return whether some words in quotes are a password, because of a flag or a variable of a shell before them."""
    if is_flag(text, name):
        return not stands_for_one(value)
    return text[end : end + 2] in ('="', "='") and text[name:end].isupper() and are_words(value, least=2)


def _given(text: str, start: int, at: int, kind: str) -> MatchSpan | None:
    quoted = _QUOTED.match(text, at)
    if quoted is None:
        return None
    begin, stop = quoted.span(quoted.lastindex or 0)
    if is_key(text, stop) or (
        is_listed(text, start, stop) and not (_digits(text[begin:stop]) and is_password(text[begin:stop]))
    ):
        return None
    sure = (
        text[start : start + 4].isupper()
        or text[start - 2 : start] in ('" ', "' ")  # between two strings, as in a command
        or CAMEL.match(text, start - 1) is not None
        or _DEFINED.search(text, max(0, start - 80), start) is not None
    )
    return _judged(text, _past_scheme(text, begin), stop, kind, quoted=sure)


def _are_random(value: str) -> bool:
    groups = re.split("[ -]", value)
    return len({len(group) for group in groups}) == 1 and sum(any(map(str.isdigit, group)) for group in groups) > 2


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise


def _past_scheme(text: str, start: int) -> int:
    return _end(_SCHEME.match(text, start), start)


def _trimmed(text: str, start: int, stop: int) -> int:
    return start + len(text[start:stop].rstrip(_CLOSING))


def _judged(text: str, start: int, stop: int, kind: str, *, quoted: bool) -> MatchSpan | None:
    value = text[start:stop]
    if value.lower() in KIND:  # a label in another language
        return None
    if kind == "password":
        good = is_assigned_password(value, quoted=quoted, words=quoted) or (
            quoted
            and text[start - 1 : start] in ('"', "'")
            and text[max(0, start - 4) : start].count("=") == 1
            and are_words(value)
        )
    elif kind == "key":
        good = _is_plain_token(value)
    elif kind == "authorization":
        good = is_token(value, least=12) or (
            value.isalnum() and _digits(value) and not value.islower() and is_password(value)
        )
    else:
        good = is_token(value) or _is_chosen(value, kind, quoted=quoted)
    return MatchSpan(start, stop, kind) if good else None


def _is_chosen(value: str, kind: str, *, quoted: bool) -> bool:
    """Return whether somebody thought up this token or secret: it is not random."""
    if kind == "token":
        return quoted and len(value) >= 12 and _digits(value) > 1 and " " not in value and is_password(value)
    if " " in value:
        return quoted and kind in ("secret", "api_key") and (is_phrase(value) or are_words(value, least=2))
    if len(value) >= 8 and (quoted or value.isalnum()) and is_password(value):
        return True
    return quoted and len(value) >= 8 and value.isalpha() and is_assigned_password(value, quoted=True)


def _digits(value: str) -> int:
    return sum(map(str.isdigit, value))


def _said(text: str, end: int, kind: str, limit: int, *, pin: bool = False) -> MatchSpan | None:
    if kind == "password" and _GLUES.match(text[end - 1 : end]):
        glued = _glued(text, end)
        if glued or _GLUES.match(text[end : end + 1]):
            return glued
    led, before, last = True, end, ""
    least = 4 if pin else 6 if kind == "password" else 16
    joined = 2 if kind == "password" and _NETWORK.search(text, max(0, end - 60), end + 24) else 3
    for index, found in enumerate(_WORD.finditer(text, end)):
        word = found.group()
        broken = "\n" in text[before : found.start()] and text[before - 1] not in ":=?" and (not led or index == 0)
        if index > _FURTHEST or found.start() > limit or broken:
            return None
        if index and led and last not in _NOT_IS and kind == "password" and (said := _in_quotes(text, found.start())):
            return said
        if least <= len(word) and not (kind == "password" and len(word) > 160):
            start = _begin(text, found, kind)
            stop = _trimmed(text, start, found.end())
            other = text[before - 4 : before].lower().split(" ")[-1] in _FROM and not _THEN.match(text, stop)
            other = other or _is_account(text, start, stop)
            other = other or _KEPT_IN.search(text, max(0, start - 20), start) is not None
            if stop > start and _is_said(
                text[start:stop], kind, led=led and not other, pin=pin, joined=joined if last in _IS else 0
            ):
                return MatchSpan(start, _end(_MORE.match(text, stop), stop) if len(word) == _LONGEST else stop, kind)
        if word[-1] in ".!" or (word[-1] == "?" and index):
            return None
        before = found.end()
        if word in _QUOTES:
            continue
        last = word.lower()
        led = _leads(word, text[end : found.end()]) or (len(word) < 8 and last in LEADS)
    return None


def _begin(text: str, found: re.Match[str], kind: str) -> int:
    """Return where the value of a word begins: behind marks, and for a token behind the name of a field."""
    start = found.start() + len(found.group()) - len(found.group().lstrip(_OPENING))
    return _end(_FIELD.match(text, start, found.end()), start) if kind == "token" else start


def _leads(word: str, said: str) -> bool:
    """Return whether a word ends as one before a value does. `String!):` in code does not, and `(for guests):` does."""
    if word[-1] not in ":=?\uff1a" and not word.endswith(("->", "=>")):
        return False
    return word[0] != "!" and (")" not in word or "(" in said)


def _is_account(text: str, start: int, stop: int) -> bool:
    """Return whether a name such as "LinkedIn" stands behind "password to", and is not a new password."""
    if _ACCOUNT.fullmatch(text, start, stop) is None or _TO.search(text, max(0, start - 24), start) is None:
        return False
    return _CHANGED.search(text, max(0, start - 80), start) is None


def _glued(text: str, end: int) -> MatchSpan | None:
    found = _GLUED.match(text, end)
    if found is None:
        return None
    stop = _trimmed(text, found.start(1), found.end(1))
    value = text[found.start(1) : stop]
    good = is_password(value) or (value.rstrip("#*").isdigit() and 4 <= len(value) <= 12)
    return MatchSpan(found.start(1), stop, "password") if good else None


def _in_quotes(text: str, start: int) -> MatchSpan | None:
    """Find the words in quotes behind "the password is"."""
    found = _SAID_QUOTED.match(text, start)
    if found is None or stands_for_one(found[1], literal=True):
        return None
    value = found[1]
    good = is_assigned_password(value, quoted=True) or (" " in value and (is_phrase(value) or _is_few_words(value)))
    return MatchSpan(*found.span(1), "password") if good else None


def _is_few_words(value: str) -> bool:
    return len(value.split()) <= 4 and value == value.lower() and value.replace(" ", "").isalnum()


def _is_said(value: str, kind: str, *, led: bool, pin: bool = False, joined: int) -> bool:
    """Return whether a word is a secret. One of at least `joined` plain words may be; with 0 it may not."""
    if '"' in value or "`" in value or (value[:1] == "-" and value[1:].isalpha()):  # `-AsPlainText`
        return False
    if kind == "password":
        digits = value.isdigit() and len(value) >= (4 if pin else 6)
        literal = value[:1].isupper()  # not `settings.password1`
        chosen = is_password(value, literal=literal) or are_joined(value, least=joined)
        return led and (chosen or (digits and not stands_for_one(value)))
    if kind == "key":
        return led and _is_plain_token(value)
    return is_token(value, least=16) if led else _is_plain_token(value)


def _is_plain_token(value: str) -> bool:
    """Return whether a value is a token even without a clear name: long, random, and not a hash."""
    return _TOKEN.fullmatch(value) is not None and is_token(value, least=20) and not is_digest(value)


def _said_before(text: str, start: int, kind: str) -> MatchSpan | None:
    first = max(0, start - 40)
    link = next(reversed(list(_LINKS.finditer(text, first, start))), None)
    if link is None or any(word not in DETERMINERS for word in text[link.end() : start].lower().split()):
        return None
    word = text[max(0, link.start() - 512) : link.start()].rpartition(" ")[2].rpartition("\n")[2]
    begin = link.start() - len(word.lstrip(_OPENING))
    stop = _trimmed(text, begin, link.start())
    value = text[begin:stop]
    return MatchSpan(begin, stop, kind) if _is_said(value, kind, led=True, joined=3 * ("_" not in value)) else None
