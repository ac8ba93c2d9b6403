"""Spanish words of instructions, by concept."""

WORDS = {
    "negation": r"prohíbo|prohíbe|no|nunca|jamás|nada de|nada|ningún|ninguna|sin|evita|evitar|prohibido|prohibida|"
    r"deja de|tampoco|ni",
    "contrast": r"en lugar de|en vez de|no|nunca|jamás",
    "away": r"cambia de|reemplaza|sustituye",
    "positive": r"usa|usar|usad|utiliza|utilizar|siempre|con|solo|sólo|prefier\w+|emplea|ejecuta|haz|llama|sino|"
    r"formatea|"
    r"instala|mediante",
    "is_out": r"(?:está|están|queda|quedan) (?:prohibid[oa]s?|fuera|vetad[oa]s?)",
    "is_in": r"en su lugar",
    "always": r"siempre|cada vez|todos los|todas las|debe|deben|solo|sólo|obligatorio",
    "answer": r"respond\w+|contest\w+|responde\w*|respóndeme|contesta\w*|contéstame|respuestas?|háblame|habla|"
    r"escríbeme|conmigo|explica\w*",
    "ask": r"pregunta|pregúntame|preguntarme|preguntar|consulta|consúltame|consultarme|mi (?:aprobación|permiso|"
    r"visto bueno|"
    r"ok|confirmación)|apruebe|aprobado|pide (?:permiso|confirmación)|pídeme|avísame",
    "before": r"antes de(?: que| cada)?|antes",
    "only_when": r"si no (?:las|los|lo|la) (?:has|ha)|(?:solo|sólo) (?:\w+ ){0,2}?(?:si|cuando|después|tras)|sin|"
    r"hasta|a menos que|(?:solo|sólo) (?:si|cuando)",
    "after": r"después de|después|si|cuando|tras|cada vez que|siempre que",
    "change": r"cambi\w*|modifi\w*|edit\w*|toca\w*|toques|escrib\w*|actualiz\w*",
    "forbid_change": r"tocan|tocado|modifican|modificado|cambian|toques|tocar|toca|edites|editar|cambies|cambiar|"
    r"modifiques|modificar|escribas|borres|añadas|crees|"
    r"sobrescribas|alteres|metas",
    "hands_off": r"deja (?:en paz|tranquil\w+|como est\w+)|fuera de|solo lectura|manos fuera|no te acerques|ni "
    r"(?:la|lo) toques",
    "goes_to": r"van? (?:en|a)|deben? ir (?:en|a)|pertenecen? a|pon|guarda|coloca|crea|viven? en|poner",
    "claim": r"digas|di|decir|afirmes|afirma|asegures|reportes",
    "finish": r"termin\w*|acab\w*|al final|fin|finaliz\w*",
    "read": r"lee|leer|lea|mira|abre",
    "file": r"un archivo|archivos|cada archivo|ficheros?|cualquier archivo|un fichero",
    "passing": r"pasan|pasen|pasado|en verde|verdes?|correctas|éxito|bien",
    "say": r"digas|di|decir|escribas|leer|uses|usar|palabras?|frase",
    "code": r"código|codigo|fuente|tipo|typescript|python|javascript|rust|java",
    "comment": r"comentarios?",
    "leave": r"dejes|dejar|deja|pongas|escribas|añadas|guardes",
    "secret": r"secretos?|claves?(?: de api)?|contraseñas?|credenciales|tokens?",
    "emoji": r"emojis?|emoticonos?",
    "em_dash": r"rayas?(?: largas?)?|guiones? largos?",
    "bullets": r"viñetas?|listas?",
    "headings": r"encabezados?|títulos",
    "tables": r"tablas?",
    "exclamation": r"signos? de exclamación|exclamaciones",
    "sentences": r"frases?|oraciones?|oración",
    "words": r"palabras?",
    "lines": r"líneas?",
    "files": r"archivos?|ficheros?",
    "questions": r"preguntas?",
    "characters": r"caracteres",
    "per_commit": r"(?:por|en un|en cada|en el) commit|commits?",
    "at_most": r"superar?|exceder?|sobrepasar|superen|como máximo|máximo|a lo sumo|no más de|nunca más de|más de|"
    r"hasta|menos de|más larg[oa]s? de|solo|sólo",
    "subagent": r"sub-?agentes?",
    "web": r"búsquedas? (?:en la )?(?:web|internet)|busques en (?:la web|internet)|buscar en (?:la web|internet)|"
    r"navegues|"
    r"búsquedas web|internet",
    "message": r"mensajes?|títulos?|asuntos?|commits?",
    "sign_off": r"firma\w*|sign-?off",
    "gpg": r"gpg",
    "co_author": r"co-?authored-by|coautor\w*",
    "mention": r"menciones|mencionar|menciona|referencia\w*|nombres",
    "ticket": r"ticket|incidencia",
    "plan_file": r"plan guardado|archivo de plan|plan",
    "download": r"descarg\w*|curl|wget",
    "pipe": r"pases|pasar|tubería|canaliz\w*",
    "hooks": r"hooks?",
    "vague": r"limpi\w*|cuidado\w*|simples?|legible\w*|piensa\w*|elegante\w*|calidad|atención|buen\w*|sencill\w*|"
    r"claro|clara|"
    r"conciso|profesional|amable|preciso",
}

LANGUAGES = {
    "alemán": "de",
    "inglés": "en",
    "español": "es",
    "castellano": "es",
    "francés": "fr",
    "italiano": "it",
    "portugués": "pt",
    "neerlandés": "nl",
}

NUMBERS = {
    "un": 1,
    "una": 1,
    "uno": 1,
    "dos": 2,
    "tres": 3,
    "cuatro": 4,
    "cinco": 5,
    "seis": 6,
    "siete": 7,
    "ocho": 8,
    "nueve": 9,
    "diez": 10,
    "doce": 12,
    "quince": 15,
    "veinte": 20,
    "treinta": 30,
    "cincuenta": 50,
    "cien": 100,
}

BINDING = {
    "question": r"^¿",
    "report": r"\b(?:dijeron|dijo|decían|comentaron|recomiendan|aconsejan?|pidieron|preguntó|preguntaron|he "
    r"(?:oído|leído))\b|"
    r"^(?:Él|[Ee]lla|[Ee]llos)\b|\b(?:[Éé]l|[Ee]lla|[Ee]llos|colega|compañer[oa]|[Jj]ef[ea]|amig[oa]|wiki|"
    r"documentación|guía|"
    r"artículo|gente|equipo|"
    r"[A-ZÁÉÍÓÚ][a-záéíóú]+)\b[^.!?]{0,40}?\b(?:dice|dijo|decía|dicen|cree|opina|recomienda|recomendó|escribió|sugiere|"
    r"afirma|cuenta|insiste)\b|\b[Ss]egún\b|\bobsoleto\b|\bno estoy de acuerdo\b",
    "own_words": r"\b(?:ya )?(?:te|os) (?:he dicho|dije)\b|\bcomo (?:dije|he dicho)\b|\bquiero\b|\bprefiero\b",
    "hypothetical": r"\bme pregunto\b|\bcuando (?:migremos|lancemos|estemos|salgamos|pasemos|tengamos)\b|\bojalá\b|"
    r"\bsi algún "
    r"día\b|\bsi alguna vez\b|\bsupón\b|\bsupongamos\b|\bimagina\b|\ben teoría\b|"
    r"\bquizás?\b|"
    r"\btal vez\b|\bsi (?:esto )?fuera\b|\bpodríamos\b|\bdiría\b",
    "past": r"\bantes no\b|\bantiguamente\b|\bel (?:año|mes) pasado\b|\bla (?:semana|última vez) pasada\b|\bayer\b|"
    r"\bsolíamos\b|"
    r"\busábamos\b|\bhace (?:años|meses|tiempo)\b|\ben aquel entonces\b|\ben mi antiguo\b",
    "announce": r"^(?:a partir de ahora )?(?:voy a|nunca volveré|no volveré|jamás volveré|yo nunca|nunca usaré|no "
    r"usaré)\b",
    "once": r"\b(?:por |solo |sólo |solo por )?esta vez\b|\bpara esta (?:tarea|sesión|respuesta)\b|\ben esta "
    r"(?:tarea|sesión|"
    r"conversación|respuesta)\b|\bhoy\b|\bpor ahora\b|\bde momento\b|\bpor el momento\b|\bhasta (?:el|la|mañana)\b|"
    r"\bsolo una vez\b|\bexcepcionalmente\b|\btemporalmente\b|\beste (?:commit|cambio)\b",
    "withdraw": r"\b(?:está|están|es|son) [^.]{0,30}\b(?:de nuevo|otra vez)\b|\bdeja de preguntar\b|^(?:ya |ahora "
    r")*puedes (?:usar|editar|cambiar|tocar|modificar|hacer|borrar|ejecutar|responder)\b|"
    r"\bolvida (?!te)(?:lo|la|el|mi)\b|\bya puedes\b|\bpuedes volver a\b|\bpuedes\b[^.]*\b(?:otra vez|de nuevo|"
    r"ya)\b|"
    r"\bya no (?:hace falta|es necesario|aplica|vale|rige|tienes que)\b|\b(?:está|están) (?:bien|permitid[oa]s?) "
    r"(?:otra vez|"
    r"de nuevo|ya)\b|\bignora (?:lo que dije|la regla|mi regla)\b|\bla regla\b[^.]*\bya no\b|\bhe cambiado de "
    r"(?:idea|opinión)\b|"
    r"\bvuelve a estar (?:permitid[oa]|bien)\b|\bretiro lo\b|\bya se puede\b",
    "quoted": r"\bel usuario quiere\b",
    "describe": r"\bno hay\b(?! que)|\bno (?:está|están) (?:instalad\w+|disponibles?)\b|\bno (?:funciona|"
    r"encontrad\w+|existe)\b|\bno puedo\b",
    "task": r"^(?:por favor,? |ahora )*(?:escribe|crea|añade|explica|explícame|traduce|genera|implementa|resume|"
    r"muestra|arregla) "
    r"(?:un|una|por qué|cómo|este|esta|el artículo)\b",
    "repeated": r"\b(?:siempre|cada vez|cada|a partir de ahora|todos|todas)\b|\b(?:cuando|si|antes de)\b",
}
