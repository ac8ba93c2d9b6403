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
        ("the code for the bike shed is 8841, don't lose it", "8841"),
        ("key box code 3906 left of the door", "3906"),
        ("de code van de garagedeur is 5567", "5567"),
        ("el código de la taquilla es 4093", "4093"),
        ("il codice della cassetta delle chiavi è 2274", "2274"),
        ("the vault code? 55-19-72.", "55-19-72"),
        ("pour la boîte à clés, compose le 3390", "3390"),
        ("marca 1974* y empuja, ese es el código", "1974"),
        ("the wifi password is larch-lamp", "larch-lamp"),
        ("a palavra-passe é larico_do_norte", "larico_do_norte"),
        ("larch-green-lamp - that's the password for the router", "larch-green-lamp"),
        ("son mot de passe est « Larch&Fern9 »", "Larch&Fern9"),
        ("密码是“Larch#Fern88”", "Larch#Fern88"),
        ("use Larch2Larch for the guest network", "Larch2Larch"),
        ("I'll spell the password: L - a - r - c - h - 7 - 1", "L - a - r - c - h - 7 - 1"),
        ('BROKER_URL = "amqp://worker:l4rch.Fern@queue:5672//jobs"', "l4rch.Fern"),
        ("my license key is QAMFP-27P67-4BFSO-ZPTX6", "QAMFP-27P67-4BFSO-ZPTX6"),
    ],
)
def test_a_secret_is_cut_out_though_nothing_announces_it(text: str, secret: str) -> None:
    assert secret not in redact(text)
    assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "unlock the next level with 2500 coins",
        "the code for the card is on page 1200 of the manual",
        "the code of the building dates from 1978",
        "Pin code of Bangalore is 560001",
        "the wifi password is case-sensitive",
        "use the password I told you on the phone, capital letter first",
        "Hasło krzyżówki, 6 poziomo: „otwiera bramę”",
        "パスワード：8文字以上、英数字を含めてください。",
        "Get-Secret -VaultName kv -Name SqlAdminPassword -AsPlainText",
        'my $password = $ENV{DB_PASS} // die "not set";',
        "resetPassword(token: String!, newPassword: String!): AuthPayload!",
        "Authorization: Bearer <token>\nX-Request-Id: a0066290-d25f-4ac6-b8b2-c330743890ac",
        "token expired for user=4417 session=ae62bfa5-fca5-4603-b922-86de001103ca",
        '"PUT /users/7/password HTTP/1.1" 204',
        "por la clave «auto-raise-delay»",
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
