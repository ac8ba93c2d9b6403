"""Secrets that a sentence reveals without "the password is": by a pronoun, a verb, an account, or a remark."""

import re
from collections.abc import Iterator

from bethink.providers.redaction_hints import Hints, Lowered
from bethink.providers.redaction_prose import AT_END
from bethink.providers.redaction_tokens import MatchSpan
from bethink.providers.redaction_values import is_dotted_word, is_password, is_placeholder

_WORD_OF = r"([!-~а-яё]{6,64}?)"
_LATER = re.compile(
    r"(?<!\w)(?:(?:it|this)(?:['\u2019]?s| is| was| to| should be)|(?:the )?new one(?:['\u2019]s| is|:)"
    r"|the new[: ]|is now|now|always|still|immer(?: noch)?|toujours|siempre|sempre|zawsze|всегда|hep|altijd"
    r"|alltid|altid"
    r"|(?:es|er|das|sie) (?:ist|lautet|heißt)|(?:das |der )?neue[rs]?(?: ist| lautet|:)?|jetzt|nun|und zwar"
    r"|c['\u2019]est|(?:le )?nouveau(?: est|:)?|maintenant|désormais|à présent"
    r"|ahora(?: es)?|la nueva(?: es|:)?|es|agora(?: é)?|a nova(?: é|:)?|é|adesso(?: è)?|ora(?: è)?"
    r"|(?:quella )?nuova(?: è|:)?|è"
    r"|teraz(?: to| jest)?|nowe(?: to|:)?|to|nu(?: är| er)?|het is(?: nu)?|(?:de|het) nieuwe(?: is|:)?"
    r"|(?:det|den)(?: nya| nye| er| är)|это|теперь(?: это| он| она)?|новый|сейчас|вот(?: он)?|şimdi|artık|yenisi|yeni)"
    rf"(?: (?:now|jetzt|maintenant|ahora|agora|nu|:|—|-))?[\s:]{{1,3}}[\"'`“„«]?{_WORD_OF}{AT_END}"
    r"|(?:现在是|新的是|现在改为|改成了?|換成|换成了?|新しいのは|今は|いまは|지금은|새로운 건"
    r"|이제)[ :：「]{0,2}([!-~]{6,64})",
)
_PREPOSITIONS = (
    r"for|of|on|to|at|from|für|fürs|vom|von|zum|zur|am|im|du|de|des|pour|del|para|do|da|dos|per|di|della|dello|dell"
    r"|voor|van|op|till|til|för|på|do|od|na|k|ke|od|от|на|для|к|до|з|în|la"
)
_WITHOUT_VERB = re.compile(
    rf",?[ \t]{{1,2}}(?:(?:{_PREPOSITIONS})[ \t'\u2019]{{1,2}}(?:(?:the|my|our|den|dem|die|das|der|la|le|el|il"
    rf"|lo|de|het|mi|meu)[ \t]"
    rf")?[^\s\d:=]{{2,24}}(?:[ \t][^\s\d:=]{{2,24}})?|\([^()\n]{{2,30}}\)"
    rf"|[^\s\d:=.,]{{2,24}})[ \t]{{1,2}}[\"'`“„«]?{_WORD_OF}{AT_END}",
    re.IGNORECASE,
)
_LAST_PREPOSITION = re.compile(
    rf"(?:\A|\s)(?:{_PREPOSITIONS}|in|with|mit|con|avec|and|or|und|et|y|e|i|и)\s+[\"'`“„«]?\Z", re.IGNORECASE
)
_CLAUSE = re.compile(r"[.!?;:,()\n]")
_ENTERING = re.compile(
    r"(?<![\w-])(?:log(?:s|ged|ging)?[ -]?(?:in|on|into)|sign(?:ed)?[ -]?in|unlock\w*|decrypt\w*|wi-?fi|wlan"
    r"|hotspot|vpn|entsperr\w*|entschlüssel\w*|déverrouill\w*"
    r"|déchiffr\w*|desbloque\w*|descifr\w*|sblocc\w*|odblok\w*|разблокир\w*|ontgrendel\w*|вайфа\w|anmeld\w*"
    r"|meld\w* dich|meldest|einlogg\w*|logg?\w* dich"
    r"|connecte\w*|connexion|identifie\w*|inicia\w* sesión|entr[aeo]r?(?! en conflit)|acced[eio]r?|ingresa\w*|conéctate"
    r"|faça login|logue|acessa\w*|acesse"
    r"|zaloguj\w*|loguj\w*|войти|войди\w*|зайди\w*|заходи\w*|залогинь\w*|giriş yap\w*|oturum aç\w*|inlog\w*"
    r"|logga in|logg inn|log ind)(?![\w-])"
    r"(?:[^\n.]|\.(?=\w)){0,64}?(?<!\w)(?:with|using|and|mit|und|avec|et|con|y|e|com|z|i|hasłem|с|и|паролем|ile"
    r"|ve|met|en|med|och|og|/)"
    rf"[ \t]{{1,2}}[\"'`“„«]?{_WORD_OF}(?=[\"'`”»)]{{0,2}}[.,;!?)]{{0,2}}(?:\s(?:an|ein|to|at|on|in|and)\b|\s*\Z"
    rf"|\s*\n|(?<=[.,;!?)])\s))",
)
_ENTERED = re.compile(
    rf"(?<![\w-])(?:use|using|try|utilise[rz]?|usa|use|nimm|benutze?|verwende|użyj|используй\w{{0,2}}|gebruik"
    rf"|brug|använd|bruk)[ \t][\"'`“„«]?{_WORD_OF}"
    r"[\"'`”»]?[ \t](?:to|zum|um|pour|para|per|do|чтобы|для|om|til|för|for att)[ \t]"
    r"(?:te |me |se |dich |get |)(?:log|sign|enter|get in|unlock|anmeld|einlogg|connect|entr|acced|ingres|inici"
    r"|logow|zalog|вой|вход|in te|logga)"
    rf"|(?<![\w-])(?:use|using|try|utilise[rz]?|usa|nimm|benutze?|verwende|użyj|используй\w{{0,2}}|gebruik)[ \t]"
    rf"[\"'`“„«]?{_WORD_OF}[\"'`”»]?[ \t](?:for|für|pour|para|per|voor|dla|do|для|im|on)[ \t]"
    r"(?:[^\s.]{1,12}[ \t]){0,2}?(?:wi-?fi|wlan|guest network|gäste-?netz\w*|вайфа\w)(?![\w-])"
    rf"|(?<!\S)[\"'`“„«]?{_WORD_OF}[\"'`”»]?[ \t]is what (?:opens|unlocks|gets)\b",
)
_REMARK = re.compile(
    r"(?<![^\s\"'`“„«(:：])([^\s,;(\"'`“„«]{4,40})[\"'`”»]?,?[ \t(]{1,2}(?:all (?:in )?(?:lower|upper|small|caps"
    r"|one word)|in (?:lower|upper)"
    r"|(?:lower|upper) ?case|(?:as )?one word|no (?:spaces?|caps)|with (?:a |an |the )?(?:capital|zero"
    r"|exclamation|underscore|dot|dollar|big|upper|number)"
    r"|capital |alles (?:klein|groß|zusammen)|klein ?geschrieben|großgeschrieben|zusammengeschrieben"
    r"|(?:mit )?gro(?:ß|ss)em [a-z]\b|ohne leerzeichen"
    r"|tout (?:en |attaché)|en (?:minuscules?|majuscules?|minúsculas?|mayúsculas?)|sans espace|todo (?:en "
    r"|junto)|sin espacios|con (?:mayúscula|la primera)"
    r"|tudo (?:em |junto)|em (?:minúsculas?|maiúsculas?)|sem espaço|tutto (?:minuscolo|maiuscolo|attaccato|in )"
    r"|senza spazi|con la (?:maiuscola|[a-z] maiuscola)"
    r"|(?:wszystko |z )?(?:małymi|wielkimi|dużymi|małej|dużej|wielkiej)|bez spacji|с (?:большой|маленькой"
    r"|заглавной)|(?:всё |все )?(?:маленькими|большими|слитно)"
    r"|без пробел|hepsi (?:küçük|büyük|bitişik)|(?:allemaal |alles )?(?:kleine letters|aan elkaar)"
    r"|zonder spaties|全部小写|全小写|都是小写|すべて小文字|全部小文字|모두 소문자)",
)
_ARTICLE = re.compile(
    r"(?<!\w)(?:an?|the|this|that|my|your|der|die|das|dem|den|eine?|une?|le|la|les|el|los|las|il|lo|gli|os?|as"
    r"|het|not|nicht|pas|no|non|não|nie|niet|не)[ ]\Z"
)
"""Words before a noun or a verb that is not a password."""
_REMARK_HINTS = Hints(
    *("case ", "case)", "case,", "case.", "one word", "space", "caps", " with ", "capital", "klein"),
    *("groß", "zusammen", "minus", "minús", "mayús", "maius", "tout", "todo", "tudo", "tutto", "spaz"),
    *("espa", "małymi", "duż", "wielk", "spacji", "больш", "маленьк", "слитно", "заглавн", "пробел"),
    *("hepsi", "letters", "elkaar", "小写", "小文字", "소문자", "großem"),
)
_ABOUT = re.compile(
    r"(?i:pass(?:word|wort|phrase|code|ord)|\bpw\b|pwd|kennwort|mot de passe|mdp|contraseña|clave|senha|parola"
    r"|hasło|парол|şifre|wachtwoord|lösenord"
    r"|kodeord|wi-?fi|wlan|network|netzwerk|netwerk|réseau|router|密码|パスワード|비밀번호|비번|login)"
)
_ABOUT_HINTS = Hints(
    *("pass", "pw", "kennwort", "mdp", "contraseña", "clave", "senha", "parol", "hasło", "парол", "şifre", "login"),
    *("wachtwoord", "lösenord", "kodeord", "wifi", "wi-fi", "wlan", "密码", "パスワード", "비밀번호", "비번"),
    *("network", "netzwerk", "netwerk", "réseau", "router"),
)
_ENTERING_HINTS = Hints(
    *("log", "sign", "unlock", "decrypt", "wifi", "wi-fi", "wlan", "hotspot", "vpn", "entsperr", "entschlüssel"),
    *("déverrouill", "déchiffr", "desbloque", "descifr", "sblocc", "odblok", "разблокир", "ontgrendel", "вайфа"),
    *("anmeld", "meld", "conne", "identifie", "inicia", "entr", "acced", "ingresa", "conéctate", "acess", "войти"),
    *("войди", "зайди", "заходи", "залогинь", "giriş", "oturum"),
)
_ENTERED_HINTS = Hints(
    *("use", "using", "try", "utilise", "usa", "nimm", "benutz", "verwende", "użyj", "используй", "gebruik", "brug"),
    *("använd", "bruk", "is what"),
)
_SIGN = r"[!-/:-@\[-`{-~]"
_MIXED = (
    rf"[0-9](?:{_SIGN}{{0,8}}[A-Za-zА-я]|(?<=[A-Za-zА-я][0-9])|(?<=[A-Za-zА-я]{_SIGN}[0-9])|(?<=[A-Za-zА-я]{_SIGN}{{2}}[0-9])"
    rf"|(?<=[A-Za-zА-я]{_SIGN}{{3}}[0-9]))"
)
_WITH_DIGIT = re.compile(_MIXED)
"""A quick test for words of letters and digits. It is fast because it begins with a digit."""
_STRONG = re.compile(rf"{_MIXED}|[!@#$%^&*+~?](?<=[A-Za-z].)[!-~]|[A-Z](?:(?<=[a-z][A-Z])|(?<=[A-Z]{{2}})(?=[a-z]))")
"""A quick test for words that must be passwords."""
_ACCOUNT = re.compile(
    r"(?<![\w.+/-])(?!git@)[\w.+-]{1,64}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}"
    r"(?:[ \t]{0,2}[/|][ \t]{0,2}|[ \t]{0,2}:[ \t]{0,2}(?![0-9]{2,5}[/\s])"
    r"|,?[ \t]{1,4}(?=\S{6,64}[ \t]*(?:\n|\Z)))"
    rf"{_WORD_OF}(?=[.,;!?)]{{0,2}}(?:\s|\Z))"
)
_PAIR = re.compile(
    r"(?<!\w)(?:user(?:name)?|login|id|account|usuario|usuário|benutzer(?:name)?|utilisateur|identifiant|utente"
    r"|użytkownik|логин|kullanıcı(?: adı)?|gebruiker|network|netzwerk|ssid|réseau|wifi|wlan"
    r"|användare|bruger|账号|用户名?|帐号|アカウント|ユーザー名?|아이디|계정)(?:[ \t:=]{1,3}"
    r"|[は是为은는][ ：:]?)(?:is |ist |es |est |è |é |to )?"
    r"[\"'`]?[^\s,;/\"'`，、]{1,60}[\"'`]?[ \t]{0,2}(?:[,;/，、|]|and|with|und|mit|et|avec|con|com|y|e|i|и|ve|en"
    r"|met|och|og)?[ \t]{0,2}(?:and |und |et |y |e |i |и )?"
    r"(?:(?:the |das |le |la )?(?:pass|pw|p|pwd|mdp|пасс)(?: is| ist|:|=)?[ \t]{1,2}|/[ \t]{0,2})[\"'`]?"
    rf"{_WORD_OF}(?=[\"'`)]{{0,2}}[.,;!?)。]{{0,2}}(?:\s|\Z))"
    rf"|(?:ログイン|登录|登入|로그인|zugang|accès|acceso|accesso|acesso|dostęp|доступ|вход|giriş|logowanie|inlog"
    rf"|toegang|creds|credentials)(?: [^\s:/,]{{1,16}}){{0,5}}(?:[ \t]{{0,2}}[:：は是는은])[ \t]{{0,2}}"
    rf"[^\s,;/]{{2,60}}[ \t]{{0,2}}[/,|:、][ \t]{{0,2}}{_WORD_OF}(?=[.,;!?)。]{{0,2}}(?:\s|\Z))",
)
_PATH_PART = re.compile(r"(?:id|account|network|netzwerk|ssid|réseau|wifi|wlan)[^\n/]{0,80}(?<![ \t])/(?![ \t])")
"""The name and the beginning of a path: `id: hosting/site-1`."""
_ROOT = re.compile(
    r"(?<![\w./-])(?:admin|administrator|root|guest|gast|postgres|ubuntu)[ \t]{1,2}[/|,][ \t]{1,2}"
    rf"{_WORD_OF}(?=[.,;!?)]{{0,2}}(?:\s|\Z))"
)
_PASSWORD_MANAGER = re.compile(
    r"(?<!\w)(?:bitwarden|vaultwarden|keepass\w{0,3}|lastpass|dashlane|1password|enpass|proton ?pass)"
    r"(?:[ \t][^\s\d.:=,]{1,16}){0,4}?[ \t]?(?:is|was|ist|lautet|est|es|é|è|to|это|[:=—–-])"
    rf"(?:[ \t](?:still|now|noch|jetzt|toujours|ahora|:))?[ \t]{{1,2}}[\"'`“„«]?{_WORD_OF}{AT_END}"
)
_AT_PROMPT = re.compile(
    r"(?<!\w)(?:type|enter|use|try|put in|gib|tippe?|nimm|tape[rz]?|mets|mettez|utilise[rz]?|escribe|pon|usa|introduce"
    r"|digita|inserisci|scrivi|digite|coloca|wpisz|podaj|введи\w{0,2}|набери\w{0,2}|vul|typ|skriv|yaz)[ \t]"
    rf"[\"'`“„«]?{_WORD_OF}[\"'`”»]?,?[ \t](?:when|if|where|wenn|falls|quand|lorsqu\w{{1,2}}|si|cuando|quando|se|gdy"
    r"|jeśli|когда|если|als|wanneer|när|når|for|as|at|für|beim|comme|como|come|jako|как)[ \t]"
    r"(?:[^\s.]{1,16}[ \t]){0,6}?[^\s.]{0,16}(?:password|passwort|kennwort|passphrase|mot de passe|contraseña|senha"
    r"|hasło|парол|wachtwoord|lösenord|passord|kodeord|şifre|parola)"
    r"(?![ \t-](?:manager|sync|hash|reset|polic|generator|rotation|flow|check))"
)
_IN_FIELD = re.compile(
    r"(?<!\w)(?:typ(?:e|ed|ing)|enter(?:ed|ing)?|tippe|gebe|eingebe|saisis|tape|mets|escribo|pongo|introduzco|meto"
    r"|digito|inserisco|scrivo|metto|escrevo|coloco|insiro|typ|voer|vul|wpisuję|podaję|ввожу|набираю|пишу|skriver)[ \t]"
    rf"[\"'`“„«]?{_WORD_OF}[\"'`”»]?[ \t]"
    r"(?:in|into|as|im|ins|als|dans|comme|en|como|nel|come|no|na|bij|w|jako|в|как|i)[ \t][^\n.?!]{0,20}?"
    r"(?:password|passwort|kennwort|mot de passe|contraseña|senha|palavra-passe|hasł|парол|wachtwoord|lösenord)"
)
_SET_TO = re.compile(
    r"(?<!\w)(?:(?:set|changed|switched|reset) (?:it|that|this) to|it(?:['\u2019]?s| is) now"
    r"|now it(?:['\u2019]?s| is))[ \t]"
    rf"[\"'`“„«]?{_WORD_OF}{AT_END}"
)
_GLUED = re.compile(
    r"(?<![!-~])([!-~]{6,64}+)(?:[ ]?(?:が|是|就是|는|가|이)[^\n!-~]{0,10}?(?:パスワード|密码|密碼|비밀번호|비번)"
    r"|登录|登入|[ ]?でログイン|[ ]?으?로 로그인)"
)
_PAIR_HINTS = Hints(
    *("user", "login", "account", "usuario", "usuário", "benutzer", "util", "ident", "utente", "użytk", "логин"),
    *("kullan", "gebruik", "använd", "brug", "账", "用户", "帐", "アカウ", "ユーザ", "ログ", "登", "아이디", "계정"),
    *("로그인", "id ", "id:", "id=", "idは", "zugang", "accès", "acceso", "accesso", "acesso", "dostęp", "доступ"),
    *("вход", "giriş", "logow", "inlog", "toegang", "creds", "credentials", "network", "netzwerk", "ssid", "réseau"),
    *("wifi", "wlan"),
)
_NO_LOGIN = re.compile(
    r"(?:office|microsoft|windows|m|oauth|o?auth|web|azure|sso|sql|mysql|python|node|ubuntu|user|usr|test"
    r"|account|employee|guest|admin"
    r"|team|group|client|server|room|host|node|port|version|step|level|team|step|iphone|ipad|chapter|page|ticket"
    r"|issue|build|release)[-_]?[0-9]{1,4}\w?|(?:ctrl|strg|control|shift|alt|cmd|super|fn)\+\S{1,16}",
    re.IGNORECASE,
)


_ARGUMENT = re.compile(r"[A-Za-z_]\w{0,40}=")
_ENTRIES = (
    (_ENTERING, _ENTERING_HINTS),
    (_ENTERED, _ENTERED_HINTS),
    (_PAIR, _PAIR_HINTS),
    (_ROOT, Hints("admin", "root", "guest", "gast", "postgres", "ubuntu")),
    (
        _PASSWORD_MANAGER,
        Hints("warden", "keepass", "lastpass", "dashlane", "1password", "enpass", "proton pass", "protonpass"),
    ),
)
"""Patterns for a text in lower case, because case-insensitive matching is slow, with their hints."""


def find_later_password(text: str, lowered: str, start: int, limit: int) -> Iterator[MatchSpan]:
    """Find a password in a later sentence: "It's now …"."""
    end = min(limit + 64, len(text))
    if _STRONG.search(text, start, end) is None:
        return
    for match in _LATER.finditer(lowered, start, end):
        begin, stop = match.span(match.lastindex or 0)
        account = text[begin:stop].isalpha() and lowered.startswith("to ", match.start())  # "the password to LinkedIn"
        if match.start() < limit and not account and _is_strong(text[begin:stop]):
            yield MatchSpan(begin, stop, "password")
            return


_CHOSEN_AS = re.compile(
    rf"[ \t]{{1,2}}(?:[^\s\d:=.,]{{1,16}}[ \t]{{1,2}}){{0,3}}?[\"'`“„«]?{_WORD_OF}"
    r"(?=[\"'`”»)]{0,2}[.,;!?)]{0,2}(?:\s|\Z))"
)
_APPOSITION = re.compile(rf",[ \t][\"'`“„«]?{_WORD_OF}(?=[\"'`”»]?(?:[,.;!)]|\s?[—–-]\s|\Z|\n))")
_AS = ("als", "as", "como", "comme", "come", "jako", "как", "som", "de")


def find_note_password(text: str, start: int, end: int) -> MatchSpan | None:
    """Find the password of a note: "password for the router …", with few words before and nothing after it."""
    clause = text[max(0, start - 48) : start]
    before = _CLAUSE.split(clause)[-1].split()
    apposed = _APPOSITION.match(text, end)
    if apposed and _is_strong(apposed[1]):
        return MatchSpan(*apposed.span(1), "password")
    if before and before[-1].lower() in _AS:
        chosen = _CHOSEN_AS.match(text, end)
        return MatchSpan(*chosen.span(1), "password") if chosen and _is_strong(chosen[1]) else None
    if len(before) > 2:  # "I forgot the password …" reveals none
        return None
    match = _WITHOUT_VERB.match(text, end)
    if (
        match is None
        or _LAST_PREPOSITION.search(text, end, match.start(1))
        or match[1].isalpha()
        or not _is_strong(match[1])
    ):
        return None
    return MatchSpan(*match.span(1), "password")


def find_sentence_passwords(text: str, lowered: Lowered) -> Iterator[MatchSpan]:
    """Find passwords of accounts, and words with a remark on their spelling."""
    if _WITH_DIGIT.search(text):
        yield from _find_account_passwords(text, lowered)
    if not lowered.has(_ABOUT_HINTS):
        return
    yield from _find_typed_passwords(text, lowered.text)
    if lowered.has(_REMARK_HINTS):
        for match in _REMARK.finditer(lowered.text):
            about = _ABOUT.search(text, max(0, match.start() - 60), match.start())
            article = _ARTICLE.search(lowered.text, max(0, match.start(1) - 8), match.start(1))
            if about and article is None and not is_placeholder(text[match.start(1) : match.end(1)]):
                yield MatchSpan(*match.span(1), "password")


def _find_typed_passwords(text: str, lowered: str) -> Iterator[MatchSpan]:
    """Find words typed at a password prompt, and words that a password was set to."""
    for pattern in (_AT_PROMPT, _IN_FIELD, _SET_TO):
        for match in pattern.finditer(lowered):
            start, end = match.span(1)
            about = pattern is not _SET_TO or _ABOUT.search(text, max(0, match.start() - 60), match.start())
            if about and is_password(text[start:end]) and _NO_LOGIN.fullmatch(text, start, end) is None:
                yield MatchSpan(start, end, "password")


def _find_account_passwords(text: str, lowered: Lowered) -> Iterator[MatchSpan]:
    patterns = [pattern for pattern, hints in _ENTRIES if lowered.has(hints)]
    if "@" in text:
        patterns.append(_ACCOUNT)
    if not text.isascii():
        patterns.append(_GLUED)
    for pattern in patterns:
        for match in pattern.finditer(lowered.text):
            start, end = match.span(match.lastindex or 0)
            path = pattern is _PAIR and _PATH_PART.match(lowered.text, match.start()) and text[start - 1] == "/"
            if not path and _is_strong(text[start:end], labeled=pattern is _PAIR):
                yield MatchSpan(start, end, "password")


def _is_strong(value: str, *, labeled: bool = False) -> bool:
    """Return whether a word must be a password. Words that are `labeled` as one are checked less strictly."""
    if (not any(map(str.isdigit, value)) and value.islower()) or _ARGUMENT.match(value) or "`" in value:
        return False
    value = value.rstrip("\"'`:)")
    return (
        is_password(value, literal=is_dotted_word(value))
        and (labeled or not (value[:-1].isalpha() and value[-1].isdigit()))
        and _NO_LOGIN.fullmatch(value) is None
    )
