"""All redaction rules together: which parts of a text are secrets."""

import re
from collections.abc import Collection, Iterator

from bethink.providers.redaction_blocks import in_blocks
from bethink.providers.redaction_calls import CALLS
from bethink.providers.redaction_hints import Hints, Index, Lowered
from bethink.providers.redaction_idioms import IDIOMS, Idiom
from bethink.providers.redaction_names import HINTS
from bethink.providers.redaction_openers import opening
from bethink.providers.redaction_personal import personal
from bethink.providers.redaction_prose import spoken
from bethink.providers.redaction_telling import told
from bethink.providers.redaction_tokens import MatchSpan, broken, shaped
from bethink.providers.redaction_values import is_assigned_password, is_password, is_token, stands_for_one
from bethink.providers.redaction_views import decoded, plain_view
from bethink.providers.redaction_words import named

_URL = re.compile(r"""://[^\s:/@"'<>`?]{0,64}:([^\s/"'<>`?]{1,128})@(?=[\w\[{$%-])""")
_IN_CODE = ("env.", "config.", "settings.", "process.", "os.", "secrets.", "self.", "this.", "{", "[", "(", "<")
"""How an address begins its password if a program fills it in."""


def _is_given(value: str) -> bool:
    return is_assigned_password(value, quoted=True)


def _is_url_password(value: str) -> bool:
    return (
        len(value) >= 3
        and not stands_for_one(value, literal=value.count(".") == 1 and not value.startswith(_IN_CODE))
        and not value.startswith(":")
    )


def _is_random(value: str) -> bool:
    return is_token(value, least=16)


def _is_seed(value: str) -> bool:
    letters = value.replace(" ", "").replace("-", "")
    return any(map(str.isdigit, letters)) or (letters == value and len(value) in (16, 26, 32, 52, 64))


def _always(value: str) -> bool:
    return not stands_for_one(value)


_CONTEXTS = [
    (
        "otp_seed",
        Hints("otpauth:"),
        re.compile(r"otpauth://[^\s\"'<>]{0,200}?[?&]secret=([A-Za-z2-7]{8,128})"),
        _always,
    ),
    (
        "otp_seed",
        Hints("otp", "2fa", "mfa", "authenticator", "two-factor"),
        re.compile(
            r"(?i:otp|2fa|mfa|authenticator|two-factor)[^\n]{0,48}?(?<![A-Za-z0-9])"
            r"([A-Z2-7]{16,128}|(?:[A-Za-z2-7]{4}[ -]){3,15}[A-Za-z2-7]{4})(?![A-Za-z0-9])"
        ),
        _is_seed,
    ),
    (
        "password",
        Hints(
            "login",
            "log in",
            "logged in",
            "sign in",
            "creds",
            "credentials",
            "zugangsdaten",
            "identifiants",
            "credenziali",
            "credenciales",
            "credenciais",
            "accesos",
            "dane logowania",
            "доступы",
        ),
        re.compile(
            r"\b(?:log(?:ged)?[ -]?in|sign in|creds|credentials|zugangsdaten|identifiants|credenziali"
            r"|credenciales|credenciais|accesos|dane logowania|доступы)"
            r"(?:[ \t:]{1,3}(?:as|with|using|is|are|to|it|sind|sont|sono|son|são|to|такие)\b){0,3}[ \t:]{1,3}"
            r"[\w.@-]{2,40}(?: ?/ | ?: ?)(\S{6,128})",
            re.IGNORECASE,
        ),
        is_password,
    ),
    (
        "password",
        Hints("user/", "user /", "username/", "login/", "u:", "user:", "id/"),
        re.compile(
            r"\b(?:user(?:name)?|login|id) ?/ ?(?:pass(?:word|wd)?|pw|pwd)[ \t:=]{1,4}[^\s/]{1,60} ?/ ?(\S{4,128})"
            r"|\bu(?:ser)?[:=] ?[^\s,;/]{1,60}[\s,;/]{1,4}p(?:ass|w)?[:=] ?(\S{6,128})",
            re.IGNORECASE,
        ),
        is_password,
    ),
    ("password", Hints("wifi:"), re.compile(r"wifi:[^\n]{0,80}?;p:([^;\n]{4,80});", re.IGNORECASE), _always),
    (
        "password",
        Hints("app password"),
        re.compile(r"(?i:app password)\W{1,4}(?:is\s)?((?:[a-z]{4} ){3}[a-z]{4})\b"),
        _always,
    ),
    (
        "password",
        Hints("passphrase"),
        re.compile(
            r"(?i:passphrase)(?:[ \t][\w ]{0,40}?\b(?:is|was))?[ \t]{0,3}[:=]?[ \t]{0,3}"
            r"(?:[\"'`]|(?<=[:=])|(?<=[:=] )|(?<=is ))([a-z]{3,12}(?:[ ][a-z]{3,12}){3,9})(?=[\"'`.,;]|\s*\n|\s*\Z)"
        ),
        _always,
    ),
    (
        "session",
        Hints("cookie"),
        re.compile(r"(?:sess(?:ion)?[-_.]?(?:id)?|sid|jwt|auth)=([^\s;,\"']{16,512})", re.IGNORECASE),
        _is_random,
    ),
    (
        "signature",
        Hints("sig=", "signature="),
        re.compile(r"[?&](?:sig|signature|x-amz-signature)=([\w%+/=-]{30,512})", re.IGNORECASE),
        _is_random,
    ),
    (
        "secret",
        Hints(
            'variable "',
        ),
        re.compile(
            r"variable \"[^\"\n]{0,60}(?:pass(?:word|wd|phrase)?|pwd|psk|secret|token|credentials?|(?<![a-z])key)"
            r"(?:[_-](?:value|string|main|prod|dev|test|[0-9]{1,2}))?\" \{[^{}]{0,300}?"
            r"\bdefault[ \t]{0,20}=[ \t]{0,20}\"([^\"\n]{4,512})\""
        ),
        _is_given,
    ),
]
_IDIOMS = [*(Idiom(*context) for context in _CONTEXTS), *IDIOMS, *CALLS]
_INDEX = Index(idiom.hints for idiom in _IDIOMS)
_PHRASE = re.compile(
    r"(?:(?:seed|recovery|backup|secret|wallet)[ _-]?(?:phrase|words?)|mnemonic)(?:[ \t]+(?:is|are|words?))?"
    r"(?:,[^\n:]{1,48}:|[\"']?[ \t]{0,8}[:=]{0,2})\s{0,8}[\"'`]?"
)
_PHRASE_HINTS = Hints("phrase", "mnemonic", "word")
_PHRASE_WORD = re.compile(r"(?:[0-9]{1,2}[.):][ ]?)?([a-z]{3,8})(?:[ \t,]{1,3}|\r?\n)?+")
_PHRASE_ENDS = frozenset((*("the", "and", "for", "are", "was", "has", "not", "but", "from", "have", "which", "your"),))
_PHRASE_LENGTHS = (25, 24, 21, 18, 15, 12)


def _phrases(text: str, lowered: str) -> Iterator[MatchSpan]:
    for found in _PHRASE.finditer(lowered):
        ends: list[int] = []
        at = found.end()
        while len(ends) < 25 and (word := _PHRASE_WORD.match(text, at)) and word[1] not in _PHRASE_ENDS:
            ends.append(word.end(1))
            at = word.end()
        length = next((length for length in _PHRASE_LENGTHS if length <= len(ends)), 0)
        if length:
            yield MatchSpan(found.end(), ends[length - 1], "seed_phrase")


def secrets(text: str, also: Collection[str] = ()) -> list[MatchSpan]:
    """Return the secrets in a text, and personal numbers of the kinds in `also`, in order and without overlaps."""
    found = _in(text, also)
    view = plain_view(text)
    if view is not None:
        found += map(view.back, _in(view.text, also))
    for start, end, inner in decoded(text):
        if kinds := _in(inner, also):
            found.append(MatchSpan(start, end, kinds[0].kind))
    return _apart(found) if found else found


def _in(text: str, also: Collection[str]) -> list[MatchSpan]:
    lowered = Lowered(text)
    found = [*shaped(text, lowered), *broken(text, lowered)]
    if also:
        found += personal(text, also)
    if "://" in text and "@" in text:
        found += [MatchSpan(*url.span(1), "password") for url in _URL.finditer(text) if _is_url_password(url[1])]
    return found + _told(text, lowered)


def _told(text: str, lowered: Lowered) -> list[MatchSpan]:
    """Return what the words and marks around it make a secret."""
    found: list[MatchSpan] = []
    for place in _INDEX.places_in(lowered):
        kind, _, pattern, judge, needs = _IDIOMS[place]
        if any(need in text for need in needs):
            for match in pattern.finditer(text):
                group = match.lastindex or 0
                if judge(match[group]):
                    found.append(MatchSpan(*match.span(group), kind))
    found += in_blocks(text, lowered)
    found += spoken(text, lowered)
    found += opening(text, lowered)
    found += told(text, lowered)
    if lowered.has(_PHRASE_HINTS):
        found += _phrases(text, lowered.text)
    if lowered.has(HINTS):
        found += named(text, lowered.text)
    return found


def _apart(found: list[MatchSpan]) -> list[MatchSpan]:
    """Merge overlapping spans. The kind of the earliest rule wins."""
    kept: list[tuple[int, MatchSpan]] = []
    for rank, span in sorted(enumerate(found), key=lambda entry: entry[1].start):
        if not kept or span.start >= kept[-1][1].end:
            kept.append((rank, span))
            continue
        first, last = kept[-1]
        kind = last.kind if first < rank else span.kind
        kept[-1] = min(first, rank), MatchSpan(last.start, max(last.end, span.end), kind)
    return [span for _, span in kept]
