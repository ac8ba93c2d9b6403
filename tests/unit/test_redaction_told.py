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
        ('let api_key = String::from("w7Kd2nQx9TzB4mRv0Ls8");', "w7Kd2nQx9TzB4mRv0Ls8"),
        ('iwctl station connect "Attic" password "quartzlamp"', "quartzlamp"),
        ("keyPassword 'quartzlamp'", "quartzlamp"),
        ('val pw = env.DB_PASS ?: "Gully_17"', "Gully_17"),
        ('store.load(input, "Canyon15a".toCharArray())', "Canyon15a"),
        ("sftp_login($c, 'web', 'Gully17b')", "Gully17b"),
        ("enter quartz5 when it wants the root password", "quartz5"),
        ("gib Larch71 ein, wenn nach dem Passwort gefragt wird; nimm Larch72 als Passwort", "Larch72"),
        ("my password never changes, always Larch1971", "Larch1971"),
        ("creds of the test box: deploy / Larch-71b", "Larch-71b"),
        ("router is at 10.0.0.1, root / Larch-71b", "Larch-71b"),
        ("keepass is still Larch-71b-fern", "Larch-71b-fern"),
        ("the PIN was weak, so I changed it to 8265 today", "8265"),
        ("la password è Larice.verde3", "Larice.verde3"),
        ("银行卡密码190388", "190388"),
        ("Tablet-PIN von Opa: 2614", "2614"),
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
        "try Office365 for the password sync",
        "use Keeper2024.3 as the password manager",
        "the pin header is 2x20 wide",
        "das Passwort ist in KeePassXC2 gespeichert",
        """<Field label="Password" type={show2 ? 'text' : 'password'} />""",
        "admin / editor / viewer are the roles",
        "the PIN was too short, so I set it to expire in 2027",
        "Enter 2FA when it asks for the password.",
    ],
)
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert redact(text) == text
