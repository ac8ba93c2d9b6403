"""Codes of doors, safes, alarms and phones, found by the sentence around a number."""

import re
from collections.abc import Iterator

from bethink.providers.redaction_hints import Hints, Lowered
from bethink.providers.redaction_prose import AT_END, NOUN
from bethink.providers.redaction_tokens import MatchSpan

_NO_UNIT = (
    r"(?![0-9a-z]|[.:,-][0-9]|%|[ ]?(?:digits?|characters?|years?|days|hours|times|minutes?|seconds?|people"
    r"|users|items|lines|eur|usd|€|\$|km|m\b|mm|cm|kg|g\b|ml|mb|gb|hz|w\b|v\b|mah?|euro|euros?|dollars?|uhr"
    r"|stellig|stellen|chiffres|d[ií]gitos|cifre|cyfr|zł|stück|leute|minuten|jahre|ans|años|anos|anni|lat|лет|руб"
    r"|цифр|o'clock|am\b|pm\b|h\b))"
)
_DIGITS_END = rf"{_NO_UNIT}(?!{NOUN[1:]})"
_PIN = r"([0-9]{4,8}|[0-9]{1,2}(?:[- ][0-9]{1,2}){2,4}|[0-9]{2,3}[a-zа-я][0-9]{3,5})"
_DIGITS = re.compile(
    r"[0-9](?<![A-Za-z0-9_.:/-].)(?:[0-9]{3,7}(?![0-9A-Za-z])|[0-9]?[- ][0-9]{1,2}[- ][0-9]|[0-9]{1,2}[A-ZА-Я][0-9]{3})"
)
_THING = (
    r"alarm(?! clock)|safe|gate|padlock|bike lock|combination lock|lock|locker|keypad|lockbox|key ?box|intercom"
    r"|suitcase"
    r"|alarmanlage|tresor|zahlenschloss|fahrradschloss|schlüsselkasten|schließfach|haustür|garagentor|tor"
    r"|alarme|coffre(?:-fort)?|cadenas|portail|digicode|antivol|interphone|alarma|candado|caja fuerte|portero|portal"
    r"|allarme|cassaforte|lucchetto|cancello|citofono|antifurto|cofre|cadeado|portão|interfone"
    r"|sejf\w?|kłódk\w|domofon\w?|bram\w|kluis|hangslot|poort|alarmet|kassaskåp\w*|hänglås\w*"
    r"|сигнализаци\w|сейф\w?|домофон\w?|замо?к\w{0,2}|калитк\w|ворот\w|kasa(?:nın)?|asma kilit|kilit|alarmın"
    r"|apartman kapısı"
)
_DOOR = (
    r"door|garage|shed|key ?safe|tür|gartentor|schlüssel(?:box|safe)|porte|portillon|boîte à clés|puerta|verja"
    r"|caja de llaves|garaje|porta|portone|cassetta delle chiavi|garagem|deur|voordeur|garagedeur|schuur|sleutelkastje"
    r"|sleutelkluis|drzwi|furtk\w|garaż\w{0,2}|двер\w|гараж\w?|подъезд\w?"
)
"""Things that open with a code or without one."""
_CODED_THING = (
    r"mailbox|parcel box|storage unit|building|lobby|gym|cellar|basement|attic|office|studio|apartment|flat|cabin|card"
    r"|phone|tablet|spind|schranke|fahrradkeller|schuppen|briefkasten|tiefgarage|koffer|handys?|(?:ec-|bank)?karte"
    r"|kluisje|slagboom|fietsenstalling|fietsslot|telefoon|(?:bank)?pas|boîte aux lettres|immeuble|casier|cave|valise"
    r"|téléphone|carte(?: bleue| bancaire)?|taquilla|buzón|edificio|trastero|maleta|móvil|teléfono|tarjeta|armadietto"
    r"|valigia|telefono|bancomat|armário|cacifo|prédio|mala|telemóvel|celular|cartão|skrzynk\w|szafk\w|klatk\w"
    r"|telefon\w|kart\w|шкафчик\w?|ячейк\w|телефон\w?|карт\w"
)
"""Things that have a code if the sentence says so."""
_IS_CODE = (
    r"(?:is|was|takes|wants|needs|[:=—–-]|ist|lautet|geht mit|est|c['\u2019]est|es|é|è|(?<!alarm )to|jest|er|är"
    r"|with|mit|using|avec|con|com|met|med"
    r"|kodem|кодом|код|code|kod|kodu|şifresi|пароль|ile|combo|combination|combinación|kombination)"
)
_OPENS = re.compile(
    rf"(?<![\w-])(?:(?:{_THING})(?![\w-])(?:[ \t]{{1,2}}[^\s\d.?!:=]{{1,16}}){{0,4}}?(?:[ \t]{{1,2}}|(?=[:=—–-]))"
    rf"{_IS_CODE}(?:[ \t](?:now|jetzt|the|still|noch|ora|ahora|code|kodem))?[ \t]{{1,2}}[\"'`#*]{{0,2}}"
    rf"{_PIN}{_DIGITS_END}"
    rf"|(?:keypad|domofon|домофон|сейф|digicode|tresor|safe|padlock|lockbox|cadenas|candado"
    rf"|sejf)[ \t]{_PIN}{_DIGITS_END}"
    rf"|(?:garage|door|shed|lobby|gym|cellar|basement|storage unit|mailbox|tür|keller|briefkasten"
    rf"|porte|garaje|puerta|trastero"
    rf"|porta|garagem|cantina|drzwi|garaż|piwnica|дверь|гараж|подъезд|kapı|garaj|deur"
    rf"|dörr\w*)(?: [^\W\d]{{1,12}})?[ \t]?[:=→—–][ \t]{{1,2}}{_PIN}{_DIGITS_END})",
)
_OPENING = re.compile(
    r"(?<![\w-])(?:unlock\w*|open(?:s|ed)?|disarm\w*|turn(?:s|ed)? (?:it )?off|deactivat\w+|gets? (?:you )?in(?:to)?"
    r"|entsperr\w*|öffne\w*|aufmachen"
    r"|entschärf\w*|ausschalten|déverrouill\w*|débloqu\w*|ouvr\w+|désactiv\w*|desbloque\w*|desbloquear"
    r"|abr\w{1,4}|desactiv\w*"
    r"|apaga\w*|sblocc\w*|apr\w{1,4}|disattiv\w*|deslig\w*|destrav\w*|odblok\w*|otw\w*|wyłącz\w*|разблокир\w*|откр\w*"
    r"|отключ\w*|ontgrendel\w*|låser? upp|låse op|aç\w*|kilidi|get (?:you )?in|let yourself in|r?entrer|entrar"
    r"|entrare|reinkomm\w*|rein|wejść|войти)(?![\w-])[^\n\d.]{0,48}?(?<!\w)"
    r"(?:with|using|by typing|typing|type|press|dial|enter|mit|per|tippe?|gib|avec|tape[rz]?|faire|con|pon\w*"
    r"|marca\w*|teclea\w*|usa|use|usar|utilise|utiliza|benutze|nimm|gebruik|com"
    rf"|digit\w+|z|kodem|wpisz|wpisując|hasłem|с|кодом|набери\w*|введи\w*|ile|met|med|is|code)(?: (?:the |den "
    rf"|dem |le |el |la |il |o )?(?:code|código|codice|kod|kodem|код|кодом|pin))?[ \t]{{1,2}}[\"'`#*]{{0,2}}{_PIN}"
    rf"{_DIGITS_END}{AT_END}"
    r"|(?<![\w-])(?:entsperr|öffn|ausschalt|entschärf|aufmach|ontgrendel|openen|uitzetten)\w{0,4}[^\n\d.]{0,24}?[ \t:]"
    rf"{_PIN}(?=[ \t](?:ein)?(?:geben|tippen|drücken|wählen|intoetsen|invoeren)\b)"
    r"|(?:解锁|解除|开门|手机|门锁|保险[柜箱]|密码锁|门禁|报警|防盗门|车库|储物柜|行李箱|金庫|ロック|暗証|玄関|警備"
    r"|アラーム|宅配ボックス|금고|현관|잠금|핸드폰|도어락)[^\n\d。]{0,12}?(?<!\d)"
    r"([0-9]{4,8}|[0-9]{1,2}(?:-[0-9]{1,2}){2,4})(?![0-9年月円元원个位桁분시日-])",
)
_TYPED = re.compile(
    rf"(?<![\w-])(?:type|enter|punch in|key in|dial|press|gib|tippe?|tape[rz]?|marca|teclea|digita|digite|wpisz"
    rf"|набери\w{{0,2}}|введи\w{{0,2}})"
    rf"[ \t]{{1,2}}[\"'`#*]{{0,2}}{_PIN}[#*\"'`]{{0,2}}(?:[^\n.\d]{{0,40}}?\b(?:that['\u2019]?s|this is|es[eo] es"
    rf"|das ist|c['\u2019]est|è questo|é esse|to jest|это)(?:[ \t](?:the|der|le|el|il|o))?[ \t]"
    r"(?:code|código|codice|kod|код)\b"
    rf"|[ \t]{{1,2}}(?:at|on|in|into|am|an der|beim|auf|ein|à|au"
    rf"|sur|en|el|alla|al|sul|no|na|przy|у|на|в)[ \t]"
    r"[^\n]{0,16}?(?:gate|door|keypad|alarm|panel|lock|safe|intercom|tor\b|tür|klingel|porte|portail|clavier|interphone"
    r"|puerta|portal|teclado"
    r"|porta|cancello|tastier|portão|drzwi|bram|klawiat|двер|ворот|домофон|панел))",
)
_CODE_OF = re.compile(
    r"(?<![\w-])(?<!qr )(?<!bar )(?<!zip )(?<!post )(?<!postal )(?<!error )(?<!source )(?<!product )(?<!promo )"
    r"(?<!area )(?<!color )(?<!colour )(?:codes?|pincode|combination|combo|kombination|código|codice|combinazione"
    r"|combinación|combinaison|combinação|combinatie|segredo|kombinacj\w|szyfr|шифр|комбинаци\w|kod|код|pin)"
    r"(?![ \t](?:postal|fuente|fonte|source|barre|review|freeze|promo|produ))"
    r"(?:[ \t][^\s.?!:=0-9]{1,12}){1,3}?[ \t'\u2019]"
    rf"(?:{_THING}|{_DOOR}|{_CODED_THING})(?![\w-])(?:[ \t][^\s.?!:=0-9]{{1,16}}){{0,3}}?"
    r"(?:[:=]|[ \t](?:is|was|ist|lautet|est|c['\u2019]est|es|é|è|to|jest|er|är|это|[—–-]))"
    rf"[ \t]{{1,2}}[\"'`#*]{{0,2}}{_PIN}{_DIGITS_END}"
    rf"|(?<![\w-])(?:pin(?:[ \t][^\s.?!:=0-9]{{1,12}}){{0,4}}|(?:{_THING}|{_DOOR}|vault) code)"
    rf"\?[ \t]{_PIN}{_DIGITS_END}"
)
"""A code and the thing that it opens."""
_DIALED = re.compile(
    rf"(?<![\w-])(?:{_THING}|{_DOOR})(?![\w-])[^\n.0-9]{{0,40}}?(?<!\w)(?:compose[rz]?|tape[rz]?|dial|press|punch in"
    r"|tippe?|wähle|marca|teclea|pulsa|digita|digite|premi|wpisz|wybierz|набери\w{0,2}|введи\w{0,2}|toets)"
    rf"[ \t](?:le |el |il |o |die |den |de )?[#*]?{_PIN}{_DIGITS_END}"
)
_OPENS_HINTS = Hints(
    *("alarm", "safe", "gate", "lock", "keypad", "key box", "keybox", "intercom", "suitcase", "tresor", "schloss"),
    *("schlüsselkasten", "schließfach", "tür", "tor", "coffre", "cadenas", "portail", "digicode", "antivol"),
    *("interphone", "candado", "caja fuerte", "portero", "portal", "allarme", "cassaforte", "lucchetto", "cancello"),
    *("citofono", "antifurto", "cofre", "cadeado", "portão", "interfone", "sejf", "kłódk", "domofon", "bram", "kluis"),
    *("hangslot", "poort", "kassaskåp", "hänglås", "сигнализаци", "сейф", "домофон", "замо", "замк", "калитк"),
    *("ворот", "kasa", "kilit", "apartman kap", "garage", "door", "shed", "lobby", "gym", "cellar", "basement"),
    *("storage unit", "mailbox", "keller", "briefkasten", "porte", "garaje", "puerta", "trastero", "porta", "garagem"),
    *("cantina", "drzwi", "garaż", "piwnica", "дверь", "гараж", "подъезд", "kapı", "garaj", "deur", "dörr"),
)
_OPENING_HINTS = Hints(
    *("unlock", "open", "disarm", "turn", "deactivat", "get in", "gets in", "you in", "entsperr", "öffn"),
    *(
        "aufmach",
        "entschärf",
        "ausschalt",
        "uitzetten",
        "déverrouill",
        "débloqu",
        "ouvr",
        "désactiv",
        "desbloque",
        "abr",
    ),
    *("desactiv", "apaga", "sblocc", "apr", "disattiv", "deslig", "destrav", "odblok", "otw", "wyłącz", "разблокир"),
    *("откр", "отключ", "ontgrendel", "låse", "aç", "kilidi", "yourself in", "entrer", "entrar", "rein", "wejść"),
    *("войти", "解锁", "解除", "开门", "手机", "门锁", "保险", "密码锁", "门禁", "报警", "防盗门", "车库", "储物柜"),
    *(
        "行李箱",
        "金庫",
        "ロック",
        "暗証",
        "玄関",
        "警備",
        "アラーム",
        "宅配",
        "금고",
        "현관",
        "잠금",
        "핸드폰",
        "도어락",
    ),
)
_TYPED_HINTS = Hints(
    *("type", "enter", "punch in", "key in", "dial", "press", "gib", "tipp", "tape", "marca", "teclea", "digita"),
    *("digite", "wpisz", "набери", "введи"),
)
_RESET_PIN = re.compile(
    r"(?<![\w-])(?:pin|passcode|пин)(?!\w)[^\n]{0,60}?(?<!\w)"
    r"(?:(?:set|changed|switched|reset|moved) (?:it )?to|(?:sie|ihn|das|den) (?:jetzt |nun )?auf"
    r"|(?:changé|mis) (?:en|à)"
    r"|(?:cambi[éeó]\w{0,3}|puse|puesto) (?:a|por|en)|cambiat\w (?:in|a)|(?:mudei|troquei|mudou) para|zmieni\w{1,4} na"
    rf"|(?:поменял\w?|сменил\w?) (?:его )?на)[ \t]{{1,2}}{_PIN}{_NO_UNIT}"
)
_OPENERS = (
    (_OPENS, _OPENS_HINTS),
    (_OPENING, _OPENING_HINTS),
    (_TYPED, _TYPED_HINTS),
    (
        _CODE_OF,
        Hints(
            *(
                "code",
                "pin",
                "combina",
                "combo",
                "kombina",
                "código",
                "codice",
                "segredo",
                "kod",
                "szyfr",
                "код",
                "шифр",
            ),
            "комбинац",
        ),
    ),
    (
        _DIALED,
        Hints(
            *("compose", "tape", "dial", "press", "punch in", "tipp", "wähle", "marca", "teclea", "pulsa", "digit"),
            *("premi", "wpisz", "wybierz", "набери", "введи", "toets"),
        ),
    ),
    (_RESET_PIN, Hints("pin", "passcode", "пин")),
)
"""Patterns for a text in lower case, because case-insensitive matching is slow, with their hints."""


def find_entry_codes(text: str, lowered: Lowered) -> Iterator[MatchSpan]:
    """Find codes that open something."""
    if _DIGITS.search(text):
        for pattern, hints in _OPENERS:
            if lowered.has(hints):
                yield from (
                    MatchSpan(*match.span(match.lastindex or 0), "pin") for match in pattern.finditer(lowered.text)
                )
