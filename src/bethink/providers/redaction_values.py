"""Classify a value: a random token, a chosen password, or only a placeholder for one."""

import re
from itertools import islice

_CHUNK = re.compile(r"[A-Za-z0-9]{3,}+")
_CHUNKS = 12  # a token has few gaps; a value with many gaps is text
_RUN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{16,}|[0-9A-F]{16,})")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_CODE = re.compile(
    r"[<{(\[]|\$[A-Z_][A-Z0-9_]*\Z|\$[a-z_]+\Z|\$[({]|\$[A-Za-z_]\w*(?:-\Z|->|[\[{])|#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\Z|%[A-Za-z_]\w*%\Z|%\(?\w*\)?[sdr]\Z|%[0-9.]+[A-Za-z]\)?\Z|0x[0-9a-fA-F]{1,8}\Z|[a-z_.]{1,12}\?[a-z0-9]{1,3}:[a-z0-9]{1,3}\Z|![A-Z][A-Za-z]+\Z|&'?[a-z_]+(?:\Z|[\[.(])"
    r"|[A-Za-z_][\w.?=!&|]*[(\[]|[\w-]+\.(?:py|js|ts|go|rs|md|json|ya?ml|txt|html?)\Z|(?:sha[0-9]+|md5|dword|qword|hex(?:\([0-9a-f]\))?)[-:]|pk_|pk\.|phc_|PBKDF2\Z|@[A-Z][A-Za-z]+\(|arn:|urn:|0x[0-9a-fA-F]{40}\Z|(?:qr|m)?/[\[(^\\]"
    r"|(?:SHA[0-9]+|MD5):|ssh-|AAAA[BCE]3Nza|pbkdf2|scrypt:|\$(?:2[aby]|argon2\w*|[156y])\$|\{S?SHA\}"
)
_CODE_INSIDE = re.compile(
    r"\$\{|\{\{|\}\}|=\{|::|\?\.|=>|://|\.\.\.|…|\*\*\*|•••|\(\?[=!:]|%0A|%(?:[0-9]\$|\.[0-9]+)?[sd](?![A-Za-z0-9])|xxxx|XXXX|EXAMPLE|(?:required|nullable|string)\||\|(?:min|max):"
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_PATH = re.compile(r"(?:[.~]{0,2}/|[a-z][\w.-]{0,40}/)[\w./-]*")
_BRACKETED = re.compile(r"[<{(\[](?=.*[0-9])[^\s${]{4,}[^\s>})\]]")
_ROOTS = frozenset(
    (
        *(
            "os",
            "self",
            "this",
            "settings",
            "config",
            "process",
            "env",
            "app",
            "var",
            "local",
            "data",
            "secrets",
            "form",
        ),
        *(
            "user",
            "auth",
            "i18n",
            "labels",
            "messages",
            "errors",
            "login",
            "account",
            "fields",
            "common",
            "request",
            "req",
        ),
        *(
            "args",
            "params",
            "props",
            "state",
            "ctx",
            "db",
            "cfg",
            "conf",
            "options",
            "opts",
            "validation",
            "t",
            "module",
        ),
    )
)
_STAND_IN = re.compile(
    r"(?:my|some)[-_ .](?:[^0-9]*|.*(?:key|token|secret|pass|pw|api).*)"
    r"|(?:your|insert|enter|replace|paste|put|dummy|fake|sample|example|mock)[-_ .].*"
    r"|(?:your|dummy|example)[a-z]*[0-9]{0,2}|\w{0,40}example"
    r"|(?:[\w.-]{0,60}[-_ ])?(?:here|placeholder|example|redacted|masked|hidden|hashed)"
    r"|[0-9]{1,3}(?:[-~\u301c\uff5e到至][0-9]{1,3})?(?:文字|桁|位|个?字符|个?字|자).*"
    r"|change[-_]?(?:me|it|this)\W*|to[-_]?do|0?123456(?:7(?:8(?:90?)?)?)?"
    r"|(?-i:Test[A-Z]\w*|test_[a-z]\w*)|(?:test|foo|bar|baz|demo)(?:[-_]?(?:test|foo|bar|baz|demo|pass(?:word)?|token|key|[0-9]{1,3}))*",
    re.IGNORECASE | re.DOTALL,
)
_NO_PASSWORDS = frozenset(
    (
        *("none", "null", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "required"),
        *("optional", "hidden", "unset", "empty", "string", "str", "text", "bool", "int", "password"),
        *("passwd", "passphrase", "passcode", "pass", "pwd", "secret", "token", "user", "username"),
        *("admin", "root", "guest", "login", "value", "default", "postgres", "mysql", "redis", "mongo"),
        *("rabbitmq", "mypassword", "wrong", "invalid", "incorrect", "missing", "newpassword"),
        *("oldpassword", "hunter", "expected", "contraseña", "senha", "passwort", "kennwort", "varchar", "char"),
        *("field", "input", "label", "basic", "digest", "bearer", "enabled", "disabled", "number", "object", "boolean"),
        *("plaintext", "current", "ignored", "unchanged", "encrypted", "expired", "weak", "strong", "valid", "example"),
        *("development", "production", "staging", "localhost", "foobared", "nopass", "prompt", "ask", "tbd", "n/a"),
        *("generated", "configured", "provided", "changed", "updated", "stored", "rotated", "deleted", "created"),
        *("loaded", "protected", "accepted", "rejected", "denied", "failed", "success", "successful", "correct"),
        *("needed", "mandatory", "visible", "sensitive", "random", "secure", "unknown", "auto", "automatic", "manual"),
        *(
            "on_create",
            "on_update",
            "always",
            "never",
            "inherit",
            "inherited",
            "external",
            "internal",
            "global",
            "keyring",
            "keychain",
            "vault",
            "environment",
        ),
        *("myuser", "myname", "anonymous", "nobody", "nothing", "something", "whatever", "hashed", "salted", "reset"),
        *(
            "insecure",
            "incomplete",
            "sample",
            "passkey",
            "passkeys",
            "forgotten",
            "leaked",
            "compromised",
            "mismatch",
            "parole",
            "lösenord",
            "wachtwoord",
            "hasło",
            "parola",
        ),
    )
)
_WELL_KNOWN = frozenset(
    (
        *("letmein", "qwerty", "qwertz", "azerty", "iloveyou", "trustno1", "passw0rd", "p@ssword", "asdfgh"),
        "asdfghjkl",
        *("abc123", "admin123", "root123", "password1", "password123", "welcome1", "qwerty123", "1q2w3e4r", "zaq12wsx"),
    )
)
_NAMES = re.compile(
    r"(?i:password|passwd|passphrase|passkey|secret|token|pwd|psk|credential)|(?<![A-Za-z])key(?![a-z])|Key(?![a-z])|KEY"
)
_NUMBERED = re.compile(
    r"(?i:[xe]d?(?:25519|448)|o?auth[12]|sha[0-9]{1,3}|base(?:32|58|64)|b64|utf_?(?:8|16)|ipv[46]|[ehpr]s(?:256|384|512)"
    r"|p(?:256|384|521)|pkcs[0-9]{1,2}|pbkdf2|x509|md5|aes(?:128|192|256)|rsa[0-9]{3,4}|rfc[0-9]{3,4}|argon2|http[23])"
    r"|S3|EC2|K8s|V[1-9](?![0-9])"
)
"""Technical terms with digits that occur in program names: `X25519PrivateKey`."""
_JOINED_WORDS = re.compile(r"(?:[A-Z]{2,5}(?=[A-Z][a-z]))?[A-Za-z][a-z]{2,}(?:[A-Z]{1,4}[a-z]{2,})+")
"""`AddAuthFieldMask`. Few random values without a digit look like it."""
_PROGRAM_NAME = re.compile(r"[A-Za-z_.]*")
_CHOSEN = re.compile(
    r"(?:[A-Za-z0-9]+[!@#%^]+)+[A-Za-z0-9]*|(?!o?auth|base|python|postgres|redis)[a-z]{4,}[0-9][a-z]{3,}"
)
"""Passwords that contain a word like "secret". Names have no such characters, and no digit between words."""
_TECHNICAL = re.compile(
    r"(?:sha|md|base|utf|ipv?|oauth|argon|python|postgres\w*|http|https?|tls|ssl|rsa|aes|ed|hs|rs|es|v|x|ec|h|p|s|web|saml|wpa|ikev|erc|usb"
    r"|chrome|firefox|safari|edge|ios|android|windows|ubuntu|debian|java|node|php|ruby)[-_]?[0-9]+[\w.-]{0,4}"
    r"|(?-i:[0-9]{1,4}[-_]?[a-z]+)|[1-9]password|auth0|k8s|i18n|w3c|v?[0-9]+(?:\.[0-9]+)+\S*|[a-z_]{2,20}=[0-9]+|(?:pkcs|socks|imap|ntlm)v?[-_#]?[0-9]+[-\w.]*|[0-9:.,/-]+[a-z]{0,3}"
    r"|https?/[0-9.]+|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(?:Z|[+-][0-9:]+)?|(?-i:[a-z][a-z0-9.-]*:[0-9]{2,5})",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"[^@\s]+@[\w-]+\.[\w.-]+(?:['\u2019]s)?|[\w-]+\.[a-z]{2,5}")
_INNER = re.compile(r"[A-Za-z][!@#$%^&*+~?]+[A-Za-z]")
_SPECIAL = re.compile(r"[!@#$%^&*+~?]")
_CAMEL = re.compile(r"[A-Za-z]*[a-z][A-Z][A-Za-z]*[!@#$%^&*+~?]+")
_HYPHENED = re.compile(r"[a-z]{3,}(?:-[a-z]{3,}){3,}")
_JOINED = re.compile(r"[a-z]{2,}(?:_[a-z]{2,}){2,}|[a-z]{4,}(?:-[a-z]{4,}){2,}")
"""Three or more joined words. In code these are names."""
_TWO_JOINED = re.compile(
    r"(?!(?:brand|plain|self|read|case|well|auto|user|multi|high|half|full|open|hard|soft|hand|system|segunda|terça|quarta"
    r"|quinta|sexta|wifi|pass|back|over|under|real|long|short|post|cross|alpha|state|work|world|time|code|data)-)"
    r"[a-z]{4,}(?:-[a-z]{2,})*-(?!sensitive|only)[a-z]{3,}"
)
"""Two or more joined words, as in many network passwords, but not adjectives such as "case-sensitive"."""
_LICENSE = re.compile(r"(?=(?:[A-Z-]*[0-9]){3})[A-Z0-9]{4,6}(?:-[A-Z0-9]{4,6}){3,6}")

_APP_PASSWORD = re.compile(r"[a-z]{4}(?: [a-z]{4}){3}")
_PLAIN_WORD = re.compile(r"[a-z]{2,12}[0-9]{0,4}|[0-9]{1,4}")
_SENTENCE = re.compile(
    r"\b(?:the|is|are|your|my|must|have|has|of|to|be|in|with|for|at|least|and|or|not|no|too|characters?|digits?|letters?|"
    r"days?|hours?|minutes?|seconds?|password|token|key|secret|required|minimum|max|expires?|invalid|please|enter)\b"
)


def is_scrambled(value: str, *, min_length: int = 10, run: int = 4) -> bool:
    """Return whether at least `min_length` characters look random, with few of one kind in a row."""
    count = 0
    for match in islice(_CHUNK.finditer(value), _CHUNKS):
        chunk = match.group()
        runs = len(_RUN.findall(chunk))
        if runs > 1 and runs * run >= len(chunk):
            count += len(chunk)
            if count >= min_length:
                return True
    return False


def is_digest(value: str) -> bool:
    """Return whether a value looks like a hash or an ID, which is a secret only if its name says so."""
    return any(shape.fullmatch(value) for shape in (_HEX, _UUID, _ULID))


def is_placeholder(value: str, *, literal: bool = False) -> bool:
    """Return whether a value is code, a reference or a placeholder rather than a secret.

    With `literal`, as in quotes, a dotted name with a digit counts as text and not as code.
    """
    if len(set(value.lower())) <= 2 or value.lower().strip("!?.") in _NO_PASSWORDS:
        return True
    if _CODE_INSIDE.search(value) or _STAND_IN.fullmatch(value):
        return True
    if _CODE.match(value) and not (literal and _BRACKETED.fullmatch(value)):
        return True
    dotted = _DOTTED.fullmatch(value) and not (literal and _is_dotted_literal(value))
    if (dotted or _PATH.fullmatch(value)) and not is_scrambled(value, min_length=16):
        return True
    digits = sum(map(str.isdigit, value))
    if digits and _is_technical_name(value):
        return True
    if digits > 1 or not _NAMES.search(value):
        return False
    return not (digits and (is_scrambled(value) or _CHOSEN.fullmatch(value)))


def _is_technical_name(value: str) -> bool:
    """Return whether a value consists of words, with digits only in technical terms."""
    remainder = _NUMBERED.sub("", value)
    return (
        len(remainder) < len(value)
        and len(_RUN.findall(remainder)) * 3 <= len(remainder)
        and bool(_PROGRAM_NAME.fullmatch(remainder))
    )


def is_dotted_word(value: str) -> bool:
    """Return whether a value such as "lark.fern7" is a word and not the name of a program or a host."""
    first, _, suffix = value.partition(".")
    return "." not in suffix and value[-1:].isdigit() and first.lower() not in _ROOTS


def _is_dotted_literal(value: str) -> bool:
    first = value.partition(".")[0]
    few = value.count(".") == 1 or (value.count(".") == 2 and first[:1].isupper())
    return any(map(str.isdigit, value)) or (few and first.lower() not in _ROOTS)


def is_token(value: str, *, min_length: int = 10) -> bool:
    """Return whether a value named token, key or secret is one. A long value is judged by its beginning."""
    value = value[:128]
    if len(value) < min_length or value.count(" ") > 2 or _JOINED_WORDS.fullmatch(value) or is_placeholder(value):
        return False
    if is_digest(value) or is_scrambled(value, min_length=min_length) or _LICENSE.fullmatch(value):
        return True
    return len(_SPECIAL.findall(value)) > 1 and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def is_password(value: str, *, literal: bool = False) -> bool:
    """Return whether a word in a sentence must be a password, not a dictionary word or technical term."""
    if len(value) <= 12 and value.lower() in _WELL_KNOWN:
        return True
    if (
        not 6 <= len(value) <= 128
        or is_placeholder(value, literal=literal)
        or _TECHNICAL.fullmatch(value)
        or _ADDRESS.fullmatch(value)
    ):
        return False
    if any(map(str.isdigit, value)) and any(map(str.isalpha, value)):
        return True
    if _INNER.search(value) or _CAMEL.fullmatch(value) or _HYPHENED.fullmatch(value):
        return True
    return len(value) >= 8 and is_scrambled(value, min_length=8)


def is_joined_words(value: str, *, min_words: int) -> bool:
    """Return whether a value joins at least two or three lower-case words. With 0, return False."""
    shape = {2: _TWO_JOINED, 3: _JOINED}.get(min_words)
    return (
        shape is not None
        and shape.fullmatch(value) is not None
        and _SENTENCE.search(re.sub("[-_]", " ", value)) is None
    )


def is_assigned_password(value: str, *, quoted: bool, words: bool = False) -> bool:
    """Return whether a value assigned to a name, for example after `=`, is a password.

    A value in quotes may be a single word; with `words`, several.
    """
    if len(value) > 128:
        return is_scrambled(value[:128], min_length=32)
    if value.lower() in _WELL_KNOWN:
        return True
    if len(value) < 4 or is_placeholder(value, literal=quoted):
        return False
    if " " in value:
        return words and is_phrase(value)
    if is_password(value) or (len(value) >= 6 and _SPECIAL.search(value)):
        return True
    if any(map(str.isdigit, value)):
        return len(value) >= 6 or any(map(str.isalpha, value))
    return quoted and len(value) >= 6


def is_phrase(value: str) -> bool:
    """Return whether words in quotes are a password and not a sentence about one."""
    words = value.split(" ")
    if _APP_PASSWORD.fullmatch(value):
        return True
    if not 2 <= len(words) <= 8 or _SENTENCE.search(value):
        return False
    return all(map(_PLAIN_WORD.fullmatch, words)) and any(map(str.isdigit, value))


def is_word_list(value: str, *, min_words: int = 3) -> bool:
    """Return whether a value is a list of lower-case words and not a sentence."""
    return (
        min_words <= value.count(" ") + 1 <= 8
        and value == value.lower()
        and (_SENTENCE.search(value) is None and all(map(_PLAIN_WORD.fullmatch, value.split(" "))))
    )
