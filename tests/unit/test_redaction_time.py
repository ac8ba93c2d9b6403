import pytest

from bethink.providers.redaction import SecretRedactor
from bethink.setting_groups import PERSONAL_KINDS
from tests.pace import growth

redact = SecretRedactor(b"a key for tests, and for nothing else", also=PERSONAL_KINDS).redact

HOSTILE = [
    *("a", " ", ".", "a=", "password ", "password", "password,", "password: ", "pw ", "pw is ", 'password="', "key "),
    *("pw=", "apassword=", "密码", "password=a1b2c3d4 ", "password:ab12]", "AKIA", "İ", "[REDACTED:", "wifi:", "?sig="),
    *("aB3+/9Zx", "-----BEGIN", "-----BEGIN PRIVATE KEY-----\n", "://:", "://a:@", '"', "'", "\\", "token:\"'`"),
    *("<private>", "<private></private>", "<pri<private></private>vate>", "eyJ", "eyJ.", "eyJhbGciOiJI.", "sk-"),
    *("lorem ipsum ", "seed phrase ", "mnemonic: apple river stone ", "otp ", "pin is ", "login as a/"),
    *('variable "token" {', "<password>", "passphrase a is apple ", "token\nvalue:"),
    *("p\u200ba", "\uff50", "%70assword%3D", "p a s s w o r d ", '"a" +\n', "cGFzc3dvcmQ9TGFya3NwdXIhOQ==", "mysql -p"),
    *("cGFzc3dvcmQ9TGFya3NwdXIhOQ", "ghp_\naB3dE6gH9jK2\n", "curl -u ", "PDO(a,", "echo a | sudo ", "a|password|b\n"),
    *("insert into a (b, password) values ('a', 'b'),", "insert into a (b, password) values (a, ", "tokens = ['a', "),
    *("secrets:\n  a: b1c2d3e4f5\n", "backup codes: a1b2 ", "verification code a b c ", "パスワードは"),
    *(
        "password a. it's now ",
        "password for the a b ",
        "the alarm 1234 is ",
        "unlock it with 1234a ",
        "log in with a1 and ",
    ),
    *("user a1, pass ", "a@b.c1 / ", "password a1 all ", "a1b2c3是密", "--db-password ", "a1 -u b -p ", "[a]\na=1\n"),
    *("a1:b2c3d4@h", 'create_user("a1",', "password as a b c ", "a-a_a.a-password "),
    *("password from a1b2c3d4 to ", "identified by ", "4111 ", "DE89 ", "+1 2", "a@b."),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_takes_no_longer_than_its_length_allows(unit: str) -> None:
    assert growth(lambda size: redact((unit * (size // len(unit) + 1))[:size]), 25_000) < 8
