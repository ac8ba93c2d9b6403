"""Personal numbers, removed only if a setting lists them: cards, accounts, phone numbers, addresses, IDs.

A card that can be used, with its expiry date or code, is always a secret.
"""

import re
from collections.abc import Callable, Collection, Iterator

from bethink.providers.redaction.spans import MatchSpan

_CARD = re.compile(
    r"(?<![\w.+-])(?:[2-6][0-9]{3}[ -]?(?:[0-9]{4}[ -]?){2}[0-9]{1,7}"
    r"|3[0467-9][0-9]{2}[ -]?[0-9]{6}[ -]?[0-9]{4,5})(?![\w/-])"
)
_CODE = re.compile(
    r"\b(?:cvv2?|cvc2?|csc|(?:card )?(?:verification|security) (?:code|number)|prüfziffer|cryptogramme"
    r"|código de segur\w{1,6}|code de sécurité|codice di sicurezza)[ \t]{0,3}(?:is|ist|est|es|é|è"
    r"|[:=#])?[ \t]{0,3}([0-9]{3,4})(?![0-9])",
    re.IGNORECASE,
)
_EXPIRY = re.compile(r"(?<![0-9/-])(?:0?[1-9]|1[0-2]) ?[/-] ?(?:20)?[2-4][0-9](?![0-9/-])")
_EXPIRES = re.compile(
    r"exp|valid|thru|until|gültig|ablauf|läuft|scad|venc|cadu|valab|válid|jusqu|geldig|verval|ważn|skt|срок|до|действ|期限|有效"
    r"|到期|유효",
    re.IGNORECASE,
)
_LONG_NUMBER = re.compile(r"[2-6][0-9]{3}[ -]?[0-9]{4}")
_BARE_CODE = re.compile(r"(?<![0-9/.-])([0-9]{3,4})(?![0-9/-]|[.,][0-9])")
_REACH = 120
"""Characters around a card number in which its expiry date and code can stand."""
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,4})?(?![A-Za-z0-9])")
_PHONE = re.compile(
    r"(?<![\w+.-])(?<![0-9][ -])(?:\+[1-9][0-9]{0,2}(?:[ .-]?\(?[0-9]{1,5}\)?){2,6}"
    r"|\([0-9]{2,5}\)[ -]?[0-9]{2,5}(?:[ -]?[0-9]{2,5}){1,3}"
    r"|0[0-9]{1,4}(?:[ /-][0-9]{2,5}){2,5}|0[0-9]{2,4}[ /-]?[0-9]{6,8}|[2-9][0-9]{2}[.-][0-9]{3}[.-][0-9]{4})(?![\w-])"
)
_EMAIL = re.compile(r"(?<![\w.+%-])[\w.+%-]{1,64}@(?:[\w-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])")
_IP = re.compile(r"(?<![\w.])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![\w.]*[0-9])")
_SSN = re.compile(r"(?<![\w-])(?!000|666|9)[0-9]{3}[- ](?!00)[0-9]{2}[- ](?!0000)[0-9]{4}(?![\w-])")
_CPF = re.compile(r"(?<![\w.-])[0-9]{3}\.[0-9]{3}\.[0-9]{3}-[0-9]{2}(?![\w-])")
_NAMED_ID = re.compile(
    r"\b(?:ssn|social security(?: number| no\.?)?|ni number|nino|national insurance(?: number)?"
    r"|nhs(?: number| no\.?)?|passport(?: number| no\.?)?"
    r"|driver'?s licen[sc]e(?: number)?|tax id|tin|steuer-?id(?:nr)?\.?|steueridentifikationsnummer"
    r"|steuernummer|personalausweis(?:nummer)?"
    r"|reisepass(?:nummer)?|sozialversicherungsnummer|numéro de sécurité sociale|passeport|dni|nie|nif|cpf"
    r"|cnpj|rg|codice fiscale|bsn"
    r"|burgerservicenummer|pesel|снилс|инн|паспорт|fødselsnummer|personnummer|cpr(?:-nummer)?|henkilötunnus"
    r"|aadhaar|pan|tc kimlik(?: no)?)"
    r"(?:[ \t]{1,3}(?:is|no|nr|number|ist|est|es|é|è|er|är|on|of mine)\b\.?){0,2}[ \t]{0,3}[:=#]?[ \t]{0,3}"
    r"((?=[A-Z-]{0,6}[0-9])[A-Z0-9](?:[ .-]?[A-Z0-9]){5,21})(?![A-Za-z0-9])",
    re.IGNORECASE,
)


def find_personal_numbers(text: str, kinds: Collection[str]) -> Iterator[MatchSpan]:
    """Find the personal numbers of these kinds."""
    for kind, pattern, judge in _RULES:
        if kind in kinds:
            for match in pattern.finditer(text):
                group = match.lastindex or 0
                if judge(match[group]):
                    yield MatchSpan(*match.span(group), kind)


def find_cards(text: str) -> Iterator[MatchSpan]:
    """Find cards that can be used: a number with its expiry date, its code, or both."""
    if _LONG_NUMBER.search(text):
        for card in _CARD.finditer(text):
            yield from (MatchSpan(*span, "card") for span in _usable_card(text, card))


def _usable_card(text: str, card: re.Match[str]) -> list[tuple[int, int]]:
    """Return the positions of a card number, its expiry date and its code, if one of these stands near it."""
    low, high = max(0, card.start() - _REACH), card.end() + _REACH
    expiry = _EXPIRY.search(text, card.end(), high) or _EXPIRY.search(text, low, card.start())
    code = _CODE.search(text, card.end(), high) or _CODE.search(text, low, card.start())
    if code is None and expiry and expiry.start() >= card.end():
        code = _BARE_CODE.search(text, expiry.end(), high)
    # Two of three are enough if the number is valid. Other long numbers also stand near a date.
    is_date = expiry is not None and _is_expiry(text, card, expiry)
    if not ((expiry and code) or (_is_card(card[0]) and (code or is_date))):
        return []
    return [card.span(), *([expiry.span()] if expiry else ()), *([code.span(1)] if code else ())]


def _is_expiry(text: str, card: re.Match[str], expiry: re.Match[str]) -> bool:
    """Return whether a date next to a card number is its expiry date."""
    before = text[max(0, expiry.start() - 24) : expiry.start()]
    return 0 <= expiry.start() - card.end() <= 3 or _EXPIRES.search(before) is not None


def _digits(value: str) -> list[int]:
    return [int(letter) for letter in value if letter in "0123456789"]


def _is_card(value: str) -> bool:
    digits = _digits(value)
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    doubled = [digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2]]
    return (sum(doubled) + sum(digits[::-2])) % 10 == 0


def _is_iban(value: str) -> bool:
    packed = value.replace(" ", "")
    rotated = packed[4:] + packed[:4]
    return 15 <= len(packed) <= 34 and int("".join(str(int(letter, 36)) for letter in rotated)) % 97 == 1


def _is_phone(value: str) -> bool:
    return 7 <= len(_digits(value)) <= 15


def _is_cpf(value: str) -> bool:
    digits = _digits(value)
    for length in (9, 10):
        check_digit = (
            sum(digit * (length + 1 - position) for position, digit in enumerate(digits[:length])) * 10 % 11 % 10
        )
        if check_digit != digits[length]:
            return False
    return len(set(digits)) > 1


def _is_address(value: str) -> bool:
    parts = [int(part) for part in value.split(".")]
    return all(part < 256 for part in parts) and parts[0] not in (0, 10, 127, 255) and parts[:2] != [192, 168]


def _any(value: str) -> bool:
    return len(value) > 0


_RULES: list[tuple[str, re.Pattern[str], Callable[[str], bool]]] = [
    ("card", _CARD, _is_card),
    ("card", _CODE, _any),
    ("iban", _IBAN, _is_iban),
    ("national_id", _NAMED_ID, _any),
    ("national_id", _SSN, _any),
    ("national_id", _CPF, _is_cpf),
    ("phone", _PHONE, _is_phone),
    ("email", _EMAIL, _any),
    ("ip_address", _IP, _is_address),
]
