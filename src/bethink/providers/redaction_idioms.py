"""Secrets in the idioms of shells, programs, databases and settings files, where no name stands before the value."""

import re
from collections.abc import Callable
from typing import NamedTuple

from bethink.providers.redaction_hints import Hints
from bethink.providers.redaction_values import is_assigned_password, is_password, is_token, stands_for_one
from bethink.providers.redaction_views import is_basic


class Idiom(NamedTuple):
    """A pattern whose last group is the secret, tried where one of its lower-cased hints stands."""

    kind: str
    hints: Hints
    pattern: re.Pattern[str]
    judge: Callable[[str], bool]
    needs: tuple[str, ...] = ("",)


def is_given(value: str) -> bool:
    """Return whether a value is a password where only a password can stand."""
    return not stands_for_one(value, literal=True) and not value.startswith(("-", "$", "%(", "@"))


def _is_word_or_more(value: str) -> bool:
    return is_assigned_password(value, quoted=True, words=True)


def _is_random(value: str) -> bool:
    return is_token(value, least=20)


def _is_user_password(value: str) -> bool:
    return not value.isdigit() and is_given(value)


_VALUE = r"""(?:"([^"\n]{3,128})"|'([^'\n]{3,128})'|([^\s"'|;]{3,128}))"""
_STRING = r"""(?:"([^"\n]{3,128})"|'([^'\n]{3,128})'|`([^`\n]{3,128})`)"""
_ANY_STRING = r"""(?:"[^"\n]{0,120}"|'[^'\n]{0,120}')"""


def _flag(tools: str, flags: str, judge: Callable[[str], bool] = is_given) -> Idiom:
    """Return the idiom of a command whose flag takes a password."""
    names = re.findall(r"[a-z0-9_ -]{2,}", re.sub(r"\w\?", "", tools))
    hints = (name if len(name) > 2 else f"{name} " for name in names)
    pattern = re.compile(rf"(?<![\w/.-])(?:{tools})\b[^\n|;]{{0,160}}?\s(?:{flags}){_VALUE}")
    return Idiom("password", Hints(*hints), pattern, judge, (" -", " /"))


def _call(functions: str, before: int, judge: Callable[[str], bool] = _is_word_or_more) -> Idiom:
    """Return the idiom of a function that takes a password behind so many other arguments."""
    names = re.findall(r"[A-Za-z_. ]{3,}", functions.replace("\\b", "").replace("\\.", "."))
    hints = (name.lower() for name in names)
    others = rf"(?:(?:[\w.]{{0,20}}{_ANY_STRING}|[^,()\"'\n]{{1,80}}),\s{{0,20}}){{{before}}}"
    pattern = re.compile(rf"(?:{functions})\s?[(\[]\s{{0,20}}{others}[rbuN]?{_STRING}")
    return Idiom("password", Hints(*hints), pattern, judge, ("(", "["))


def _rule(kind: str, hints: str, pattern: str, judge: Callable[[str], bool] = is_given, flags: int = 0) -> Idiom:
    return Idiom(kind, Hints(*hints.split("|")), re.compile(pattern, flags), judge)


_COMMANDS = [
    _flag("mysql|mariadb|mysqldump|mysqladmin|mysqlimport|mysqlsh", "-p(?=[^\\s=-])", is_password),
    _flag(
        "mongo|mongosh|beeline|ncftpput|ncftpget|mongodump|mongorestore|mongoexport|mongoimport|cqlsh|twine|evil-winrm",
        "-p ",
        _is_user_password,
    ),
    _flag("az login|docker login|podman login|oc login|helm registry login|nerdctl login|buildah login", "-p ?"),
    _flag("sshpass", "-p ?"),
    _flag("useradd|usermod", "-p ", _is_user_password),
    _flag("7z|7za|7zr|rar|unrar", "-h?p(?!df\\b)", is_password),
    _flag("unzip|zip|sqlcmd|bcp|mosquitto_pub|mosquitto_sub|ipmitool", "-P ?", _is_user_password),
    _flag("ldapsearch|ldapmodify|ldapadd|ldapdelete|ldapwhoami|ldappasswd|security add-generic-password", "-w "),
    _flag("snmpwalk|snmpget|snmpset|snmpbulkwalk", "-[AX] "),
    _flag("snmpwalk|snmpget|snmpset|snmpbulkwalk|onesixtyone", "-c ", is_password),
    _flag("ssh-keygen", "-[NP] ?"),
    _flag("openssl", "-k |-pass(?:in|out)? pass:|-pass(?:in|out)? ['\"]pass:|-password pass:"),
    _flag("keytool|jarsigner|apksigner", "-(?:storepass|keypass|srcstorepass|deststorepass) "),
    _flag("keytool|jarsigner", "-keypass "),
    _flag("redis-cli", "-a |--pass "),
    _flag("smbclient|winexe|rpcclient|net rpc", "-U ?['\"]?[\\w\\\\.@-]{1,60}%"),
    _flag("lftp", "-u [\\w.@-]{1,60},"),
    _flag(
        "curl|wget|https?|xh|ab|siege|etcdctl", "(?:-u|--user|-a|--auth|-A|--proxy-user)[ =]?['\"]?[^\\s:\"'/]{1,64}:"
    ),
    _flag("xfreerdp|xfreerdp3|wfreerdp|rdesktop|mstsc|cmdkey|runas|psexec|schtasks", "/(?:p|pass|password):|/rp |-p "),
    _flag(
        "htpasswd|mosquitto_passwd",
        "-[a-zA-Z]{0,4}b[a-zA-Z]{0,4}(?: -[a-zA-Z0-9]+){0,3}(?: (?!-)\\S{1,120}){1,2} (?=\\S+\\s*$)",
    ),
    _flag("htpasswd", "-[a-zA-Z]{0,4}b[a-zA-Z]{0,4} (?:\\S{1,120} )?[\\w.@-]{1,60} (?=\\S+\\s*(?:$|\\n|[|>]))"),
    _rule(
        "password",
        "rabbitmqctl",
        rf"rabbitmqctl (?:add_user|change_password|authenticate_user) [\w.@-]{{1,60}} {_VALUE}",
    ),
    _rule("password", "rclone obscure", rf"rclone obscure {_VALUE}"),
    _rule(
        "password", "wpa_passphrase ", rf"wpa_passphrase (?:\"[^\"\n]{{1,40}}\"|'[^'\n]{{1,40}}'|\S{{1,40}}) {_VALUE}"
    ),
    _rule("password", "net use", r"(?i:net use)\s[^\n]{0,80}?\\\\[\w.$\\-]{1,80}\s(?!/)([^\s/*]{4,128})(?=\s|$)"),
    _rule("password", "net user", r"(?i:net user)\s[\w.-]{1,40}\s(?!/)([^\s/*]{4,128})(?=\s|$)"),
    _rule(
        "password",
        "sqlplus|rman|impdp|expdp|sqlldr|oracle:thin",
        r"(?:sqlplus|rman target|impdp|expdp|sqlldr"
        r"|thin:)(?:\s-\w{1,8}){0,3}[ :]?[\"']?(?!//)[\w.]{1,40}/([^\s@/\"']{3,64})(?=@|\s|$)",
    ),
    _rule(
        "password",
        "sudo -s|--password-stdin|secret put|secret set|secret create|chpasswd|passwd |--with-token|cryptsetup"
        "|--passphrase-fd|secrets create|kinit|docker login",
        r"""(?:echo|printf)(?:\s-[neE]{1,3}|\s["']?%s(?:\\n)?["']?){0,2}\s"""
        r"""(?:"(?:\w{1,32}:)?([^"\n$]{3,128})"|'(?:\w{1,32}:)?([^'\n]{3,128})'|(?:\w{1,32}:)?([^\s"'|$`]{3,128}))"""
        r"""\s{0,4}\|\s{0,4}(?:sudo -S|[^\n|]{0,80}(?:--password-stdin|secrets? (?:put|set|create)|chpasswd"""
        r"""|passwd |--with-token|cryptsetup|--passphrase-fd|kinit|docker login))""",
    ),
    _rule(
        "password", "echo ", rf"pass(?:word)?[\w-]{{0,10}}(?:command|cmd|file)[ =][\"']?(?:<\()?echo (?:-n )?{_VALUE}"
    ),
    _rule(
        "password",
        "<<<",
        rf"(?:cryptsetup|kinit|password_stdin|gpg|openssl|smbpasswd|sudo -S|secret|login|passwd|--with-token"
        rf"|--password-stdin"
        rf"|env add)[^\n|;<]{{0,80}}<<<\s{{0,4}}{_VALUE}",
    ),
    _rule(
        "password",
        "mc alias|mc config",
        rf"mc (?:alias set|config host add) \S{{1,40}} \S{{1,120}} \S{{3,128}} {_VALUE}",
    ),
    _rule(
        "password",
        "config ",
        rf"(?:composer|poetry) config (?:--?\w{{1,20}} )?http-basic\.\S{{1,60}} \S{{1,60}} {_VALUE}",
    ),
    _rule("password", "bundle ", r"bundle config (?:set )?(?:--\w{1,20} )?\S{1,60} [\w.@-]{1,60}:(\S{4,128})"),
    _rule("token", "pypi-token", rf"pypi-token\.[\w-]{{1,40}} {_VALUE}", _is_random),
    _rule("password", "stats auth", r"stats auth [\w.@-]{1,60}:(\S{4,128})"),
    _rule(
        "password",
        "send ",
        r"(?i:p?ass(?:word|phrase)?)\W{1,8}\s{0,8}send (?:-- )?\"([^\"\n]{4,128}?)(?:\\[rn]){0,2}\"",
    ),
    _rule("password", "user ", r"(?m)^(?:ACL SETUSER|user) \w{1,40} on (?:#\w+ )?>(\S{4,128}) "),
    _rule("password", "protectinmemory", r"ProtectInMemory=\"True\">([^<\n]{4,256})</Value>"),
    _rule(
        "secret",
        "secret|config:set|put-parameter",
        r"(?:secrets?(?:[: ]|\sversion )(?:set|put|create|add)|config:set|ssm put-parameter)\b[^\n|;]{0,100}?\s"
        rf"(?:--body|--value|-b|--data|[A-Z][A-Z0-9_]{{1,60}}(?==))[ =]{_VALUE}",
    ),
    _rule(
        "secret",
        '"value"',
        r"\"value\"\s?:\s?\"([^\"\n]{6,512})\",\s{0,20}\"(?:type|kind|sensitive|secret|is_?secret"
        r"|secure)\"\s?:\s?(?:\"secret|\"secure|\"sensitive|true)",
        _is_word_or_more,
    ),
    _rule(
        "secret",
        '"value"',
        r"\"(?:type|kind|sensitive|secret|is_?secret|secure)\"\s?:\s?(?:\"(?:secret|secure|sensitive)\w{0,12}\""
        r"|true),\s{0,20}\"value\"\s?:\s?\"([^\"\n]{6,512})\"",
        _is_word_or_more,
    ),
    _rule("password", "isakmp key", r"isakmp key (?:[06] )?(\S{4,128}) "),
    _rule("password", "wireless|wifi-iface", r"\bkey[ =]'([^'\n]{8,63})'"),
    _rule(
        "password",
        "@",
        r"(?m)^\[?[\w.-]{1,80}\]?(?::[0-9]{2,5})?[ \t]{1,8}[\w.+-]{1,64}@[\w.-]{1,80}:([^\n]{6,64})$",
        _is_word_or_more,
    ),
    _rule(
        "password",
        "@",
        r"(?<![\w/:@.=-])(?!mailto|xmpp|acct|sips?:|tel)[\w.-]{1,40}:([^\s:@/\"'<>]{6,64})@(?=tcp\(|\("
        r"|(?:[0-9]{1,3}\.){3})",
        is_password,
    ),
    _rule("password", "@", r"[=\"'][\w.-]{1,40}:([^\s:@/\"'<>]{6,64})@(?=tcp\(|\()", is_given),
    _rule("password", "auth ", r"(?m)^(?:[\w.:-]{3,40}> ?)?AUTH (?:default )?([^\s\"']{6,128})\s*$", is_password),
    _rule("password", "securestring", rf"(?i:ConvertTo-SecureString)\s(?:-\w{{1,20}}\s){{0,3}}{_VALUE}"),
    _rule(
        "password",
        "pass|pw |psk",
        r"(?im)^[ \t#;>/-]{0,12}(?:pass|pw|pwd|psk)[ \t]{1,8}(\S{6,128})[ \t]*$",
        is_password,
    ),
    _rule("password", "psk", r"(?i:\bPSK|\bXAUTH|\bEAP)[ \t]{1,8}\"([^\"\n]{6,128})\""),
    _rule("password", "enable |username |neighbor ", r"\b(?:password|secret) [07] (\S{4,64})"),
    _rule(
        "password",
        "username ",
        r"(?m)^[ \t]{0,8}username \S{1,40} (?:privilege [0-9]{1,2} )?(?:password|secret) ([^\s:=]{6,64})[ \t]*$",
    ),
    _rule(
        "password",
        "]:",
        r"(?m)^\[[\w.-]{1,80}\]:[0-9]{2,5}[ \t]{1,8}[\w.+-]{1,64}:([^\s:]{6,64})[ \t]*$",
        is_password,
    ),
    _rule("password", "snmp-server community", r"snmp-server community (\S{4,64})"),
    _rule(
        "token",
        "vault login|cargo login|authtoken",
        rf"(?:vault login|cargo login|(?:add-)?authtoken) {_VALUE}",
        _is_random,
    ),
]
_PATH_TO = r"(?:psk|password|passwd|pass|pwd|secret|token)"
_LINES = [
    _rule(
        "password",
        "password |secret |passwd |key ",
        r"(?m)\b(?:password|secret|passwd|key) [0-9] ([^\s$]\S{3,63})[ \t]*$",
        is_password,
    ),
    _rule(
        "password",
        "pass |pw |passwd |password |psk ",
        r"(?m)^[ \t]{0,20}(?!bypass|compass|trespass|surpass|overpass|underpass|encompass)"
        r"[a-z]{3,20}(?:pass|pw|passwd|password|psk)[ \t]{1,8}([^\s\"'=:]{6,128})[ \t]*$",
        _is_word_or_more,
    ),
    _rule(
        "secret",
        "password|pass|secret|token|pwd|psk|_pw",
        r"(?m)(?:^|\s)(?i:ENV|ARG|setx|set|export|-g?x|put|add|modify|update|create"
        r"|edit)[ \t](?:[\w./:-]{1,40}[ \t]){0,2}"
        rf"(?:[\w./:-]{{1,60}}[_/.:](?i:{_PATH_TO}|pw)|[A-Z]{{2,12}}(?:PASSWORD|PASS|SECRET|TOKEN|PWD))[ \t]{{1,4}}"
        r"([^\s\"'=:-][^\s\"']{5,128})[ \t]*$",
        _is_word_or_more,
    ),
    _rule("password", "password password |passwd/", r"(?m)[/_-]pass\w{0,12} password (\S{4,128})$"),
    _rule(
        "password",
        "input password |type password |fill secret |type secret ",
        r"(?i:(?:input|type) password|(?:fill|type) secret)[ \t]{2,20}\S{1,80}[ \t]{2,20}(\S{4,64})[ \t]*(?=\n|\Z)",
        _is_word_or_more,
    ),
    _rule("password", "login=", r"\blogin=[\w.@-]{1,60}:([^\s\"'&]{4,128})"),
    _rule("password", "user ", r"(?m)^[ \t]{0,12}user \S{1,60} (?:insecure-)?password (\S{4,128})[ \t]*$"),
    _rule("password", "passphrase=|psk=", r"(?m)^[ \t]{0,12}[a-z_]{0,12}(?:passphrase|psk)=([^\s\"'$][^\n\"']{7,62})$"),
    _rule("password", " --plain", r"(?:pw|passw(?:or)?d) --plain\w{0,6} (\S{4,128})"),
    _rule("password", "user |login |auth ", r"(?mi)^(?:user|login|auth) [\w.@-]{2,40} (\S{6,64})[ \t]*$", is_password),
    _rule(
        "password",
        "basicauth|basic_auth|auth_basic|basic-auth",
        r"(?mi)(?:basic[_-]?auth|auth_basic)\b[^\n]{0,60}?[\s:]([^\s:]{6,64})[ \t]*$",
        is_password,
    ),
    _rule("password", "chpasswd", r"chpasswd:?\s[^\0]{0,60}?\n\s{1,20}(?:- )?[\w-]{1,32}:(\S{6,64})"),
    _rule(
        "password",
        "user|login",
        r"(?mi)^[ \t]{0,12}(?:user(?:name)?|login) \S{1,60}\r?\n[ \t]{0,12}pass(?:word|wd)? (\S{4,128})[ \t]*$",
    ),
    _rule("password", "//", r"(?:^|[\s\"'=(])//[\w.-]{1,40}:([^\s:@/\"'<>]{4,64})@(?=[\w-])"),
    _rule("password", "auth", r"\s--[\w-]{0,20}auth(?!or)[\w-]{0,12}[= ][\"']?[\w.@-]{1,60}:([^\s\"']{4,128})"),
    _rule("password", "encrypt_string", rf"encrypt_string {_VALUE}"),
    _rule("password", "iwconfig|ifconfig", r"(?:iwconfig|ifconfig)[^\n]{1,40} (?:key|wepkey) (?:s:)?(\S{5,64})"),
    _rule("password", "/user:", rf"(?i:net use)[^\n]{{1,120}} /user:\S{{1,60}} {_VALUE}"),
    Idiom(
        "password",
        Hints(" -u", " --user", " -l "),
        re.compile(
            r"\s(?:-u|-U|-l|--user(?:name)?)[ =]?[\w.@\\-]{1,60}\s(?:[^\s|;]{1,60}\s){0,4}?-(?:p|P"
            r"|w) ?(?![0-9.:]+[\s:/])" + _VALUE
        ),
        _is_word_or_more,
        (" -", " /"),
    ),
    _rule(
        "password",
        "@",
        r"(?<![\w/:@.=-])(?!e?mail|from|to:|cc:|git|ssh|sip|contact|xmpp|acct|npm)[\w.-]{1,40}:([^\s:@/\"'<>]{6,64})@"
        r"(?!sha)(?=[A-Za-z][\w.-]{0,80}:[0-9]{2,5}\b)",
        is_password,
    ),
]
_DATABASES = [
    _rule(
        "password",
        "identified",
        rf"(?i:IDENTIFIED(?:\s+WITH\s+[\w'\"]{{1,40}})?\s+(?:BY|AS)(?:\s+PASSWORD)?)\s{{1,8}}{_STRING}"
        r"|(?i:\b(?:user|role|grant|create|alter)\b)[^;]{1,120}?\b(?:IDENTIFIED|identified)"
        r"(?:\s+(?i:WITH)\s+[\w'\"]{1,40})?\s+(?i:BY|AS)(?:\s+(?i:PASSWORD))?\s{1,8}([^\s\"'`|;]{3,128})(?=\s*(?:;|$|\n))",
    ),
    _rule(
        "password",
        "5432|3306|*:*|pgpass|:5433|:6432",
        r"(?m)^(?![#\s])(?:[\w.*-]{1,80}):(?:[0-9]{2,5}|\*):(?:[A-Za-z_*][^:\s]{0,60}):[^:\s]{1,60}:(\S{4,128})\s*$",
    ),
    _rule("password", "pragma", rf"(?i:PRAGMA\s+(?:hex)?(?:re)?key)\s?=\s?{_VALUE}"),
    _rule("password", " key ", rf"(?i:ATTACH)[^\n;]{{1,120}}\s(?i:KEY)\s{_STRING}"),
    _rule("password", "sp_addlogin|sp_addlinkedsrvlogin", rf"sp_add\w{{5,20}}\s[^\n;]{{0,120}},\s{{0,8}}N?{_STRING}"),
]
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
    _rule(
        "secret",
        "jwt|signwith|setsigningkey|construct_event|constructevent",
        rf"(?:(?:jwt|JWT|jsonwebtoken)\.(?:sign|verify|encode|decode)|signWith|setSigningKey|construct_event"
        rf"|constructEvent)\([^,()\n]{{1,120}},\s{{0,8}}(?:[^,()\n\"']{{1,60}},\s{{0,8}})?{_STRING}",
        _is_word_or_more,
    ),
    _call(
        r"pymysql\.connect|psycopg2?\.connect|cx_Oracle\.connect|ftplib\.FTP|\bFTP|ssh2_auth_password|imap_open"
        r"|ldap_bind",
        2,
    ),
    _call(r"WiFi\.begin|ssh\.connect|client\.connect|connectWifi|ldap_bind", 1),
    _call(r"ssh\.connect|client\.connect|Credentials|mysql_real_connect", 3),
    _call(r"[a-z_]{0,20}_(?:login|auth|authenticate|bind)|[a-z]{2,20}(?:Login|Authenticate)", 2, is_password),
    _rule("password", ".tochararray()", rf"{_STRING}\.toCharArray\(\)", is_password),
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
    _rule(
        "secret",
        "cookieparser|fernet(|serializer(|signer(|secretkeyspec(|cookiesession",
        rf"(?:cookieParser|Fernet|URLSafe\w{{0,20}}Serializer|Signer|SecretKeySpec|TimestampSigner)\(b?{_STRING}",
        _is_word_or_more,
    ),
    _rule(
        "password",
        "send_keys|sendkeys|.type(|.fill(|setvalue",
        rf"(?i:passw(?:or)?d|\bpass|\bpwd|\bpw)\b[^\n]{{0,40}}?(?:send_?[kK]eys|type|fill"
        rf"|setValue)\(\s{{0,4}}{_STRING}",
        _is_word_or_more,
    ),
    _rule(
        "secret",
        "createhmac|hmac.new",
        rf"(?:createHmac\([^,()\n]{{1,40}},|hmac\.new\(b?)\s{{0,8}}b?{_STRING}",
        _is_word_or_more,
    ),
    _rule(
        "password",
        "${",
        r"\$\{[\w.-]{0,60}(?:pass(?:word)?|pwd?|pw|secret|token)[\w.-]{0,20}:-?([^\s{}\"']{4,128})\}",
        is_given,
        re.IGNORECASE,
    ),
    _rule(
        "api_key",
        "key|token",
        rf"\b[A-Z]\w{{1,40}}\({_STRING}\)[ \t;]{{0,8}}(?:#|//)[^\n]{{0,40}}\b(?:key|token|secret)\b",
        _is_random,
    ),
    _rule("private_key", '"kty"', r"\"(?:d|k|p|q|dp|dq|qi)\"\s{0,4}:\s{0,4}\"([\w-]{16,2048})\"", _is_random),
]
_SETTINGS = [
    _rule("authorization", "basic ", r"\b[Bb]asic[ ]([A-Za-z0-9+/]{8,512}={0,2})(?![\w+/=])", is_basic),
    _rule(
        "api_key",
        "appid=|subscription-key=|apikey=|api_key=|app_key=|auth=",
        r"[?&](?:appid|subscription-key|apikey|api_key|app_key|auth)=([\w%~.-]{20,256})",
        _is_random,
        re.IGNORECASE,
    ),
    _rule("token", "://", r"://([\w.~%-]{20,256}):[^\s/@\"'<>]{0,128}@(?=[\w\[{$%-])", _is_random),
    _rule("token", "://", r"://([\w.~%-]{20,256})@(?!o[0-9]+\.ingest|[\w.-]{0,60}sentry)(?=[\w\[{$%-])", _is_random),
    _rule("token", "s3://|gs://", r"s3://([A-Z0-9]{16,24}):[^\s/@]{20,128}@", is_given),
    _rule(
        "session",
        "cookie",
        r"(?:PHPSESSID|JSESSIONID|ASP\.NET_SessionId|connect\.sid|_session|csrftoken|remember_token"
        r"|\w{0,20}session\w{0,10})=([^\s;,\"']{16,512})",
        _is_random,
    ),
    _rule(
        "token",
        "_pat",
        r"(?<![A-Z0-9_])[A-Z][A-Z0-9_]{1,40}_PAT[\"']?[ \t]?[=:][ \t]?[\"']?([\w.=/+-]{16,256})",
        _is_random,
    ),
    _rule("api_key", "require(", rf"\brequire\([\"'][\w@/.-]{{1,60}}[\"']\)\({_STRING}", _is_random),
    _rule(
        "api_key",
        "buildconfigfield|resvalue",
        r"(?:buildConfigField|resValue)[^\n]{1,80}?(?i:key|token|secret|password|pass)[\"'],[ \t]{0,8}"
        r"[\"']\\?[\"']([^\"'\\\n]{6,256})",
    ),
]
IDIOMS = [*_COMMANDS, *_LINES, *_DATABASES, *_CODE, *_SETTINGS]
