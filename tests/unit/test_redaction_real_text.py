"""Text that programs, manuals and translations write around secrets, and secrets of lesser-known tools."""

import pytest

from bethink.providers.redaction import SecretRedactor

redact = SecretRedactor(b"a key for tests, and for nothing else").redact


@pytest.mark.parametrize(
    "text",
    [
        "Rows are identified by the key of their parent.",
        "Pass `fields` to limit what is returned.",
        "then pass its size to Buffer_Init2 for filling",
        "$user = $_POST['password'];",
        "bind($this->{dn}, password => $this->{bindpw});",
        "--pass-colour: #24a148;",
        "private_key: x25519.X25519PrivateKey",
        "auth: AuthType",
        '__all__ = ["OAuth2Auth", "OAuth2ClientAuth", "HttpCredentials", "JSHandle"]',
        "names = [\n  'email',\n  'password',\n  'fullname',\n]",
        '"Status": "FORCE_CHANGE_PASSWORD",\n"UserCreateDate": 15,',
        '"output_token": "AccessIdentityList.NextMarker", "limit_key": "MaxItems"',
        '"nextToken": "eyJOZXh0VG9rZW4iOiBudWxsLCAiYm90byI6IDEwfQ=="',
        "- id: hosting/hosting-1",
        "super().__init__(user=user, password=password, timeout=30)",
        "Enter passphrase for key '/home/anna/.ssh/id_ed25519':",
        "anna@web-1.acme.test's password:",
        'The password hint is "first car"',
        "I forgot the password to OneDrive",
        "(login|password|account)$/",
        '"Credentials": {"Expiration": "2023-12-20T02:06:07+00:00"}',
        '"encryptionKey": "arn:aws:kms:eu-west-1:123456789012:alias/aws/s3"',
        "  --ftp-password=LOZINKA   the password for FTP",
        "Cannot give --ask-password and --password together.",
        "Contraseña para '%s%s@%s': ",
        "PASS: TestLogin2 (0.01s)",
        "the PIN was changed in 2023",
        'variable "key_name" {\n  default = "deploy-2024"\n}',
        "existingSecret: postgres-auth-1",
        '  password: "Лозинка"',
    ],
)
def test_text_without_a_secret_stays(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('variable "admin_pass" {\n  type    = string\n  default = "Gully17b"\n}', "Gully17b"),
        ("export FORGE_PAT=w7Kd2nQx9TzB4mRv0Ls8", "w7Kd2nQx9TzB4mRv0Ls8"),
        ('Options{Addr: "h:1", Password: "Quartz.and.Lamp"}', "Quartz.and.Lamp"),
        ("username anna privilege 15 secret Gully17b", "Gully17b"),
        ('["CMD", "mysqladmin", "-pGully17b", "ping"]', "Gully17b"),
        ('.basic_auth("svc", Some("Gully_17"))', "Gully_17"),
        ('buildConfigField "String", "API_KEY", "\\"w7Kd2nQx9TzB4mRv0Ls8\\""', "w7Kd2nQx9TzB4mRv0Ls8"),
        ('export PASSWORD="quartz lamp"', "quartz lamp"),
        ("printf 'password=quartzlamp\\n' > a.cnf", "quartzlamp"),
        ("CREATE USER anna\n  IDENTIFIED BY Gully17b;", "Gully17b"),
        ("I changed the password to QuartzLamp7", "QuartzLamp7"),
        ("Moje hasło do poczty to Gully17b", "Gully17b"),
        ("use account anna with pass gully-17-lamp", "gully-17-lamp"),
    ],
)
def test_secret_of_a_tool_is_removed(text: str, secret: str) -> None:
    assert secret not in redact(text)
