"""Codes that only the words before them reveal, in many languages: PINs, door codes, one-time and backup codes."""

import re
from collections.abc import Iterator

from bethink.providers.redaction_hints import Hints, Lowered
from bethink.providers.redaction_tokens import MatchSpan

_CODE_NOUN = (
    # English
    r"(?:[^\W\d_]{2,16}-)?pin(?![ -]?code of (?-i:[A-Z])[^\n0-9]{1,24}[1-9][0-9]{5}(?![0-9]))|passcode"
    r"|(?:door|gate|alarm|garage|shed|key ?box|key ?safe|entry|entrance|safe|unlock|access|security|verification"
    r"|confirmation|login|log-in|one-time|one time|otp|2fa|sms|lock|locker|lockbox|building|elevator|voicemail"
    r"|vault|keypad|buzzer|gym|parking"
    r"|wifi|wi-fi|burglar alarm|front door|lobby)[ -](?:pass)?codes?|combination(?! of [0-9])"
    # German, Dutch, Nordic
    r"|geheimzahl|(?:zugangs|tür|tuer|tor|alarm|sicherheits|bestätigungs|freischalt|entsperr|haustür|garagen)-?code"
    r"|(?:pin|toegangs|deur|alarm|poort|verificatie|adgangs|dør|port|bekräftelse)-?(?:code|kode|kod)(?:en)?"
    # Romance
    r"|codes? (?:pin|de déverrouillage|d'accès|d.entrée|confidentiel|secret|wifi|de (?:la |l.|[mts]a |notre |votre )?"
    r"(?:porte|alarme|sécurité"
    r"|vérification|carte"
    r"|immeuble|entrée)|du (?:portail|digicode|coffre|garage))|digicode"
    r"|(?:código|codigo|clave|pin) (?:de (?:la |el )?(?:acceso|puerta|alarma|seguridad|verificación|tarjeta|entrada)"
    r"|del? (?:portal|garaje|portero))|(?:código|senha) d[aeo] (?:porta|portão|alarme|acesso|verificação"
    r"|segurança|cartão|cofre)"
    r"|codice (?:del(?:la|l.)? ?(?:garage|citofono|lucchetto|cancello|porta|allarme|portone|carta|cassaforte)"
    r"|di (?:accesso|sicurezza"
    r"|verifica|sblocco)|pin)"
    # Slavic, Turkish
    r"|пин(?:-?код[аеу]?)?(?: от \w{2,12})?|\w{2,12}n[ıiuü]n (?:kodu|şifresi|pini)|pinim|(?:kart|telefon) pin\w{0,3}"
    r"|code (?:porte|portail|immeuble|garage|alarme|entrée|carte|wifi|coffre)|код (?:от|к|для) (?:домофона|двери"
    r"|сигнализации|подъезда|сейфа|карты|калитки|ворот)"
    r"|código de desbloque(?:o|io)|ontgrendelcode|kod odblokowania"
    r"|код (?:разблокировки|доступа|подтверждения|безопасности)"
    r"|kod (?:pin|dostępu|do (?:drzwi|bramy|alarmu|domofonu|sejfu|klatki))"
    r"|(?:kapı|alarm|doğrulama|onay|giriş|kart) (?:kodu|şifresi)"
)
AT_END = r"(?=[\"'`”»)]{0,2}[.,;!?)]{0,2}(?:\s|\Z))"
"""Lookahead for the end of a clause."""
_DIGIT = re.compile(r"[0-9]")
_LINK = (
    r"(?:(?:[,;.!?]{1,2}[ \t]{1,3})?(?:it(?:['\u2019]s| is| was)|(?:es|er|sie|das) (?:ist|lautet)|(?:maintenant "
    r"|désormais )?c['\u2019]est|(?:ahora|agora|ora|adesso) (?:es|é|è)|jetzt|теперь|teraz|это)"
    r"|is|was|are|'s|\u2019s|=|:|ist|lautet|sind|war|est|c'est|es|é|è|era|to|jest|er|är|on|-|—|–|now|jetzt)"
    r"(?:[ \t]{1,3}(?:the|der|die|das|le|la|el|now|still|jetzt|ora|il|:))?[ \t]{0,3}[:=]?"
)
_CODE = (
    r"(?![0-9]{1,4}x[0-9]|(?:19|20)[0-9]{2}-[01][0-9]-[0-3][0-9])"
    r"([0-9]{3}[ -][0-9]{3}|[0-9]{4,10}(?:[ -][0-9]{1,5}){0,5}|[0-9]{1,3}(?:-[0-9]{1,3}){2,4}"
    r"|(?=[0-9]{0,6}[A-Za-zА-Я][0-9]"
    r"|[0-9]+[A-Za-zА-Я])[0-9A-Za-zА-Я]{4,10})"
)
_END = (
    r"(?![0-9A-Za-z]|[.:,-][0-9]|%|[ ]?(?:digits?|characters?|chars|stellig|stellen|chiffres|dígitos"
    r"|cifre|years?|days|times|minutes|seconds|percent|lines|EUR|USD|€|\$))"
)
NOUN = (
    r"|[ \t]{1,3}(?!(?:then|and|to|or|for|please|thanks|off|at|on|dann|und|oder|aus|an|ab|ein|puis|et|ou|y|o|e"
    r"|ed|poi|i|lub|и"
    r"|или|потом|ve|en|och|og|sonra|press|eingeben|eintippen|tippen|drücken|wählen|taper|entrer|pulsar|marcar|digitar|inserire"
    r"|wpisać|wcisnąć|ввести|набрать|tuşla|intoetsen|within|after|before|when|if|once|but|as|because|just|quickly|left|right|beside|next|links|rechts|neben"
    r"|please|while|so|se|si|nach|vor|wenn|falls|aber|auf|bitte|après|avant|quand|mais|ma|mas|mentre|pero|maar|ale"
    r"|jak|żeby|а|но|чтобы"
    r"|después|antes|cuando|dopo|prima|quando|depois|po|przed|gdy|после|перед|если|als|daarna)\b)[^\W\d]"
)
"""Negative lookahead after a quantity: a word other than these."""
_NO_YEAR = "".join(
    rf"(?<!\s{word})" for word in ("in", "im", "en", "of", "by", "since", "until", "before", "after", "from", "seit")
)
"""A number after one of these is a year."""
_SPOKEN = re.compile(
    rf"(?<![\w-])(?:{_CODE_NOUN})(?:[ \t]{{1,3}}[^\s.?!:=0-9]{{1,20}}){{0,6}}?"
    rf"(?:[ \t]{{0,3}}{_LINK}[ \t]{{0,3}}|(?<!pin)(?<!PIN){_NO_YEAR}[ \t]{{1,3}}(?=[0-9]{{4,8}}(?![0-9]{NOUN})"
    rf"|[0-9]{{2,3}}[A-ZА-Я][0-9]{{3,5}}))[\"'`]?{_CODE}{_END}",
    re.IGNORECASE,
)
_SPOKEN_BEFORE = re.compile(
    r"(?<![\w.,:/-])([0-9]{4,8}|[0-9]{3}[ -][0-9]{3}|[A-Z]-[0-9]{6})[\"'`]?[ \t]{1,2}(?:is|ist|est|es|è|é|to"
    r"|jest|er|är|—|–|-|это)[ \t]{1,2}"
    r"(?:(?:your|the|my|our|dein|der|ihr|mein|votre|ton|le|mon|tu|su|el|mi|o|seu|il|tuo|mio|twój|mój|ваш|мой|din"
    r"|je|uw|de|het)[ \t]{1,2}){1,2}"
    rf"(?:{_CODE_NOUN}|[^\s\d]{{1,20}}[ \t](?:code|pin|otp)|(?:code|código|codice|kod|код) (?:de|di|do|для)\b)",
    re.IGNORECASE,
)
_SENT = re.compile(
    r"(?<![\w-])(?<!error )(?<!status )(?<!exit )(?<!zip )(?<!area )(?<!promo )(?:code|código|codice|kod|код|otp"
    r"|pin)[ \t]"
    r"(?:[^\s\d.]{1,16}[ \t]){0,3}?(?:texted|sent|sms|app|e-?mail|got|received|phone|geschickt|bekommen|reçu"
    r"|recibid\w|llegó|arrivato"
    r"|przyszedł|recebi|пришёл|пришел|прислали|geldi|kreeg)\b"
    rf"[^\n\d.]{{0,24}}?[ \t:]([0-9]{{4,8}}|[0-9]{{3}}[ -][0-9]{{3}}){_END}",
    re.IGNORECASE,
)
_SPELLED = re.compile(
    r"(?i:pass(?:word|wort|phrase|code)|kennwort|mot de passe|contraseña|senha|hasło|пароль|wachtwoord)"
    r"[^\n.]{0,60}?(?<!\w)([A-Za-z0-9](?:[ ]?[-–][ ]?[A-Za-z0-9!@#$%&*?]){5,31})(?![\w-])"
)
"""A password letter by letter."""
_RANGE = re.compile(r"a ?[-–] ?z|0 ?[-–] ?9", re.IGNORECASE)
"""Character ranges, as in a password policy."""
_OWN_PIN = re.compile(
    rf"(?<![\w-])(?:voicemail|card|debit card|credit card|sim|phone|bank|atm|tablet|door|my|our|his|her|meine?"
    rf"|karten|ec-?karten|handy|mon|ma|mi|meu|mój)"
    rf"[ -]pin[ \t]{{1,2}}([0-9]{{4,8}}){_END}|(?<![\w-])(?-i:PIN)[ \t]([0-9]{{4,6}}){_END}"
    rf"|(?<![\w-])(?:one-time|one time|otp|2fa|sms|verification)[ ](?:pass)?code[ \t]([0-9]{{3}}[ -][0-9]{{3}}){_END}",
    re.IGNORECASE,
)
_SPOKEN_HINTS = Hints(
    *("pin", "code", "combination", "geheimzahl", "kod"),
    *("código", "clave", "codice", "код", "пин", "şifresi", "senha"),
)
_SPELLED_HINTS = Hints(
    *("pass", "kennwort", "contraseña", "senha", "hasło", "пароль", "wachtwoord"),
)
_WRITTEN = re.compile(
    r"(?:暗証番号|金庫の番号|鍵の番号|ロックの番号|保险[箱柜]密码|门锁密码|锁的密码|認証コード|確認コード"
    r"|解錠番号|ワンタイムパスワード|PINコード|验证码|驗證碼|门禁码|PIN码|动态码|인증번호|핀번호"
    r"|인증 ?코드|الرمز السري|الرقم السري|رمز الدخول|رمز التحقق|رقم التعريف"
    r"|보안 ?코드)"
    r"[^\n0-9。]{0,12}?([0-9]{4,10})(?![0-9]|桁|位|자리|文字)"
)
_WRITTEN_HINTS = Hints("番号", "コード", "码", "碼", "번호", "코드", "ワンタイム", "الرقم", "الرمز", "رمز", "رقم")
_BACKUP = re.compile(
    r"(?:(?:backup|back-up|recovery|rescue|scratch|emergency|wiederherstellungs|notfall)[ -]?codes?"
    r"|codes? de (?:secours|récupération)"
    r"|códigos? de (?:respaldo|recuperación|recuperação)|резервные коды)(?:[ \t]{1,3}[\w.'-]{1,20}){0,5}?"
    r"[ \t]{0,3}(?::|=|are|is|sind|sont|son|são)[ \t]{0,3}\s{0,4}",
    re.IGNORECASE,
)
_BACKUP_CODE = re.compile(
    r"(?:[0-9]{1,2}[.)][ ]"
    r"|[-*•][ ])?((?=[A-Za-z-]{0,20}[0-9])[A-Za-z0-9]{4,12}(?:-[A-Za-z0-9]{3,12}){0,4})"
    r"(?![\w])[ \t,;|]{0,4}\r?\n?[ \t]{0,4}"
)
_MAX_CODES = 20
_ANSWER = re.compile(
    r"(?:security (?:question|answer)|secret (?:question|answer)|sicherheitsfrage|question (?:secrète"
    r"|de sécurité)|pregunta de seguridad)"
    r"[^\n.?!]{0,40}?(?:\bis\b|\bwas\b|\bist\b|\best\b|\bes\b"
    r"|:)[ \t]{0,3}[\"']?([A-ZÄÖÜ][\w'-]{2,30})[\"']?[ \t]*(?=[.,;!\n]|$)"
)
_ANSWER_HINTS = Hints("security", "secret", "sicherheitsfrage", "question", "pregunta")


def find_codes(text: str, lowered: Lowered) -> Iterator[MatchSpan]:
    """Find codes that a sentence reveals."""
    if lowered.has(_SPOKEN_HINTS) and _DIGIT.search(text):
        for pattern in (_SPOKEN, _SPOKEN_BEFORE, _SENT, _OWN_PIN):
            yield from (MatchSpan(*match.span(match.lastindex or 0), "pin") for match in pattern.finditer(text))
        yield from _find_backup_codes(text)
    if not text.isascii() and lowered.has(_WRITTEN_HINTS):
        yield from (MatchSpan(*match.span(1), "pin") for match in _WRITTEN.finditer(text))
    if lowered.has(_SPELLED_HINTS):
        yield from (MatchSpan(*match.span(1), "password") for match in _SPELLED.finditer(text) if _is_spelled(match[1]))
    if lowered.has(_ANSWER_HINTS):
        yield from (MatchSpan(*match.span(1), "password") for match in _ANSWER.finditer(text))


def _is_spelled(value: str) -> bool:
    """Return whether single characters are a password, not a range or a row of pins."""
    mixed = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return mixed and _RANGE.search(value) is None


def _find_backup_codes(text: str) -> Iterator[MatchSpan]:
    for heading in _BACKUP.finditer(text):
        at = heading.end()
        first = last = -1
        for _ in range(_MAX_CODES):
            code = _BACKUP_CODE.match(text, at)
            if code is None:
                break
            first, last, at = code.start(1) if first < 0 else first, code.end(1), code.end()
        if first >= 0:
            yield MatchSpan(first, last, "backup_code")
