"""Secrets that the words around them reveal: names with values, headers, commands, and sentences."""

import re
from collections.abc import Iterator

from bethink.providers.redaction_names import CAMEL, DETERMINERS, KIND, LEADS, PINS, limits_of, names_in
from bethink.providers.redaction_sentences import find_later_password, find_note_password
from bethink.providers.redaction_syntax import is_described, is_flag, is_key, is_listed, is_setting
from bethink.providers.redaction_tokens import MatchSpan
from bethink.providers.redaction_values import (
    is_assigned_password,
    is_digest,
    is_joined_words,
    is_password,
    is_phrase,
    is_placeholder,
    is_token,
    is_word_list,
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
_PASS_VERB = re.compile(
    r"[ \t]{1,4}(?:to|its?|the|an?|this|that|these|them|through|by|along|into|via|all|any|each|both)\b"
)
"""Words after "pass" where it is a verb."""
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
"""Words that make "password" part of a compound, or "hasło" a slogan, a dictionary entry or a crossword clue."""
_STORED_IN = re.compile(
    r"\b(?:is|are|was|ist|sind|est|è|é|jest|staat|stored|saved) (?:in|im|dans|w|em|under|unter)\s+\Z"
)
"""Words between a name and the location where a secret is stored."""
_NETWORK = re.compile(r"(?<![a-z])(?:wi-?fi|wlan|[be]?ssid(?![a-z])|hotspot|вайфа)", re.IGNORECASE)
_GAP = re.compile(
    r"""(?:['\u2019]s|["'`*)]{1,2}|[:=?])?(?=[ \t\r\n])|(?=[^\x00-\x7f])"""
    r"""|(?<=[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3])"""
)
_SCHEME = re.compile(
    r"(?:bearer|basic|token|apikey|digest|ssws|splunk|geniekey|oauth)[ \t]{1,4}(?:token=)?|FlyV1 ", re.IGNORECASE
)
_QUOTED = re.compile(r"""[rbuN@]?(?:\\{0,3}"([^"\n]{1,4096}+)"|\\{0,3}'([^'\n]{1,4096}+)'|`([^`\n]{1,4096}+)`)""")
_MAX_LENGTH = 256  # a longer value is judged by its beginning, and removed completely
_PLAIN = re.compile(rf"""[^\s"'`<>]{{1,{_MAX_LENGTH}}}+""")
_MORE = re.compile(r"""[^\s"'`<>,;&\\)\]}]*+""")
_DENSE = re.compile(rf"""[^\s"'`<>;&,|]{{{_MAX_LENGTH}}}""")
"""Many names without a gap occur only in minified code or in an attack, so they are checked once."""
_CUT = re.compile(r""";|\|[\w.-]{1,40}[=:]|,[\w.-]{1,40}[=:]|\\|\)[;,]""")
_CUT_QUERY = re.compile(r""";|\|[\w.-]{1,40}[=:]|,[\w.-]{1,40}[=:]|&[\w.-]{1,40}[=:]|\\|\)[;,]""")
_CUT_CHOICE = re.compile(r"[;)|\\]")
"""After `|` there may be an alternative of a pattern: `(login|password|account)`."""
_ELEMENT = re.compile(
    r"(?:(?: [\w:]{1,20}=[\"'][^\"'<>\n]{0,80}[\"']|[\"'])?>(?:\s{0,40}<[vV]alue>)?"
    r"|</\w{1,20}>\s{0,40}<\w{1,20}>)([^<\s]{1,512})</"
)
_TOKEN = re.compile(r"[\w+/=.~-]{20,}", re.ASCII)
_GROUPS = re.compile(r"([0-9A-Fa-f]{4,8}|[0-9A-Z]{4,8})(?:[ -](?!\1)[0-9A-Za-z]{4,8}){3,15}(?![A-Za-z0-9])")
_APP_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}(?=\s*(?:\n|\Z|[,;#]))")
_WORD = re.compile(rf"\S{{1,{_MAX_LENGTH}}}+")
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
"""A value directly after a name in a language without spaces."""
_GLUES = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]\Z")
_THEN = re.compile(
    r"[\"'`,]{0,2}[ \t]{1,3}(?:to|into|and|or|zu|auf|in|und|oder|à|en|et|ou|a|y|o|para|e|na|i|на|и|naar|til"
    r"|till|->|→|/)"
    r"[ \t]{1,3}(\S{6,128})"
)
_MAX_WORDS = 12  # words between a name and its value
_MIN_GAP = 12  # characters: names closer together than this are ignored
_QUOTES = ("«", "„", "“", '"', ">")
"""Separate marks before a value, as in French or in a quoted email."""
_FIELD = re.compile(r"[A-Za-z_]{1,20}=(?=\w)")
"""The name of a log field: `session=`. A token that ends in `=` is not one."""
_IS = frozenset(("is", "was", "ist", "lautet", "war", "est", "c'est", "es", "é", "è", "era", "jest", "это", "är", "er"))
"""Words that introduce a password. After other words, joined plain words are mostly names in code."""
_FROM = ("from", "von", "van", "z", "с")
"""Words before the first of two passwords, or else before the account."""
_TO = re.compile(r"(?:pass\w{0,6}|pwd?|login|kennwort) (?:to|zu) \Z", re.IGNORECASE)
_ACCOUNT = re.compile(r"[A-Z][A-Za-z]{1,20}[0-9]{0,3}")
_CHANGED = re.compile(
    r"\b(?:chang|set|reset|updat|switch|rotat|renew|made|make|chose|pick|ge?änder|ändere|gewechsel|wechs)\w{0,4}\b",
    re.IGNORECASE,
)
"""Verbs that make "password to …" a new password. Without one, "to" is followed by the account."""
_NOT_IS = frozenset(
    ("in", "with", "by", "on", "at", "from", "mit", "auf", "con", "avec", "com", "para", "for", "en", "op", "w")
)
"""Words that may precede a password but do not make a quoted phrase a password."""
_QUOTED_PHRASE = re.compile(r"""["“„«'`]([^"”“»'`\n]{4,60})["”“»'`]""")


def find_named_secrets(text: str, lowered: str) -> Iterator[MatchSpan]:
    """Find secrets by the names in front of them."""
    names = list(names_in(text, lowered))
    done = 0
    for (name, start, end), limit in zip(names, limits_of(names), strict=True):
        if start < done or limit - end <= 1:  # skip a name inside a secret or directly before another name
            continue
        span = _find_value(text, start, end, name, limit)
        if span is None:
            done = _end(_DENSE.match(text, end), end)
        elif lowered.rfind("arn:", max(0, start - 80), start) < 0:
            done = span.end
            yield span
            if span.start > end and span.kind == "password":
                yield from _find_second_password(text, span.end)
        if KIND[name] == "password" and limit - end > _MIN_GAP and not (name == "pass" and _PASS_VERB.match(text, end)):
            yield from find_later_password(text, lowered, max(done, end), limit)


def _find_second_password(text: str, end: int) -> Iterator[MatchSpan]:
    """Find the second of two passwords: "from … to …"."""
    then = _THEN.match(text, end)
    if then:
        start = then.start(1) + len(then[1]) - len(then[1].lstrip(_OPENING))
        stop = _trim_end(text, start, then.end(1))
        if is_password(text[start:stop]):
            yield MatchSpan(start, stop, "password")


def _find_value(text: str, start: int, end: int, name: str, limit: int) -> MatchSpan | None:
    kind = KIND[name]
    if kind == "key" and _NETWORK.search(text, max(0, start - 60), end + 24):
        kind = "password"
    assign = _ASSIGN.match(text, end)
    flag = text[end : end + 1] == " " and text[end + 1 : end + 2] != "-" and is_flag(text, start)
    if assign or flag or text[end : end + 1] in ("<", ">", '"', "'") or text[start - 1 : start] in ("<", ":"):
        span = _find_assigned_value(text, start, end, assign.end() if assign else end + 1 if flag else end, kind)
        if span:
            return span
    if kind == "password" and _COMPOUND.match(text, end):
        return None
    called = _CALLED.match(text, end)
    if called and not (name == "pass" and text[end] == " " and not text[start:end].isupper()):
        span = _find_argument(text, start, called.end(), kind)
        if span:
            return span
    gap = None if name == "pass" else _GAP.match(text, end)  # "pass" is also an ordinary verb
    value_span = _find_in_sentence(text, gap.end(), kind, limit, pin=name in PINS) if gap else None
    passed = name == "pass" and _PASS_VERB.match(text, end)
    if value_span is None and kind == "password" and limit - end > _MIN_GAP and not passed:
        value_span = find_note_password(text, start, end)
    return value_span or _find_before_name(text, start, kind)


def _find_assigned_value(text: str, name: int, end: int, start: int, kind: str) -> MatchSpan | None:
    element = _ELEMENT.match(text, end)
    if element:
        return _span_if_secret(text, *element.span(1), kind, quoted=True)
    if start == end:
        return None
    start = _past_scheme(text, start)
    quoted = _QUOTED.match(text, start)
    if quoted:
        begin, stop = quoted.span(quoted.lastindex or 0)
        begin = _past_scheme(text, begin)
        stop = begin + len(text[begin:stop].rstrip("\\"))
        if kind == "password" and _is_quoted_phrase(text, name, end, text[begin:stop]):
            return MatchSpan(begin, stop, kind)
        return _span_if_secret(text, begin, stop, kind, quoted=True)
    groups = _APP_PASSWORD.match(text, start) if kind == "password" else _GROUPS.match(text, start)
    if groups and (kind == "password" or _are_random(groups.group())):
        return MatchSpan(*groups.span(), kind)
    plain = _PLAIN.match(text, start + (text[start : start + 1] in ("'", '"')))
    if plain is None:
        return None
    cuts = _CUT_QUERY if text[end : end + 1] == "=" else _CUT_CHOICE if text[start - 1] == "|" else _CUT
    cut = cuts.search(text, plain.start(), plain.end())
    stop = _trim_end(text, plain.start(), cut.start() if cut else plain.end())
    is_usage = is_flag(text, name) and is_described(text, plain.start(), stop)
    span = (
        None if is_usage else _span_if_secret(text, plain.start(), stop, kind, quoted=is_setting(text, name, end, stop))
    )
    if span is None or stop - plain.start() < _MAX_LENGTH:
        return span
    return MatchSpan(span.start, _end(_MORE.match(text, stop), stop), kind)


def _is_quoted_phrase(text: str, name: int, end: int, value: str) -> bool:
    """Return whether words in quotes are a password because a flag or a shell variable precedes them."""
    if is_flag(text, name):
        return not is_placeholder(value)
    return text[end : end + 2] in ('="', "='") and text[name:end].isupper() and is_word_list(value, min_words=2)


def _find_argument(text: str, start: int, at: int, kind: str) -> MatchSpan | None:
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
    return _span_if_secret(text, _past_scheme(text, begin), stop, kind, quoted=sure)


def _are_random(value: str) -> bool:
    groups = re.split("[ -]", value)
    return len({len(group) for group in groups}) == 1 and sum(any(map(str.isdigit, group)) for group in groups) > 2


def _end(match: re.Match[str] | None, otherwise: int) -> int:
    return match.end() if match else otherwise


def _past_scheme(text: str, start: int) -> int:
    return _end(_SCHEME.match(text, start), start)


def _trim_end(text: str, start: int, stop: int) -> int:
    return start + len(text[start:stop].rstrip(_CLOSING))


def _span_if_secret(text: str, start: int, stop: int, kind: str, *, quoted: bool) -> MatchSpan | None:
    value = text[start:stop]
    if value.lower() in KIND:  # a label in another language
        return None
    if kind == "password":
        good = is_assigned_password(value, quoted=quoted, words=quoted) or (
            quoted
            and text[start - 1 : start] in ('"', "'")
            and text[max(0, start - 4) : start].count("=") == 1
            and is_word_list(value)
        )
    elif kind == "key":
        good = _is_plain_token(value)
    elif kind == "authorization":
        good = is_token(value, min_length=12) or (
            value.isalnum() and _digits(value) and not value.islower() and is_password(value)
        )
    else:
        good = is_token(value) or _is_chosen_secret(value, kind, quoted=quoted)
    return MatchSpan(start, stop, kind) if good else None


def _is_chosen_secret(value: str, kind: str, *, quoted: bool) -> bool:
    """Return whether a person chose this token or secret, so that it is not random."""
    if kind == "token":
        return quoted and len(value) >= 12 and _digits(value) > 1 and " " not in value and is_password(value)
    if " " in value:
        return quoted and kind in ("secret", "api_key") and (is_phrase(value) or is_word_list(value, min_words=2))
    if len(value) >= 8 and (quoted or value.isalnum()) and is_password(value):
        return True
    return quoted and len(value) >= 8 and value.isalpha() and is_assigned_password(value, quoted=True)


def _digits(value: str) -> int:
    return sum(map(str.isdigit, value))


def _find_in_sentence(text: str, end: int, kind: str, limit: int, *, pin: bool = False) -> MatchSpan | None:
    if kind == "password" and _GLUES.match(text[end - 1 : end]):
        glued = _find_glued_value(text, end)
        if glued or _GLUES.match(text[end : end + 1]):
            return glued
    is_led, before, last = True, end, ""
    min_length = 4 if pin else 6 if kind == "password" else 16
    joined = 2 if kind == "password" and _NETWORK.search(text, max(0, end - 60), end + 24) else 3
    for index, word_match in enumerate(_WORD.finditer(text, end)):
        word = word_match.group()
        broken = (
            "\n" in text[before : word_match.start()] and text[before - 1] not in ":=?" and (not is_led or index == 0)
        )
        if index > _MAX_WORDS or word_match.start() > limit or broken:
            return None
        if (
            index
            and is_led
            and last not in _NOT_IS
            and kind == "password"
            and (quoted := _find_quoted_phrase(text, word_match.start()))
        ):
            return quoted
        if min_length <= len(word) and not (kind == "password" and len(word) > 160):
            start = _value_start(text, word_match, kind)
            stop = _trim_end(text, start, word_match.end())
            other = text[before - 4 : before].lower().split(" ")[-1] in _FROM and not _THEN.match(text, stop)
            other = other or _is_account(text, start, stop)
            other = other or _STORED_IN.search(text, max(0, start - 20), start) is not None
            if stop > start and _is_secret_word(
                text[start:stop], kind, is_led=is_led and not other, pin=pin, joined=joined if last in _IS else 0
            ):
                return MatchSpan(start, _end(_MORE.match(text, stop), stop) if len(word) == _MAX_LENGTH else stop, kind)
        if word[-1] in ".!" or (word[-1] == "?" and index):
            return None
        before = word_match.end()
        if word in _QUOTES:
            continue
        last = word.lower()
        is_led = _leads_to_value(word, text[end : word_match.end()]) or (len(word) < 8 and last in LEADS)
    return None


def _value_start(text: str, word_match: re.Match[str], kind: str) -> int:
    """Return the start of the value in a word: after marks, and for a token after the field name."""
    start = word_match.start() + len(word_match.group()) - len(word_match.group().lstrip(_OPENING))
    return _end(_FIELD.match(text, start, word_match.end()), start) if kind == "token" else start


def _leads_to_value(word: str, preceding: str) -> bool:
    """Return whether a word introduces a value, as `(for guests):` does. `String!):` in code does not."""
    if word[-1] not in ":=?\uff1a" and not word.endswith(("->", "=>")):
        return False
    return word[0] != "!" and (")" not in word or "(" in preceding)


def _is_account(text: str, start: int, stop: int) -> bool:
    """Return whether a name such as "LinkedIn" after "password to" is an account and not a new password."""
    if _ACCOUNT.fullmatch(text, start, stop) is None or _TO.search(text, max(0, start - 24), start) is None:
        return False
    return _CHANGED.search(text, max(0, start - 80), start) is None


def _find_glued_value(text: str, end: int) -> MatchSpan | None:
    match = _GLUED.match(text, end)
    if match is None:
        return None
    stop = _trim_end(text, match.start(1), match.end(1))
    value = text[match.start(1) : stop]
    good = is_password(value) or (value.rstrip("#*").isdigit() and 4 <= len(value) <= 12)
    return MatchSpan(match.start(1), stop, "password") if good else None


def _find_quoted_phrase(text: str, start: int) -> MatchSpan | None:
    """Find a quoted phrase after "the password is"."""
    match = _QUOTED_PHRASE.match(text, start)
    if match is None or is_placeholder(match[1], literal=True):
        return None
    value = match[1]
    good = is_assigned_password(value, quoted=True) or (" " in value and (is_phrase(value) or _is_few_words(value)))
    return MatchSpan(*match.span(1), "password") if good else None


def _is_few_words(value: str) -> bool:
    return len(value.split()) <= 4 and value == value.lower() and value.replace(" ", "").isalnum()


def _is_secret_word(value: str, kind: str, *, is_led: bool, pin: bool = False, joined: int) -> bool:
    """Return whether a word is a secret. It may join at least `joined` plain words; with 0, it may not."""
    if '"' in value or "`" in value or (value[:1] == "-" and value[1:].isalpha()):  # `-AsPlainText`
        return False
    if kind == "password":
        digits = value.isdigit() and len(value) >= (4 if pin else 6)
        literal = value[:1].isupper()  # not `settings.password1`
        chosen = is_password(value, literal=literal) or is_joined_words(value, min_words=joined)
        return is_led and (chosen or (digits and not is_placeholder(value)))
    if kind == "key":
        return is_led and _is_plain_token(value)
    return is_token(value, min_length=16) if is_led else _is_plain_token(value)


def _is_plain_token(value: str) -> bool:
    """Return whether a value is a token even without a clear name: long, random, and not a hash."""
    return _TOKEN.fullmatch(value) is not None and is_token(value, min_length=20) and not is_digest(value)


def _find_before_name(text: str, start: int, kind: str) -> MatchSpan | None:
    first = max(0, start - 40)
    link = next(reversed(list(_LINKS.finditer(text, first, start))), None)
    if link is None or any(word not in DETERMINERS for word in text[link.end() : start].lower().split()):
        return None
    word = text[max(0, link.start() - 512) : link.start()].rpartition(" ")[2].rpartition("\n")[2]
    begin = link.start() - len(word.lstrip(_OPENING))
    stop = _trim_end(text, begin, link.start())
    value = text[begin:stop]
    return (
        MatchSpan(begin, stop, kind)
        if _is_secret_word(value, kind, is_led=True, joined=3 * ("_" not in value))
        else None
    )
