import pytest

from bethink.providers.redaction import SecretRedactor
from tests.pace import growth

redact = SecretRedactor(b"a key for tests, and for nothing else").redact

HOSTILE = [
    *("a", " ", ".", "a=", "password ", "password", "password,", "password: ", "pw ", "pw is ", 'password="', "key "),
    *("pw=", "apassword=", "密码", "password=a1b2c3d4 ", "password:ab12]", "AKIA", "İ", "[REDACTED:", "wifi:", "?sig="),
    *("aB3+/9Zx", "-----BEGIN", "-----BEGIN PRIVATE KEY-----\n", "://:", "://a:@", '"', "'", "\\", "token:\"'`"),
    *("<private>", "<private></private>", "<pri<private></private>vate>", "eyJ", "eyJ.", "eyJhbGciOiJI.", "sk-"),
    *("lorem ipsum ", "seed phrase ", "mnemonic: apple river stone ", "otp ", "pin is ", "login as a/"),
    *('variable "token" {', "<password>", "passphrase a is apple ", "token\nvalue:"),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_takes_no_longer_than_its_length_allows(unit: str) -> None:
    assert growth(lambda size: redact((unit * (size // len(unit) + 1))[:size]), 25_000) < 8
