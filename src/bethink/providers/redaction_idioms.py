"""Secrets in the idioms of shells, programs, databases and settings files, without a name before the value."""

import re
from collections.abc import Callable
from typing import NamedTuple

from bethink.providers.redaction_hints import Hints
from bethink.providers.redaction_values import is_assigned_password, is_password, is_placeholder, is_token


class Idiom(NamedTuple):
    """A pattern whose last group is the secret, tried if the text contains one of its lower-case hints."""

    kind: str
    hints: Hints
    pattern: re.Pattern[str]
    judge: Callable[[str], bool]
    needs: tuple[str, ...] = ("",)


def is_literal_password(value: str) -> bool:
    """Return whether a value is a password in a position reserved for passwords."""
    return not is_placeholder(value, literal=True) and not value.startswith(("-", "$", "%(", "@"))


def is_word_or_more(value: str) -> bool:
    """Return whether a value in quotes is a password, of one word or several."""
    return is_assigned_password(value, quoted=True, words=True)


def is_random(value: str) -> bool:
    """Return whether a value is a random token of at least 20 characters."""
    return is_token(value, min_length=20)


def _is_user_password(value: str) -> bool:
    return not value.isdigit() and is_literal_password(value)


_VALUE = r"""(?:"([^"\n]{3,128})"|'([^'\n]{3,128})'|([^\s"'|;]{3,128}))"""
STRING = r"""(?:"([^"\n]{3,128})"|'([^'\n]{3,128})'|`([^`\n]{3,128})`)"""


def _flag(tools: str, flags: str, judge: Callable[[str], bool] = is_literal_password) -> Idiom:
    """Return the idiom of a command whose flag takes a password."""
    names = re.findall(r"[a-z0-9_ -]{2,}", re.sub(r"\w\?", "", tools))
    hints = (name if len(name) > 2 else f"{name} " for name in names)
    pattern = re.compile(rf"(?<![\w/.-])(?:{tools})\b[^\n|;]{{0,160}}?[\s\"'](?:{flags}){_VALUE}")
    return Idiom("password", Hints(*hints), pattern, judge, (" -", " /", '"-', "'-"))


def rule(
    kind: str, hints: str, pattern: str, judge: Callable[[str], bool] = is_literal_password, flags: int = 0
) -> Idiom:
    """Return an idiom. `hints` are separated by `|`."""
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
    _flag("useradd|usermod", "-p ", is_password),
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
    rule(
        "password",
        "rabbitmqctl",
        rf"rabbitmqctl (?:add_user|change_password|authenticate_user) [\w.@-]{{1,60}} {_VALUE}",
    ),
    rule("password", "rclone obscure", rf"rclone obscure {_VALUE}"),
    rule(
        "password", "wpa_passphrase ", rf"wpa_passphrase (?:\"[^\"\n]{{1,40}}\"|'[^'\n]{{1,40}}'|\S{{1,40}}) {_VALUE}"
    ),
    rule("password", "net use", r"(?i:net use)\s[^\n]{0,80}?\\\\[\w.$\\-]{1,80}\s(?!/)([^\s/*]{4,128})(?=\s|$)"),
    rule("password", "net user", r"(?i:net user)\s[\w.-]{1,40}\s(?!/)([^\s/*]{4,128})(?=\s|$)"),
    rule(
        "password",
        "sqlplus|rman|impdp|expdp|sqlldr|oracle:thin",
        r"(?:sqlplus|rman target|impdp|expdp|sqlldr"
        r"|thin:)(?:\s-\w{1,8}){0,3}[ :]?[\"']?(?!//)[\w.]{1,40}/([^\s@/\"']{3,64})(?=@|\s|$)",
    ),
    rule(
        "password",
        "sudo -s|--password-stdin|secret put|secret set|secret create|chpasswd|passwd |--with-token|cryptsetup"
        "|--passphrase-fd|secrets create|kinit|docker login",
        r"""(?:echo|printf)(?:\s-[neE]{1,3}|\s["']?%s(?:\\n)?["']?){0,2}\s"""
        r"""(?:"(?:\w{1,32}:)?([^"\n$]{3,128})"|'(?:\w{1,32}:)?([^'\n]{3,128})'|(?:\w{1,32}:)?([^\s"'|$`]{3,128}))"""
        r"""\s{0,4}\|\s{0,4}(?:sudo -S|[^\n|]{0,80}(?:--password-stdin|secrets? (?:put|set|create)|chpasswd"""
        r"""|passwd |--with-token|cryptsetup|--passphrase-fd|kinit|docker login))""",
    ),
    rule(
        "password", "echo ", rf"pass(?:word)?[\w-]{{0,10}}(?:command|cmd|file)[ =][\"']?(?:<\()?echo (?:-n )?{_VALUE}"
    ),
    rule(
        "password",
        "<<<",
        rf"(?:cryptsetup|kinit|password_stdin|gpg|openssl|smbpasswd|sudo -S|secret|login|passwd|PASS|TOKEN|SECRET"
        rf"|--with-token|--password-stdin"
        rf"|env add)[^\n|;<]{{0,80}}<<<\s{{0,4}}{_VALUE}",
    ),
    rule(
        "password",
        "mc alias|mc config",
        rf"mc (?:alias set|config host add) \S{{1,40}} \S{{1,120}} \S{{3,128}} {_VALUE}",
    ),
    rule(
        "password",
        "config ",
        rf"(?:composer|poetry) config (?:--?\w{{1,20}} )?http-basic\.\S{{1,60}} \S{{1,60}} {_VALUE}",
    ),
    rule("password", "bundle ", r"bundle config (?:set )?(?:--\w{1,20} )?\S{1,60} [\w.@-]{1,60}:(\S{4,128})"),
    rule("token", "pypi-token", rf"pypi-token\.[\w-]{{1,40}} {_VALUE}", is_random),
    rule("password", "stats auth", r"stats auth [\w.@-]{1,60}:(\S{4,128})"),
    rule(
        "password",
        "send ",
        r"(?i:p?ass(?:word|phrase)?)\W{1,8}\s{0,8}send (?:-- )?\"([^\"\n]{4,128}?)(?:\\[rn]){0,2}\"",
    ),
    rule("password", "user ", r"(?m)^(?:ACL SETUSER|user) \w{1,40} on (?:#\w+ )?>(\S{4,128}) "),
    rule("password", "protectinmemory", r"ProtectInMemory=\"True\">([^<\n]{4,256})</Value>"),
    rule(
        "secret",
        "secret|config:set|put-parameter",
        r"(?:secrets?(?:[: ]|\sversion )(?:set|put|create|add)|config:set|ssm put-parameter)\b[^\n|;]{0,100}?\s"
        rf"(?:--body|--value|-b|--data|[A-Z][A-Z0-9_]{{1,60}}(?==))[ =]{_VALUE}",
    ),
    rule(
        "secret",
        '"value"',
        r"\"value\"\s?:\s?\"([^\"\n]{6,512})\",\s{0,20}\"(?:type|kind|sensitive|secret|is_?secret"
        r"|secure)\"\s?:\s?(?:\"secret|\"secure|\"sensitive|true)",
        is_word_or_more,
    ),
    rule(
        "secret",
        '"value"',
        r"\"(?:type|kind|sensitive|secret|is_?secret|secure)\"\s?:\s?(?:\"(?:secret|secure|sensitive)\w{0,12}\""
        r"|true),\s{0,20}\"value\"\s?:\s?\"([^\"\n]{6,512})\"",
        is_word_or_more,
    ),
    rule("password", "isakmp key", r"isakmp key (?:[06] )?(\S{4,128}) "),
    rule("password", "wireless|wifi-iface", r"\bkey[ =]'([^'\n]{8,63})'"),
    rule(
        "password",
        "@",
        r"(?m)^\[?[\w.-]{1,80}\]?(?::[0-9]{2,5})?[ \t]{1,8}[\w.+-]{1,64}@[\w.-]{1,80}:([^\n]{6,64})$",
        is_word_or_more,
    ),
    rule(
        "password",
        "@",
        r"(?<![\w/:@.=-])(?!mailto|xmpp|acct|sips?:|tel)[\w.-]{1,40}:([^\s:@/\"'<>]{6,64})@(?=tcp\(|\("
        r"|(?:[0-9]{1,3}\.){3})",
        is_password,
    ),
    rule("password", "@", r"[=\"'][\w.-]{1,40}:([^\s:@/\"'<>]{6,64})@(?=tcp\(|\()", is_literal_password),
    rule("password", "auth ", r"(?m)^(?:[\w.:-]{3,40}> ?)?AUTH (?:default )?([^\s\"']{6,128})\s*$", is_password),
    rule("password", "securestring", rf"(?i:ConvertTo-SecureString)\s(?:-\w{{1,20}}\s){{0,3}}{_VALUE}"),
    rule(
        "password",
        "pass|pw |psk",
        r"(?im)^[ \t#;>/-]{0,12}(?:pass|pw|pwd|psk)[ \t]{1,8}(\S{6,128})[ \t]*$",
        is_password,
    ),
    rule("password", "psk", r"(?i:\bPSK|\bXAUTH|\bEAP)[ \t]{1,8}\"([^\"\n]{6,128})\""),
    rule("password", "enable |username |neighbor ", r"\b(?:password|secret) [07] (\S{4,64})"),
    rule(
        "password",
        "username ",
        r"(?m)^[ \t]{0,8}username \S{1,40} (?:privilege [0-9]{1,2} )?(?:password|secret) ([^\s:=]{6,64})[ \t]*$",
    ),
    rule(
        "password",
        "]:",
        r"(?m)^\[[\w.-]{1,80}\]:[0-9]{2,5}[ \t]{1,8}[\w.+-]{1,64}:([^\s:]{6,64})[ \t]*$",
        is_password,
    ),
    rule("password", "snmp-server community", r"snmp-server community (\S{4,64})"),
    rule(
        "token",
        "vault login|cargo login|authtoken",
        rf"(?:vault login|cargo login|(?:add-)?authtoken) {_VALUE}",
        is_random,
    ),
]
_PATH_TO = r"(?:psk|password|passwd|pass|pwd|secret|token)"
_LINES = [
    rule(
        "password",
        "password |secret |passwd |key ",
        r"(?m)\b(?:password|secret|passwd|key) [0-9] ([^\s$]\S{3,63})[ \t]*$",
        is_password,
    ),
    rule(
        "password",
        "pass |pw |passwd |password |psk ",
        r"(?m)^[ \t]{0,20}(?!bypass|compass|trespass|surpass|overpass|underpass|encompass)"
        r"[a-z]{3,20}(?:pass|pw|passwd|password|psk)[ \t]{1,8}([^\s\"'=:]{6,128})[ \t]*$",
        is_word_or_more,
    ),
    rule(
        "secret",
        "password|pass|secret|token|pwd|psk|_pw",
        r"(?m)(?:^|\s)(?i:ENV|ARG|setx|set|export|-g?x|put|add|modify|update|create"
        r"|edit)[ \t](?:[\w./:-]{1,40}[ \t]){0,2}"
        rf"(?:[\w./:-]{{1,60}}[_/.:](?i:{_PATH_TO}|pw)|[A-Z]{{2,12}}(?:PASSWORD|PASS|SECRET|TOKEN|PWD))[ \t]{{1,4}}"
        r"([^\s\"'=:-][^\s\"']{5,128})[ \t]*$",
        is_word_or_more,
    ),
    rule("password", "password password |passwd/", r"(?m)[/_-]pass\w{0,12} password (\S{4,128})$"),
    rule(
        "password",
        "input password |type password |fill secret |type secret ",
        r"(?i:(?:input|type) password|(?:fill|type) secret)[ \t]{2,20}\S{1,80}[ \t]{2,20}(\S{4,64})[ \t]*(?=\n|\Z)",
        is_word_or_more,
    ),
    rule("password", "login=", r"\blogin=[\w.@-]{1,60}:([^\s\"'&]{4,128})"),
    rule("password", "user ", r"(?m)^[ \t]{0,12}user \S{1,60} (?:insecure-)?password (\S{4,128})[ \t]*$"),
    rule(
        "password",
        "passphrase=|psk=",
        r"(?m)^[ \t]{0,12}(?:export )?(?:[a-z_]{0,12}(?:passphrase|psk)|[A-Z0-9_]{0,40}(?:PASSPHRASE|PSK))="
        r"([^\s\"'$][^\n\"']{7,62})$",
    ),
    rule("password", " --plain", r"(?:pw|passw(?:or)?d) --plain\w{0,6} (\S{4,128})"),
    rule("password", "user |login |auth ", r"(?mi)^(?:user|login|auth) [\w.@-]{2,40} (\S{6,64})[ \t]*$", is_password),
    rule(
        "password",
        "basicauth|basic_auth|auth_basic|basic-auth",
        r"(?mi)(?:basic[_-]?auth|auth_basic)\b[^\n]{0,60}?[\s:]([^\s:]{6,64})[ \t]*$",
        is_password,
    ),
    rule("password", "chpasswd", r"chpasswd:?\s[^\0]{0,60}?\n\s{1,20}(?:- )?[\w-]{1,32}:(\S{6,64})"),
    rule(
        "password",
        "user|login",
        r"(?mi)^[ \t]{0,12}(?:user(?:name)?|login) \S{1,60}\r?\n[ \t]{0,12}pass(?:word|wd)? (\S{4,128})[ \t]*$",
    ),
    rule("password", "//", r"(?:^|[\s\"'=(])//[\w.-]{1,40}:([^\s:@/\"'<>]{4,64})@(?=[\w-])"),
    rule("password", "auth", r"\s--[\w-]{0,20}auth(?!or)[\w-]{0,12}[= ][\"']?[\w.@-]{1,60}:([^\s\"']{4,128})"),
    rule("password", "encrypt_string", rf"encrypt_string {_VALUE}"),
    rule("password", "iwconfig|ifconfig", r"(?:iwconfig|ifconfig)[^\n]{1,40} (?:key|wepkey) (?:s:)?(\S{5,64})"),
    rule("password", "/user:", rf"(?i:net use)[^\n]{{1,120}} /user:\S{{1,60}} {_VALUE}"),
    Idiom(
        "password",
        Hints(" -u", " --user", " -l "),
        re.compile(
            r"\s(?:-u|-U|-l|--user(?:name)?)[ =]?[\w.@\\-]{1,60}\s(?:[^\s|;]{1,60}\s){0,4}?-(?:p|P"
            r"|w) ?(?![0-9.:]+[\s:/])" + _VALUE
        ),
        is_word_or_more,
        (" -", " /"),
    ),
    rule(
        "password",
        "@",
        r"(?<![\w/:@.=-])(?!e?mail|from|to:|cc:|git|ssh|sip|contact|xmpp|acct|npm)[\w.-]{1,40}:([^\s:@/\"'<>]{6,64})@"
        r"(?!sha)(?=[A-Za-z][\w.-]{0,80}:[0-9]{2,5}\b)",
        is_password,
    ),
]
_DATABASES = [
    rule(
        "password",
        "identified",
        rf"(?i:IDENTIFIED(?:\s+WITH\s+[\w'\"]{{1,40}})?\s+(?:BY|AS)(?:\s+PASSWORD)?)\s{{1,8}}{STRING}"
        r"|(?i:\b(?:user|role|grant|create|alter)\b)[^;]{1,120}?\b(?:IDENTIFIED|identified)"
        r"(?:\s+(?i:WITH)\s+[\w'\"]{1,40})?\s+(?i:BY|AS)(?:\s+(?i:PASSWORD))?\s{1,8}([^\s\"'`|;]{3,128})(?=\s*(?:;|$|\n))",
    ),
    rule(
        "password",
        "5432|3306|*:*|pgpass|:5433|:6432",
        r"(?m)^(?![#\s])(?:[\w.*-]{1,80}):(?:[0-9]{2,5}|\*):(?:[A-Za-z_*][^:\s]{0,60}):[^:\s]{1,60}:(\S{4,128})\s*$",
    ),
    rule("password", "pragma", rf"(?i:PRAGMA\s+(?:hex)?(?:re)?key)\s?=\s?{_VALUE}"),
    rule("password", " key ", rf"(?i:ATTACH)[^\n;]{{1,120}}\s(?i:KEY)\s{STRING}"),
    rule("password", "sp_addlogin|sp_addlinkedsrvlogin", rf"sp_add\w{{5,20}}\s[^\n;]{{0,120}},\s{{0,8}}N?{STRING}"),
]
IDIOMS = [*_COMMANDS, *_LINES, *_DATABASES]
"""Idioms of shells, databases and settings files."""
