"""Parts of words that stand near secrets, in many languages."""

from typing import NamedTuple


class Stem(NamedTuple):
    """A part of a word, its group for the model, and the kind of secret that it announces."""

    text: str
    group: str
    kind: str


PASSWORD, KEY, CODE, LOGIN, NETWORK, LOCK, FLAG, CARD = "PKCLWOFN"
"""Groups. A password, key or flag announces a value by itself. A card only calls for a look at numbers."""
STRONG = frozenset((PASSWORD, KEY, FLAG))
_TABLE = (
    (
        *(PASSWORD, "password"),
        "passw|passowrd|passwrd|passcode|pwd|kennwort|contraseñ|contrasen|senha|mot de passe|motdepasse|mdp|clave"
        "|palavra-passe|palavra passe|parola|parole|wachtwoord|lösenord|passord|kodeord|adgangskod|lykilorð|salasan"
        "|hasło|hasła|hasłem|heslo|hesle|jelsz|şifre|sifre|парол|κωδικ|סיסמ|كلمة ال|كلمة م|كلمة س|باسورد|पासवर्ड"
        "|পাসওয়ার্ড|รหัสผ่าน|mật khẩu|kata sandi|laluan|密码|密碼|口令|パスワード|パスコード|合言葉|暗号|비밀번호|비번|암호"
        "|safe word|code word|codeword|codewort|losung|psk|pass:|pass=|pass |_pass|-pass|pw|pass\"|pass'|pass>|pass,"
        "|ww:|pasw|identified by|masterauth|-shared|userpass",
    ),
    (PASSWORD, "passphrase", "passphrase|パスフレーズ"),
    (PASSWORD, "pin", "暗証番号"),
    (PASSWORD, "passkey", "passkey"),
    (
        *(KEY, "token"),
        "token|bearer|auth |auth=|auth:|auth_|_auth|auth\"|auth'|auth(|authtok|authoriz|jwt|トークン|токен|令牌|_pat|pat=",
    ),
    (KEY, "secret", "secret|salt=|salt:|_salt|webhook|geheim|segret|dsn|connectionstring| master"),
    (KEY, "api_key", "key|authkey|schlüssel|clé|chiave|chave|sleutel|nyckel|klucz|ключ|密钥|密鑰|キー|api키|appid"),
    (KEY, "license_key", "license|licence"),
    (
        *(KEY, "credential"),
        "credential|creds|zugangsdaten|identifiants|accesos|credenzial",
    ),
    (KEY, "session", "sess_|sessionid|session_|cookie"),
    (KEY, "signature", "signature=|sig="),
    (KEY, "recovery_code", "mnemonic|recovery"),
    (CODE, "pin", " pin|pin |pin:|entsperr|السري|pincode|pin-code|puk|пин"),
    (
        *(CODE, "code"),
        "code|código|codice|kod|код|コード|코드|verification|combo|combin|kombin|digicode|验证码|番号",
    ),
    (CODE, "otp_seed", "otp|2fa|mfa"),
    (CODE, "card", "cvv|cvc"),
    (
        *(LOGIN, "password"),
        "login|log in|logged|sign in|signin|user|usuari|usuár|utente|benutzer|anmeld|einlogg|connecte|logga|zaloguj"
        "|учётк|account|konto|compte|cuenta| conta | entra|entra |accedi|ログイン|登录|登錄|账号|帳號|로그인|root|admin|ssh"
        "|ftp|smtp|ldap|mysql|redis|mongo|connect(|net use|machine ",
    ),
    (NETWORK, "password", "wifi|wi-fi|wlan|ssid|router|wpa|network|netzwerk|vpn|hotspot|вайфа"),
    (
        *(LOCK, "code"),
        "door| gate|alarm| safe|lock|keypad| open |opens|garage|tür|tresor| porte |portail|coffre|cadenas|puerta|portal"
        "|candado| caja |cancello|cassafor| porta |portone|cofre|portão|drzwi|bram|sejf|deur| poort|kluis|двер|домофон"
        "|подъезд|сейф|замок|сигнализ|dörr|dør|kapı|门禁|门锁|大门|金庫|金库|保险箱|玄関| apri |ouvre| abre|öffne",
    ),
    (
        *(FLAG, "password"),
        ":5432:|thin:|sudo| -p| /p:|sqlplus|kinit|pgpass|securestring| -u | --user| -w | /rp | -a ",
    ),
    (CARD, "card", "card|visa|csc|karte|carte|tarjeta|cartão|carta |kaart|kort |карт|卡|カード"),
)
STEMS = [Stem(text, group, kind) for group, kind, stems in _TABLE for text in stems.split("|")]
CARDS = frozenset(number for number, stem in enumerate(STEMS) if stem.group == CARD)

Mark = tuple[int, int, int]
"""A stem or hint in a text: its number in its table, its start and its end."""
