"""German words of instructions, by concept."""

WORDS = {
    "negation": r"verbiete\w*|untersage\w*|nie|niemals|nicht|nichts|kein|keine|keinen|keinem|keiner|ohne|auf "
    r"keinen fall|verboten|tabu|"
    r"vermeide|verzichte auf|weglassen|"
    r"unterlass\w*|finger weg",
    "contrast": r"statt|anstatt|anstelle von|anstelle|nicht|nie|niemals|kein|keine",
    "away": r"weg von|wechs(?:el|le) von|ersetze",
    "positive": r"benutz\w*|verwend\w*|nimm|nehmt|nehmen|immer|mit|nur|nutze|nutzen|ruf\w*|sondern|über|"
    r"bevorzug\w*|formatier\w*|installier\w*|lösche|durch",
    "is_out": r"(?:ist|sind) (?!nicht)\w+ (?:verboten|tabu|untersagt|gesperrt)|(?:ist|sind) (?:verboten|tabu|raus|"
    r"gesperrt|untersagt)|nicht (?:mehr )?(?:benutzen|verwenden|"
    r"nehmen|nutzen)",
    "is_in": r"(?:ist|sind) (?:drin|angesagt)|stattdessen",
    "always": r"immer|jedes mal|jeden|jede|muss|müssen|nur|stets",
    "answer": r"antwort|antworte|antworten|sprich|rede|schreib(?:e)? mir|mit mir|antwortest|kommunizier\w*|erkläre",
    "ask": r"frag|frage|fragen|fragst|gefragt|rückfrage|nachfragen|zustimmung|freigabe|erlaubnis|mein ok|meine "
    r"zustimmung|"
    r"abstimmen|zu fragen|gefragt werden|genehmigung|rücksprache|freigegeben|okay von mir",
    "before": r"bevor|vor",
    "only_when": r"nur mit|wenn du (?:sie|es|ihn|das) nicht|nur,? (?:\w+ ){0,3}?(?:wenn|nach|falls|sobald)|erst,? "
    r"(?:wenn|"
    r"nach|nachdem)|ohne|solange",
    "after": r"nach|nachdem|wenn|sobald|falls|immer wenn|jedes mal",
    "change": r"änder\w*|bearbeit\w*|anfass\w*|geänder\w*|anpass\w*|fasst?|schreib\w*|bearbeitest",
    "forbid_change": r"änder\w*|bearbeit\w*|anfass\w*|fass|fasst|berühr\w*|schreib\w*|anlegen|lösch\w*|überschreib\w*|"
    r"geändert|angefasst|bearbeitet|modifizier\w*|veränder\w*|editier\w*|an",
    "hands_off": r"finger weg|hände weg|lass\w*|in ruhe|tabu|nur lesen|schreibgeschützt|gesperrt|unangetastet",
    "goes_to": r"gehör(?:en|t) (?:nach|in|unter)|kommen (?:nach|in|unter)|kommt (?:nach|in|unter)|leg\w*|liegen "
    r"(?:in|unter)|"
    r"speicher\w*|nach",
    "claim": r"behaupte\w*|sag|sage|sagen|melde|meldest|schreib",
    "finish": r"fertig|am ende|zum schluss|abschluss|beendest|abschließ\w*|aufhörst",
    "read": r"lies|lese|lesen|anschauen|ansehen|schau|öffne\w*",
    "file": r"eine datei|dateien|jede datei|datei|sie",
    "passing": r"grün\w*|durchlaufen|laufen durch|bestehen|bestanden|erfolgreich|klappen|durchgelaufen|durch sind",
    "say": r"sag|sage|sagen|schreib\w*|lesen|benutz\w*|verwend\w*|hören|wörter|satz|worte?",
    "code": r"code|quellcode|quelltext|typ|bibliothekscode|typescript|python|javascript|rust|java",
    "comment": r"\S*kommentar\w*",
    "leave": r"lass\w*|hinterlass\w*|schreib\w*|fest|hinzufüg\w*|committe\w*",
    "secret": r"geheimnis\w*|api-schlüssel|schlüssel|passw[oö]rt\w*|zugangsdaten|token\w*|secrets?",
    "emoji": r"emojis?|smileys?",
    "em_dash": r"geviertstrich\w*|lange(?:n)? (?:gedanken)?striche?|gedankenstrich\w*",
    "bullets": r"aufzählung\w*|stichpunkt\w*|listen|spiegelstrich\w*",
    "headings": r"überschrift\w*",
    "tables": r"tabelle\w*",
    "exclamation": r"ausrufezeichen|ausrufungszeichen",
    "sentences": r"sätze?n?|satz",
    "words": r"wörter\w*|worte?n?",
    "lines": r"zeilen?",
    "files": r"dateien|datei",
    "questions": r"fragen?",
    "characters": r"zeichen",
    "per_commit": r"(?:pro|je|in einem|im|auf einen) commit|commits?",
    "at_most": r"höchstens|maximal|nicht mehr als|nie mehr als|über|länger als|bis zu|unter|weniger als|mehr als|nur",
    "subagent": r"sub-?agent\w*|unteragent\w*",
    "web": r"web-?suche\w*|internet-?suche\w*|im (?:web|internet|netz) (?:such\w*|recherchier\w*|surf\w*)|such\w* im "
    r"(?:web|internet|netz)|internetrecherche\w*|googeln",
    "message": r"\S*nachricht\w*|\S*titel|betreff\w*|commits?|\S*message\w*",
    "sign_off": r"signier\w*|sign-?off\w*|abzeichnen",
    "gpg": r"gpg|kryptograf\w*",
    "co_author": r"co-?authored-by\S*|co-?autor\w*|mitautor\w*",
    "mention": r"erwähn\w*|hinweis\w*|nenn\w*|verweis\w*|werbung",
    "ticket": r"ticket\w*|vorgang\w*",
    "plan_file": r"plan-?datei|gespeicherte\w* plan\S*",
    "download": r"download\w*|heruntergeladen\w*|curl|wget|herunterlad\w*",
    "pipe": r"pip(?:e|en|est)|leite\w*|weiterleit\w*",
    "hooks": r"hooks?",
    "vague": r"sauber\w*|sorgfältig\w*|vorsichtig\w*|einfach\w*|lesbar\w*|denk\w*|gründlich\w*|elegant\w*|"
    r"ordentlich\w*|"
    r"gut\w*|knapp\w*|pass auf|achte\w*|verständlich\w*|professionell\w*|wartbar\w*|höflich\w*|freundlich\w*|"
    r"präzise\w*",
}

LANGUAGES = {
    "deutsch": "de",
    "englisch": "en",
    "spanisch": "es",
    "französisch": "fr",
    "italienisch": "it",
    "portugiesisch": "pt",
    "niederländisch": "nl",
}

NUMBERS = {
    "ein": 1,
    "eine": 1,
    "einen": 1,
    "einer": 1,
    "zwei": 2,
    "drei": 3,
    "vier": 4,
    "fünf": 5,
    "sechs": 6,
    "sieben": 7,
    "acht": 8,
    "neun": 9,
    "zehn": 10,
    "zwölf": 12,
    "fünfzehn": 15,
    "zwanzig": 20,
    "dreißig": 30,
    "fünfzig": 50,
    "hundert": 100,
}

BINDING = {
    "question": r"^(?:sollten wir|darf ich|warum)\b",
    "report": r"\b(?:steht|stand),? dass\b|\b(?:schwört|schwören|predigt|predigen)\b|^(?:Er|Sie sagt|Sie hat|"
    r"Man)\b|\b(?:hat|haben|hatte|hatten)\b(?<!ich habe)[^.!?]{0,30}\b(?:gesagt|"
    r"gemeint|empfohlen|"
    r"geschrieben|behauptet|erzählt|geraten|gefragt)\b|\b[Ii]ch habe? (?:gehört|gelesen)\b|\bob (?:wir|man|ich)\b|"
    r"\b(?:[Ee]r|[Ss]ie|[Mm]an|[Kk]olleg\w+|[Cc]hef\w*|[Ff]reund\w*|[Ww]iki|[Dd]oku\w*|README|readme|"
    r"[Aa]rtikel|[Aa]nleitung|[Ll]eute|[Ll]inter|[Bb]uch|"
    r"[Bb]log|[Tt]eam|[A-ZÄÖÜ][a-zäöü]+)\b[^.!?]{0,40}?\b(?:sagt|sagte|meint|meinte|behauptet|behauptete|findet|"
    r"empfiehlt|empfahl|schreibt|schrieb|erzählt|berichtet|meldet|rät|riet)\b|\b[Ll]aut\b|\b[Aa]ngeblich\b|"
    r"\bveraltet\b|"
    r"\bsehe ich anders\b|\bin der anleitung stand\b|\bda stand\b",
    "own_words": r"\bich (?:habe|hab)\b[^.!?]{0,25}\bgesagt\b|\bich sag(?:e|te)?\b|\bwie gesagt\b|\bich (?:will|"
    r"möchte)\b",
    "hypothetical": r"\bich frage mich\b|\b(?:sobald|wenn|falls|nachdem) wir (?:mal|einmal|live|in produktion|"
    r"umgezogen|migrier\w*|"
    r"umsteigen|veröffentlich\w*)\b|"
    r"\bidealerweise\b|\bfalls wir (?:jemals|je|mal|irgendwann)\b|\bwenn wir (?:jemals|je|irgendwann)\b|\bangenommen\b|"
    r"\bstell dir vor\b|\btheoretisch\b|\bwäre\b|\bhätte\w*\b(?! gern)|\bvielleicht\b|\bwürde\w*\b|\bkönnten wir\b|"
    r"\birgendwann\b",
    "past": r"\bfrüher\b|\bdamals\b|\bletzte[sn]? (?:jahr|monat|woche|mal|sprint)\b|\bgestern\b|\bvor (?:jahren|"
    r"monaten|\w+ "
    r"(?:jahren|monaten|wochen))\b|\bbei meiner (?:alten|letzten)\b|\bin der vergangenheit\b",
    "announce": r"^ich (?:benutze|verwende|nutze|mache|nehme|committe|pushe|arbeite) |^(?:ab jetzt |von nun an "
    r")?(?:ich werde|werde ich|ich habe nie)\b|\bich werde nie\b",
    "once": r"\bfür diese(?:n|s)? (?:\w+ )?(?:aufgabe|sitzung|änderung|commit|fall|antwort|task|mal|session|pr)\b|"
    r"\bdiesmal\b|\b(?:nur )?dieses (?:eine )?mal\b|\bnur (?:jetzt|heute|einmal)\b|\bheute\b|\bvorerst\b|\bfürs "
    r"erste\b|"
    r"\bin dieser (?:sitzung|session|aufgabe|unterhaltung)\b|\bausnahmsweise\b|\bvorübergehend\b|\bim moment\b|"
    r"\bbis (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|morgen|zum|zur|ende|nächste|wir|ich|\d)|"
    r"\bdiese eine (?:antwort|änderung|nachricht)\b|\beinmalig\b|\bbei dieser (?:aufgabe|änderung)\b",
    "withdraw": r"\b(?:ist|sind) [^.]{0,30}\b(?:wieder|doch)\b|\bfrag nicht mehr\b|\bdu (?:darfst|kannst) (?!nicht|"
    r"nie|nur|kein)[^.,;]*\b(?:benutzen|verwenden|ändern|bearbeiten|"
    r"nehmen|anfassen|pushen|committen|"
    r"löschen|antworten)\b|\bvergiss (?!nicht)(?:was|die|das|meine|den|es)|\b(?:darfst|kannst|dürft|"
    r"könnt)\b[^.]*\b(?:wieder|jetzt)\b|"
    r"\b(?:ist|sind) (?:jetzt |nun )?wieder (?:ok|okay|erlaubt|in ordnung|frei|gut)\b|\bgilt nicht (?:mehr|länger)\b|"
    r"\b(?:ist|sind) (?:hinfällig|aufgehoben|vom tisch|nicht mehr nötig)\b|\bignorier\w* (?:die|meine|"
    r"das)\b[^.]*\bregel\b|"
    r"\bich nehme (?:das|es) zurück\b|\bdoch (?:ok|okay|erlaubt)\b|\bbrauchst (?:du )?nicht mehr\b|\bmusst (?:du "
    r")?nicht mehr\b|"
    r"\bhab\w* es mir anders überlegt\b|\bab jetzt (?:darfst|kannst)\b",
    "quoted": r"\bder (?:nutzer|benutzer) (?:will|möchte)\b",
    "describe": r"\bes gibt (?:hier )?kein\w*\b|\bnicht (?:installiert|gefunden|verfügbar|vorhanden)\b|"
    r"\bfunktioniert nicht\b|"
    r"\bläuft nicht\b|\bgeht nicht\b|\bkaputt\b",
    "task": r"^(?:bitte |jetzt |nun )*(?:schreib\w*|erstell\w*|füge|bau\w*|erklär\w*|übersetz\w*|entfern\w*|"
    r"benenn\w*|zeig\w*|"
    r"implementier\w*|zitier\w*) (?:mir |uns )?(?:ein|eine|einen|einem|warum|wie|diesen|dieses|diese)\b",
    "repeated": r"\bhöchstens\b|\bmaximal\b|\b(?:immer|jedes mal|ab jetzt|ab sofort|jede[nrms]?)\b|\b(?:wenn|bevor|"
    r"nachdem) du\b",
}
