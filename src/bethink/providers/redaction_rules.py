"""All redaction rules together: find the secrets in a text."""

import re
from collections.abc import Collection, Iterator

from bethink.providers.redaction_blocks import find_in_blocks
from bethink.providers.redaction_calls import CALLS
from bethink.providers.redaction_entry_codes import find_entry_codes
from bethink.providers.redaction_hints import Hints, Index, Lowered
from bethink.providers.redaction_idioms import IDIOMS, Idiom
from bethink.providers.redaction_names import HINTS
from bethink.providers.redaction_personal import find_personal_numbers
from bethink.providers.redaction_prose import find_codes
from bethink.providers.redaction_sentences import find_sentence_passwords
from bethink.providers.redaction_tokens import MatchSpan, find_broken_tokens, find_tokens
from bethink.providers.redaction_values import is_assigned_password, is_password, is_placeholder, is_token
from bethink.providers.redaction_views import find_base64, plain_view
from bethink.providers.redaction_words import find_named_secrets

_URL = re.compile(r"""://[^\s:/@"'<>`?]{0,64}:([^\s/"'<>`?]{1,128})@(?=[\w\[{$%-])""")
_IN_CODE = ("env.", "config.", "settings.", "process.", "os.", "secrets.", "self.", "this.", "{", "[", "(", "<")
"""Beginnings of a password in a URL that a program fills in."""


def _is_quoted_password(value: str) -> bool:
    return is_assigned_password(value, quoted=True)


def _is_url_password(value: str) -> bool:
    return (
        len(value) >= 3
        and not is_placeholder(value, literal=value.count(".") == 1 and not value.startswith(_IN_CODE))
        and not value.startswith(":")
    )


def _is_random(value: str) -> bool:
    return is_token(value, min_length=16)


def _is_seed(value: str) -> bool:
    letters = value.replace(" ", "").replace("-", "")
    return any(map(str.isdigit, letters)) or (letters == value and len(value) in (16, 26, 32, 52, 64))


def _is_not_placeholder(value: str) -> bool:
    return not is_placeholder(value)


_CONTEXTS = [
    (
        "otp_seed",
        Hints("otpauth:"),
        re.compile(r"otpauth://[^\s\"'<>]{0,200}?[?&]secret=([A-Za-z2-7]{8,128})"),
        _is_not_placeholder,
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
    (
        "password",
        Hints("wifi:"),
        re.compile(r"wifi:[^\n]{0,80}?;p:([^;\n]{4,80});", re.IGNORECASE),
        _is_not_placeholder,
    ),
    (
        "password",
        Hints("app password"),
        re.compile(r"(?i:app password)\W{1,4}(?:is\s)?((?:[a-z]{4} ){3}[a-z]{4})\b"),
        _is_not_placeholder,
    ),
    (
        "password",
        Hints("passphrase"),
        re.compile(
            r"(?i:passphrase)(?:[ \t][\w ]{0,40}?\b(?:is|was))?[ \t]{0,3}[:=]?[ \t]{0,3}"
            r"(?:[\"'`]|(?<=[:=])|(?<=[:=] )|(?<=is ))([a-z]{3,12}(?:[ ][a-z]{3,12}){3,9})(?=[\"'`.,;]|\s*\n|\s*\Z)"
        ),
        _is_not_placeholder,
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
        _is_quoted_password,
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


def _find_seed_phrases(text: str, lowered: str) -> Iterator[MatchSpan]:
    for heading in _PHRASE.finditer(lowered):
        ends: list[int] = []
        at = heading.end()
        while len(ends) < 25 and (word := _PHRASE_WORD.match(text, at)) and word[1] not in _PHRASE_ENDS:
            ends.append(word.end(1))
            at = word.end()
        length = next((length for length in _PHRASE_LENGTHS if length <= len(ends)), 0)
        if length:
            yield MatchSpan(heading.end(), ends[length - 1], "seed_phrase")


def find_secrets(text: str, also: Collection[str] = ()) -> list[MatchSpan]:
    """Return the secrets in a text, and personal numbers of the kinds in `also`, in order and without overlaps."""
    spans = _find_all(text, also)
    view = plain_view(text)
    if view is not None:
        spans += map(view.to_original, _find_all(view.text, also))
    for start, end, inner in find_base64(text):
        if kinds := _find_all(inner, also):
            spans.append(MatchSpan(start, end, kinds[0].kind))
    return _merge_overlaps(spans) if spans else spans


def _find_all(text: str, also: Collection[str]) -> list[MatchSpan]:
    lowered = Lowered(text)
    spans = [*find_tokens(text, lowered), *find_broken_tokens(text, lowered)]
    if also:
        spans += find_personal_numbers(text, also)
    if "://" in text and "@" in text:
        spans += [MatchSpan(*url.span(1), "password") for url in _URL.finditer(text) if _is_url_password(url[1])]
    return spans + _find_by_context(text, lowered)


def _find_by_context(text: str, lowered: Lowered) -> list[MatchSpan]:
    """Return secrets that the words and marks around them reveal."""
    spans: list[MatchSpan] = []
    for position in _INDEX.positions_in(lowered):
        kind, _, pattern, judge, needs = _IDIOMS[position]
        if any(need in text for need in needs):
            for match in pattern.finditer(text):
                group = match.lastindex or 0
                if judge(match[group]):
                    spans.append(MatchSpan(*match.span(group), kind))
    spans += find_in_blocks(text, lowered)
    spans += find_codes(text, lowered)
    spans += find_entry_codes(text, lowered)
    spans += find_sentence_passwords(text, lowered)
    if lowered.has(_PHRASE_HINTS):
        spans += _find_seed_phrases(text, lowered.text)
    if lowered.has(HINTS):
        spans += find_named_secrets(text, lowered.text)
    return spans


def _merge_overlaps(spans: list[MatchSpan]) -> list[MatchSpan]:
    """Merge overlapping spans. The kind of the earliest rule wins."""
    merged: list[tuple[int, MatchSpan]] = []
    for rank, span in sorted(enumerate(spans), key=lambda entry: entry[1].start):
        if not merged or span.start >= merged[-1][1].end:
            merged.append((rank, span))
            continue
        first, last = merged[-1]
        kind = last.kind if first < rank else span.kind
        merged[-1] = min(first, rank), MatchSpan(last.start, max(last.end, span.end), kind)
    return [span for _, span in merged]
