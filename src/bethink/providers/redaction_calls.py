"""Secrets in function calls, URLs and headers, without a name before the value."""

import re
from collections.abc import Callable

from bethink.providers.redaction_hints import Hints
from bethink.providers.redaction_idioms import STRING, Idiom, is_literal_password, is_random, is_word_or_more, rule
from bethink.providers.redaction_values import is_password
from bethink.providers.redaction_views import is_basic

_ANY_STRING = r"""(?:"[^"\n]{0,120}"|'[^'\n]{0,120}')"""


def _call(functions: str, before: int, judge: Callable[[str], bool] = is_word_or_more) -> Idiom:
    """Return the idiom of a function that takes a password after `before` other arguments."""
    names = re.findall(r"[A-Za-z_. ]{3,}", functions.replace("\\b", "").replace("\\.", "."))
    hints = (name.lower() for name in names)
    others = rf"(?:(?:[\w.]{{0,20}}{_ANY_STRING}|[^,()\"'\n]{{1,80}}),\s{{0,20}}){{{before}}}"
    pattern = re.compile(rf"(?:{functions})\s?[(\[]\s{{0,20}}{others}(?:[rbuN]|Some\()?{STRING}")
    return Idiom("password", Hints(*hints), pattern, judge, ("(", "["))


_CODE = [
    _call(
        r"HTTPBasicAuth|HTTPDigestAuth|BasicAuth|NetworkCredential|SetBasicAuth|set_basic_auth|basic_auth"
        r"|setBasicAuth|withBasicAuth|basicAuthentication|UsernamePasswordCredentials|UsernamePasswordToken"
        r"|PSCredential|AuthBase|PlainAuthenticator|PasswordAuthentication|PlainAuthProvider",
        1,
    ),
    _call(r"auth\s?=\s?|\bauth\s?:\s?|\.auth|[.>]login|\.log_in|\.signIn|\.authenticate|Credentials|credentials", 1),
    _call(
        r"\bPDO|mysqli|mysqli_connect|mysql_connect|getConnection|Sequelize|PlainAuth|MySQLdb\.connect"
        r"|oracledb\.connect|odbc_connect|createPool|DBI->connect|dbConnect|open_database",
        2,
    ),
    rule(
        "secret",
        "jwt|signwith|setsigningkey|construct_event|constructevent",
        rf"(?:(?:jwt|JWT|jsonwebtoken)\.(?:sign|verify|encode|decode)|signWith|setSigningKey|construct_event"
        rf"|constructEvent)\([^,()\n]{{1,120}},\s{{0,8}}(?:[^,()\n\"']{{1,60}},\s{{0,8}})?{STRING}",
        is_word_or_more,
    ),
    _call(
        r"pymysql\.connect|psycopg2?\.connect|cx_Oracle\.connect|ftplib\.FTP|\bFTP|ssh2_auth_password|imap_open"
        r"|ldap_bind",
        2,
    ),
    _call(r"WiFi\.begin|ssh\.connect|client\.connect|connectWifi|ldap_bind", 1),
    _call(r"ssh\.connect|client\.connect|Credentials|mysql_real_connect", 3),
    _call(r"[a-z_]{0,20}_(?:login|auth|authenticate|bind)|[a-z]{2,20}(?:Login|Authenticate)", 2, is_password),
    rule("password", ".tochararray()", rf"{STRING}\.toCharArray\(\)", is_password),
    _call(
        r"bcrypt\.\w{1,20}|argon2\.\w{1,20}|hash_password|hashPassword|HashPassword|hashpw|make_password|password_hash"
        r"|[eE]ncoder\.(?:encode|matches)|scrypt\w{0,8}|pbkdf2\w{0,12}|PBKDF2\w{0,12}|deriveKey|createCipher\w{0,4}",
        0,
    ),
    _call(
        r"\b(?:login|logIn|log_in|signIn|sign_in|signin|authenticate"
        r"|createCipher\w{0,4}|loginAs|log_in_as|bind_s|simple_bind_s|username_pw_set|[a-z_]{0,20}(?:pw|pass"
        r"|password|credentials|auth)_set|setCredentials|Auth|registerUser|createUser|addUser|signUp|register)",
        1,
        is_password,
    ),
    _call(r"[.:>](?:auth|authenticate|unlock)", 0, is_password),
    _call(r"check_password\w{0,5}|verify_password|verifyPassword|auth_password|authPassword|comparePassword", 1),
    _call(
        r"create_(?:super)?user|createUser|addUser|add_user|signUp|sign_up|register|new User|createAccount",
        2,
        is_password,
    ),
    _call(r"pgp_sym_\w{7}|AES_ENCRYPT|AES_DECRYPT|aes_encrypt|aes_decrypt|ENCRYPTBYPASSPHRASE", 1, is_password),
    _call(r"ENCRYPTBYPASSPHRASE|EncryptByPassPhrase|unlockAccount|Unlock|decryptWith|openKeychain", 0, is_password),
    rule(
        "secret",
        "cookieparser|fernet(|serializer(|signer(|secretkeyspec(|cookiesession",
        rf"(?:cookieParser|Fernet|URLSafe\w{{0,20}}Serializer|Signer|SecretKeySpec|TimestampSigner)\(b?{STRING}",
        is_word_or_more,
    ),
    rule(
        "password",
        "send_keys|sendkeys|.type(|.fill(|setvalue",
        rf"(?i:passw(?:or)?d|\bpass|\bpwd|\bpw)\b[^\n]{{0,40}}?(?:send_?[kK]eys|type|fill"
        rf"|setValue)\(\s{{0,4}}{STRING}",
        is_word_or_more,
    ),
    rule(
        "secret",
        "createhmac|hmac.new",
        rf"(?:createHmac\([^,()\n]{{1,40}},|hmac\.new\(b?)\s{{0,8}}b?{STRING}",
        is_word_or_more,
    ),
    rule(
        "password",
        "${",
        r"\$\{[\w.-]{0,60}(?:pass(?:word)?|pwd?|pw|secret|token)[\w.-]{0,20}:-?([^\s{}\"']{4,128})\}",
        is_literal_password,
        re.IGNORECASE,
    ),
    rule(
        "api_key",
        "key|token",
        rf"\b[A-Z]\w{{1,40}}(?:(?:::|\.)\w{{1,20}})?\({STRING}\)[ \t;]{{0,8}}"
        r"(?:#|//)[^\n]{0,40}\b(?:key|token|secret)\b",
        is_random,
    ),
    rule("private_key", '"kty"', r"\"(?:d|k|p|q|dp|dq|qi)\"\s{0,4}:\s{0,4}\"([\w-]{16,2048})\"", is_random),
]
_SETTINGS = [
    rule("authorization", "basic ", r"\b[Bb]asic[ ]([A-Za-z0-9+/]{8,512}={0,2})(?![\w+/=])", is_basic),
    rule(
        "api_key",
        "appid=|subscription-key=|apikey=|api_key=|app_key=|auth=",
        r"[?&](?:appid|subscription-key|apikey|api_key|app_key|auth)=([\w%~.-]{20,256})",
        is_random,
        re.IGNORECASE,
    ),
    rule("token", "://", r"://([\w.~%-]{20,256}):[^\s/@\"'<>]{0,128}@(?=[\w\[{$%-])", is_random),
    rule("token", "://", r"://([\w.~%-]{20,256})@(?!o[0-9]+\.ingest|[\w.-]{0,60}sentry)(?=[\w\[{$%-])", is_random),
    rule("token", "s3://|gs://", r"s3://([A-Z0-9]{16,24}):[^\s/@]{20,128}@", is_literal_password),
    rule(
        "session",
        "cookie",
        r"(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|_session|csrftoken|remember_token"
        r"|\w{0,20}session\w{0,10})=([^\s;,\"']{16,512})",
        is_random,
    ),
    rule(
        "token",
        "_pat",
        r"(?<![A-Z0-9_])[A-Z][A-Z0-9_]{1,40}_PAT[\"']?[ \t]?[=:][ \t]?[\"']?([\w.=/+-]{16,256})",
        is_random,
    ),
    rule("token", "ac", r"\bAC[0-9a-f]{32}[\"'],\s{0,8}[\"']([0-9a-f]{32})[\"']", is_random),
    rule("api_key", "require(", rf"\brequire\([\"'][\w@/.-]{{1,60}}[\"']\)\({STRING}", is_random),
    rule(
        "api_key",
        "buildconfigfield|resvalue",
        r"(?:buildConfigField|resValue)[^\n]{1,80}?(?i:key|token|secret|password|pass)[\"'],[ \t]{0,8}"
        r"[\"']\\?[\"']([^\"'\\\n]{6,256})",
    ),
]
CALLS = [*_CODE, *_SETTINGS]
