import re

import pytest

from benchmarks.redaction import is_removed
from benchmarks.redaction_strangers import HALVES, strangers
from bethink.config.groups import PERSONAL_KINDS, RedactionSettings
from bethink.errors import ConfigurationError
from bethink.providers.redaction import SecretRedactor

KEY = b"a key for tests, and for nothing else"
PLACEHOLDER = re.compile(r"\[REDACTED:([a-z_]+):([0-9a-f]{4})\]")
redact = SecretRedactor(KEY).redact
redact_all = SecretRedactor(KEY, also=PERSONAL_KINDS).redact
TOKEN = "gh" + "p_" + "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zAbC1d"


def cut(text: str) -> str:
    return PLACEHOLDER.sub("X", redact(text))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("pass\u200bword: kestrel42 ok", "pass\u200bword: X ok"),
        ("my password is kes\u2060trel\u200b42.", "my password is X."),
        (
            "\uff30\uff21\uff33\uff33\uff37\uff2f\uff32\uff24\uff1dkestrel42",
            "\uff30\uff21\uff33\uff33\uff37\uff2f\uff32\uff24\uff1dX",
        ),
        ("q=password%3Dkestrel42%26user%3Dbob", "q=password%3DX%26user%3Dbob"),
        ("&quot;password&quot;: &quot;kestrel42&quot;", "&quot;password&quot;: &quot;X&quot;"),
        ("p a s s w o r d : kestrel42 !", "p a s s w o r d : X !"),
        ("API_KEY=\\\n  " + TOKEN[4:] + "\n", "API_KEY=\\\n  X\n"),
        ("see " + TOKEN[:20] + "\n" + TOKEN[20:] + "\nthanks", "see X\nthanks"),
        ("> " + TOKEN[:20] + "\n> " + TOKEN[20:] + "\n> bye", "> X\n> bye"),
        ("echo cGFzc3dvcmQ9a2VzdHJlbDQy | base64 -d", "echo X | base64 -d"),
    ],
)
def test_disguised_secret_is_removed_and_the_rest_preserved(text: str, left: str) -> None:
    assert cut(text) == left


@pytest.mark.parametrize(
    "text",
    [
        "soft\u00adhyphen pass\u00adword reset",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467 and a token",
        "q=what%20is%20a%20token%3F",
        "echo aGVsbG8gd29ybGQsIG5vdGhpbmcgdG8gc2Vl | base64 -d",
        TOKEN[:8] + " is how such a token begins",
    ],
)
def test_disguised_text_without_a_secret_is_unchanged(text: str) -> None:
    assert redact(text) == text


def test_both_passwords_of_a_change_are_removed() -> None:
    assert cut("I changed my password from kestrel42 to Osprey!77 today") == "I changed my password from X to X today"


@pytest.mark.parametrize("half", HALVES)
def test_redacting_unseen_samples_twice_changes_nothing(half: str) -> None:
    for samples in strangers(half).values():
        for sample in samples:
            for cutter in (redact, redact_all):
                once = cutter(sample.text)
                assert cutter(once) == once


@pytest.mark.parametrize(
    ("half", "least", "most"),
    [
        ("held", {"tokens": 1, "code": 0.95, "prose": 0.95, "split": 0.9}, 0.005),
        ("late12", {"tokens": 1, "code": 0.9, "prose": 0.75, "split": 0.9}, 0.04),
        ("late13", {"tokens": 0.95, "code": 0.95, "prose": 0.55, "split": 0.6}, 0.016),
        ("late14", {"tokens": 1, "code": 0.95, "prose": 0.6}, 0.017),
    ],
)
def test_redaction_meets_documented_rate(half: str, least: dict[str, float], most: float) -> None:
    """The model was trained on the first set, and on nothing of the others."""
    corpus = strangers(half)
    removed = {
        family: sum(is_removed(sample, redact(sample.text)) for sample in corpus[family]) / len(corpus[family])
        for family in least
    }
    touched = sum(redact(sample.text) != sample.text for sample in corpus["none"])

    assert {family: share for family, share in removed.items() if share < least[family]} == {}
    assert touched / len(corpus["none"]) <= most


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("visa 4532 0151 1283 0366, exp 11/27, cvv 123 ok", "visa X, exp X, cvv X ok"),
        ("Karte 4532015112830366 gültig bis 11/2027, Prüfziffer 123", "Karte X gültig bis X, Prüfziffer X"),
        ("card 4532 0151 1283 0366 was declined on 11/27", "card 4532 0151 1283 0366 was declined on 11/27"),
    ],
)
def test_card_with_expiry_date_and_code_is_always_a_secret(text: str, left: str) -> None:
    assert PLACEHOLDER.sub("X", redact(text)) == left


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("card 4532 0151 1283 0366", "card X"),
        ("an DE89 3704 0044 0532 0130 00 senden", "an X senden"),
        ("ring +44 20 7946 0958 after six", "ring X after six"),
        ("write to mara@posteo.example today", "write to X today"),
        ("my SSN is 536-22-8741.", "my SSN is X."),
        ("it came from 203.0.113.77", "it came from X"),
    ],
)
def test_personal_number_is_removed_only_if_configured(text: str, left: str) -> None:
    assert redact(text) == text
    assert PLACEHOLDER.sub("X", redact_all(text)) == left


@pytest.mark.parametrize("text", ["card 4532 0151 1283 0367", "DE88 3704 0044 0532 0130 00", "at 192.168.0.1"])
def test_number_with_invalid_checksum_is_not_personal(text: str) -> None:
    assert redact_all(text) == text


def test_the_kinds_of_personal_numbers_are_a_setting() -> None:
    assert RedactionSettings().personal_kinds == ()
    assert RedactionSettings(personal="card, iban").personal_kinds == ("card", "iban")
    assert RedactionSettings(personal="all").personal_kinds == PERSONAL_KINDS
    with pytest.raises(ConfigurationError, match=r"Unknown kind .*'shoe'"):
        _ = RedactionSettings(personal="shoe").personal_kinds


def test_neither_a_redactor_nor_its_errors_show_a_secret() -> None:
    redactor = SecretRedactor(KEY)
    redactor.redact("password: kestrel42")

    assert "kestrel" not in repr(redactor) + repr(vars(redactor))
    with pytest.raises(TypeError) as raised:
        redactor.redact(b"password: kestrel42")  # pyright: ignore[reportArgumentType]
    assert "kestrel" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("card 4532 0151 1283 0366, exp 11/27", "card X, exp X"),
        ("4532-0151-1283-0366 11/27", "X X"),
        ("carte 4532015112830366, cryptogramme 123", "carte X, cryptogramme X"),
        ("Karte 4532 0151 1283 0366, gültig bis 11/2027, Prüfziffer 123", "Karte X, gültig bis X, Prüfziffer X"),
    ],
)
def test_usable_card_is_always_removed(text: str, left: str) -> None:
    assert re.sub(r"\[REDACTED:card:[0-9a-f]{4}\]", "X", redact(text)) == left


@pytest.mark.parametrize(
    "text",
    [
        "card 4532 0151 1283 0367, exp 11/27",
        "paid with 4532015112830366 on 12/24",
        "order 4532 0151 1283 0366 arrives soon",
    ],
)
def test_unusable_card_is_unchanged(text: str) -> None:
    assert redact(text) == text


_HEX = "0f3a9c4b7d21e8f65a90c3b2d4e1f768"
_BASE64 = "kX9v2LmQ8rTz/4BnW7+cYh1JfPdGsA3eUoIiR6Ky"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Client('AC{_HEX}', '{_HEX[::-1]}')", _HEX[::-1]),
        (f"our twilio token {_HEX} is old", _HEX),
        (f"AKIAQWERTYUIOPASDFGH\n{_BASE64}", _BASE64),
        (f"for the aws account use {_BASE64} please", _BASE64),
        (f"eyJrIjoi{_BASE64.replace('/', '').replace('+', '')}==", "eyJrIjoi"),
        ("git clone https://" + "k7dqx2mz" * 6 + "abcd@dev.azure.com/a", "k7dqx2mz"),
        (f"unseal with {_BASE64}abc=", _BASE64),
        (" neighbor 10.0.0.1 password 7 0822455D0A16", "0822455D0A16"),
        ("enable secret 9 $9$" + "dE5fGh7jKlMn" + "$" + _BASE64.replace("/", "."), "$9$"),
        ("tacacs-server key 7 0822455D0A16", "0822455D0A16"),
        ("snmp-server community Larkspur9 RO", "Larkspur9"),
    ],
)
def test_token_is_removed_next_to_the_name_of_its_provider(text: str, secret: str) -> None:
    assert secret not in redact(text)
