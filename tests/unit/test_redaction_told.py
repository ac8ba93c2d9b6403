"""Secrets that no "password is" announces, and what looks like them."""

import pytest

from bethink.providers.redaction import SecretRedactor

redact = SecretRedactor(b"a key for tests, and for nothing else").redact


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('<Connector keystorePass="Granite10" />', "Granite10"),
        ("app --admin-pass quartzlamp --port 80", "quartzlamp"),
        ("helm upgrade x y --set-string a.password=quartzlamp,replicas=2", "quartzlamp"),
        ("mail:\n  pass: quartzlamp", "quartzlamp"),
        ("[database]\nPASSWD = quartzlamp", "quartzlamp"),
        ("bcrypt.hashSync('Canyon15a', 10)", "Canyon15a"),
        ("create_user('anna', 'a@x.test', 'Gully17b')", "Gully17b"),
        ("the password changed again. It's now Larch-71b", "Larch-71b"),
        ("пароль от почты Utes46ka", "Utes46ka"),
        ("unlock the phone with 190388", "190388"),
        ("l'alarme c'est 7734", "7734"),
        ("das passwort ist sonnenblume, alles klein", "sonnenblume"),
        ("用Larch71bee登录", "Larch71bee"),
    ],
)
def test_a_secret_is_cut_out_though_nothing_announces_it(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "unlock the next level with 2500 coins",
        "set the alarm to 0630",
        "log in with Microsoft365",
        "I forgot my password for Office365 again",
        "Bitte das Passwort von SAP4711 zurücksetzen",
        "client.login(user, passwd)",
        "docker run -u 1000 -p 8080:80 nginx",
        "ssh://git@git.acme.test:2222/team/key-store.git",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == text
