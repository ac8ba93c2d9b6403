"""Names of secrets in many languages, and their positions in a text."""

import re
from collections.abc import Iterator
from itertools import product

from bethink.providers.redaction_hints import Hints
from bethink.providers.redaction_tokens import alternation


def _join_variants(*names: str) -> list[str]:
    return [joiner.join(name.split()) for name, joiner in product(names, ("", "_", "-", " "))]


_NAMES = {
    "password": [
        *("password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "contraseña", "contrasena", "senha"),
        *("mot de passe", "mdp", "clave", "palavra-passe", "palavra passe", "parola d'ordine", "parola", "parole"),
        *("parolam", "parolası", "parolamız", "parolanız", "wachtwoord", "toegangscode", "lösenord", "lösenordet"),
        *("passord", "passordet", "kodeord", "kodeordet", "adgangskode", "adgangskoden", "lykilorð", "salasana"),
        *(
            "salasana on",
            "salasanani on",
            "salasanamme on",
            "salasanani",
            "salasanasi",
            "salasanamme",
            "hasło",
            "hasła",
            "hasłem",
            "heslo",
            "heslem",
            "jelszó",
            "jelszavam",
        ),
        *("jelszava", "jelszavunk", "şifre", "şifrem", "şifresi", "şifremiz", "şifreniz", "sifre", "sifresi", "sifrem"),
        *("пароль", "пароля", "паролю", "паролем", "парола", "паролата", "гасло", "лозинка", "κωδικός", "κωδικος"),
        *("κωδικό", "סיסמה", "סיסמא", "הסיסמה", "كلمة المرور", "كلمة السر", "كلمه المرور", "الرقم السري"),
        *("पासवर्ड", "পাসওয়ার্ড", "รหัสผ่าน", "mật khẩu", "kata sandi", "sandi", "kata laluan"),
        *(
            "密码",
            "密碼",
            "口令",
            "パスワード",
            "パスコード",
            "パスフレーズ",
            "暗証番号",
            "合言葉",
            "비밀번호",
            "비번",
            "암호",
        ),
        *("pre-shared-key", "pre-shared key", "pre shared key"),
        *("كلمة مرور", "كلمة سر", "باسورد", "الباسورد", "şifreyi", "şifresini", "şifremi", "şifresine", "şifreye"),
        *("parolayı", "parolasını", "hasłu", "heslu", "hesla", "wifi-schlüssel", "wlan-schlüssel", "wlan schlüssel"),
        *("safe word", "safeword", "code word", "codeword", "codewort", "losungswort", "mot secret", "кодовое слово"),
        *("кодовое слово", "palabra secreta", "parola segreta", "palavra secreta", "tajne hasło", "暗号", "合い言葉"),
        *(
            "netzwerkschlüssel",
            "passkey",
            "network key",
            "wifi key",
            "wi-fi key",
            "clé wifi",
            "llave wifi",
            "lösenordets",
            "passordene",
            "salasanaksi",
            "salasanan",
            "authtok",
            "passwords",
        ),
        *("pasword", "passwrd", "passowrd", "paswd", "p/w", "requirepass", "masterauth", "pwd", "pass", "pw", "psk"),
    ],
    "aws_secret": _join_variants("secret access key"),
    "private_key": [*_join_variants("private key"), "client-key-data"],
    "api_key": _join_variants(
        *("api key", "access key", "secret key", "license key", "license key", "auth key", "encryption key", "app key"),
        *("session key", "cookie key", "hmac key", "jwt key", "subscription key", "cipher key", "aes key"),
        *("erlang cookie", "cookie secret", "webhook signing", "auth token", "authtoken"),
        *("api schlüssel", "clé api", "clave api", "chiave api", "chave api", "klucz api", "ключ api", "api ключ"),
        *("api anahtarı", "api sleutel", "api nyckel", "apiキー", "api 密钥", "api 키", "مفتاح api"),
        *(
            "routing key",
            "integration key",
            "signing key",
            "master key",
            "account key",
            "preshared key",
            "shared key",
            "service key",
            "webhook key",
        ),
    ),
    "token": ["token", "bearer"],
    "secret": ["secret", "credential", "credentials", "creds"],
    "authorization": ["authorization", "auth"],
    "key": ["key", "schlüssel", "clé", "chiave", "chave", "sleutel", "nyckel", "klucz", "salt", "ключ", "密钥", "密鑰"],
}
KIND = {name: kind for kind, names in _NAMES.items() for name in names}
_NAME = re.compile(alternation(KIND))
HINTS = Hints(
    *(
        "p/w",
        "pre-shared",
        "pre shared",
        "masterauth",
        "pass",
        "pasw",
        "pw",
        "psk",
        "secret",
        "token",
        "key",
        "cred",
        "bearer",
        "authorization",
        "kennwort",
        "contrase",
    ),
    *(
        "senha",
        "clave",
        "parol",
        "wachtwoord",
        "lösenord",
        "adgangskode",
        "salasana",
        "hasł",
        "şifre",
        "mdp",
        "palavra",
    ),
    *(
        "toegangscode",
        "kodeord",
        "lykil",
        "hesl",
        "jelsz",
        "sifre",
        "auth",
        "salt",
        "sandi",
        "kata laluan",
        "schlüssel",
    ),
    *("парол", "гасло", "лозинка", "ключ", "κωδικ", "סיסמ", "كلم", "السري", "पासवर्ड", "পাসওয়ার্ড", "รหัสผ่าน", "mật khẩu"),
    *("密", "口令", "パス", "暗証", "合言葉", "비밀번호", "비번", "암호", "clé", "cookie", "signing", "باسورد"),
    *(
        "llave",
        "word",
        "wort",
        "mot secret",
        "слово",
        "secreta",
        "segreta",
        "暗号",
        "合い言葉",
    ),
    *("chiave", "chave", "klucz", "anahtar", "sleutel", "nyckel", "キー", "키", "مفتاح"),
)
"""Every text with a name contains one of these, in lower case."""
_WHOLE_WORDS = {
    "pwd",
    "pass",
    "pw",
    "psk",
    "key",
    "auth",
    "mdp",
    "salt",
    "clé",
    "chiave",
    "chave",
    "sandi",
    "sifre",
    "parole",
}
PINS = frozenset(
    (
        *(
            "clave",
            "şifre",
            "şifrem",
            "şifresi",
            "şifremiz",
            "sifre",
            "sifresi",
            "sifrem",
            "senha",
            "passcode",
            "الرقم السري",
        ),
        *("كلمة السر", "toegangscode", "adgangskode", "adgangskoden", "κωδικός", "κωδικος", "κωδικό"),
    )
)
"""Names of passwords that are also names of PINs."""
_NOT_BEFORE = (
    *("page", "pagination", "continuation", "cursor", "public", "publishable", "site", "primary", "foreign"),
    *(
        "sort",
        "partition",
        "cache",
        "idempotency",
        "storage",
        "hashed",
        "pad",
        "eos",
        "bos",
        "unk",
        "sep",
        "cls",
        "mask",
    ),
)
_NOT_BEFORE_THIS = {
    "token": ("next", "starting", "resume", "publickey", "public_key", "public-key"),
    "secret": ("existing",),
    "clave": ("palabra", "palabras"),
}
_AFTER = re.compile(
    r"(?:[_-]?(?:key|token|secret|password|value|string|base|old|new|prod|production|live|test|dev|staging|main|primary|"
    r"secondary|default|b64|base64|hex|code|confirmation|confirm|repeat|again|[0-9]{1,3})){0,4}+(?![A-Za-z0-9])"
)
CAMEL = re.compile(r"[a-z0-9](?!Key)[A-Z][a-z]")
"""`smtpPass`. Names that end in `Key` too often mean something else."""
_NUMBER = 3  # digits of a number that belongs to a name
_NOTHING = re.compile("")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
LEADS = frozenset(
    (
        *("is", "was", "are", "to", ":", "=", "->", "=>", "→", "now", "as", "ist", "lautet", "war", "est"),
        *("from", "be", "es", "é", "è", "era", "jest", "是", "は", "は、", "为", "это", "it's", "-", "–", "—", "set"),
        *("called", "still", "heißt", "heisst", "lautete", "auf", "von", "sind", "c'est", "c\u2019est", "sur"),
        *("en", "a", "à", "est:", "para", "por", "foi", "sono", "na", "z", "je", "er", "är", "til", "till"),
        *("naar", "van", "este", "la", "là", "adalah", "ialah", "คือ", "है", "هي", "هو", "היא", "הוא", "είναι"),
        *("ειναι", "теперь", "на", "с", "є", "був", "был", "стал", "такой", "saya", "mea", "mitt", "min", "mein"),
        *("mia", "mio", "mi", "mon", "ma", "minha", "meu", "mijn", "moje", "mój", "мой", "мій", "моя", "μου"),
        *("mας", "שלי", "שלנו", "الخاصة", "ni", "का", "wordt", "byla", "bylo", "oli", "fue", "será", "wäre"),
        *("wird", "becomes", "olarak", "dir:", "olan", "của", "tôi", "改成", "设为"),
        *("jetzt", "nun", "neu", "neu:", "maintenant", "désormais", "ahora", "agora", "ora", "adesso", "teraz", "nu"),
        *(
            "par",
            *("siendo", "sendo", "rimane", "remains", "reste", "bleibt", "brzmi", "blijft", "rotated"),
            "durch",
            "by",
            "als",
            "comme",
            "come",
            "jako",
            "как",
            "som",
            "przez",
            "ficou",
            "quedó",
            "wurde",
            "devient",
        ),
        *("сейчас", "şimdi", "artık", "pra", "in", "con", "mit", "with", "avec", "com", "zu", "sarà", "sera", "być"),
        *("będzie", "будет", "inte", "currently", "aktuell", "actuellement", "actualmente", "może", "peut-être"),
        *("su", "på", "op", "w", "для", "hier", "here", "aquí", "aqui", "qui", "ici", "tutaj", "здесь", "dit", "det"),
    )
)
"""Words between a name and its value."""
DETERMINERS = frozenset(
    (
        *("the", "my", "our", "your", "his", "her", "their", "a", "as", "is", "new", "old", "current", "admin"),
        *("root", "main", "wifi", "master", "login", "das", "mein", "unser", "neues", "le", "mon", "notre", "la"),
        *("mi", "nuestra", "nueva", "minha", "nova", "il", "mia", "nuova", "het", "mijn", "moje", "nowe", "mitt"),
        *("mit", "eine", "ein", "unsere", "nouveau", "nueva", "notre", "votre", "ton", "su", "tu", "seu", "sua"),
        *("nossa", "tua", "sua", "nostra", "naše", "nasze", "naszym", "twoje", "мой", "наш", "новый", "это", "vårt"),
        *("vores", "ons", "onze", "bank", "router", "server", "guest", "email", "vpn", "database", "un", "une", "l'"),
    )
)
"""Words between a value and the name after it."""


def names_in(text: str, lowered: str) -> Iterator[tuple[str, int, int]]:
    """Yield each name in a text with its start and end. `lowered` is the text in lower case."""
    for match in _NAME.finditer(lowered):
        name, start = match.group(), match.start()
        if name in _WHOLE_WORDS and lowered[max(0, start - 1) : start].isalpha() and not CAMEL.match(text, start - 1):
            continue
        suffix = _AFTER.match(lowered, match.end())
        if not name.isascii() and (suffix is None or suffix.end() - match.end() > _NUMBER) and _UNSPACED.match(name):
            suffix = _NOTHING.match(lowered, match.end())  # 密码 and similar names are followed directly by a value
        if name == "auth" and suffix and suffix.group():  # `auth0`, `auth_value`
            continue
        before = lowered[max(0, start - 16) : start].rstrip("_- ")
        if before.endswith(_NOT_BEFORE_THIS.get(name, ())):
            continue
        if suffix and not before.endswith(_NOT_BEFORE):
            yield ("password" if "password" in suffix.group() else name), start, suffix.end()


def limits_of(names: list[tuple[str, int, int]]) -> list[int]:
    """Return for each name the end of the search for its value: the next name of the same kind."""
    limits: list[int] = []
    next_of: dict[str, int] = {}
    for name, start, end in reversed(names):
        limits.append(min(next_of.get(KIND[name], end + 160), end + 160))
        next_of[KIND[name]] = start
    return limits[::-1]
