import re

import pytest

from bethink.config.groups import PERSONAL_KINDS
from bethink.providers.redaction import SecretRedactor
from tests.pace import is_linear
from tests.unit.hostile import beginnings, rule_patterns

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
    *("password a. it's now ", "password for the a b ", "the alarm 1234 is ", "log in with a1 and "),
    *(
        "unlock it with 1234a ",
        "unlock it with 1234 ",
        "Just type a1b2c3 when ",
        "a1b2c3, the password ",
        "A" * 69 + "\n",
    ),
    *("A" * 60 + "\n  " + "A" * 9, "aB3+/9Zx" * 8 + "\r\n =", 'key = f("a', "connect(a, 'b', "),
    *("user a1, pass ", "a@b.c1 / ", "password a1 all ", "a1b2c3是密", "--db-password ", "a1 -u b -p ", "[a]\na=1\n"),
    *("a1:b2c3d4@h", 'create_user("a1",', "password as a b c ", "a-a_a.a-password "),
    *("password from a1b2c3d4 to ", "identified by ", "4111 ", "DE89 ", "+1 2", "a@b."),
]


PATTERNS = rule_patterns()
EACH_PATTERN = pytest.mark.parametrize("pattern", PATTERNS, ids=PATTERNS.values())


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_takes_no_longer_than_its_length_allows(unit: str) -> None:
    assert is_linear(redact, unit, size=2000)


@pytest.mark.parametrize("unit", ["password a1b2c3 ", "key='a b', ", "the code is 4417. "])
def test_sixteen_times_the_text_costs_at_most_twenty_times(unit: str) -> None:
    assert is_linear(redact, unit, size=4000, times=16, slack=1.25)


def test_a_dense_text_is_masked_instead_of_judged() -> None:
    """More values than the model judges are secrets unless they are plain names."""
    text = "".join(f"key={number}x{number}y user_name " for number in range(1000, 2000))

    redacted = redact(text)

    assert "1999x1999y" not in redacted
    assert "user_name" in redacted


@EACH_PATTERN
def test_no_pattern_takes_long_for_many_of_its_own_beginnings(pattern: re.Pattern[str]) -> None:
    slow = [
        unit
        for unit in beginnings(pattern)
        if not is_linear(lambda text: [found.end() for found in pattern.finditer(text)], unit, size=1000, times=8)
    ]

    assert slow == []


@EACH_PATTERN
def test_the_rules_together_take_no_longer_for_the_beginnings_of_one(pattern: re.Pattern[str]) -> None:
    assert all(is_linear(redact, unit, size=1000, times=8, slack=2) for unit in beginnings(pattern)[-1:])


@pytest.mark.parametrize("pattern", [r"a+b", r"(?<!b)a[ab]*c", r"x?a{0,9000}b"])
def test_quadratic_pattern_is_detected(pattern: str) -> None:
    assert any(not is_linear(re.compile(pattern).findall, unit, size=250) for unit in beginnings(re.compile(pattern)))
