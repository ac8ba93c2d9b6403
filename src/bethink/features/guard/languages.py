"""Files and texts by language: endings of source files, code without comments and strings, prose of an answer."""

import posixpath
import re
from collections.abc import Mapping

from bethink.features.guard.tables import word_set

ENDINGS: Mapping[str, frozenset[str]] = {
    "python": frozenset({"py", "pyi"}),
    "typescript": frozenset({"ts", "tsx", "mts", "cts", "vue", "svelte"}),
    "javascript": frozenset({"js", "jsx", "mjs", "cjs", "ts", "tsx", "vue", "svelte"}),
    "rust": frozenset({"rs"}),
    "go": frozenset({"go"}),
    "java": frozenset({"java"}),
    "kotlin": frozenset({"kt", "kts"}),
    "ruby": frozenset({"rb"}),
    "php": frozenset({"php"}),
    "c": frozenset({"c", "h"}),
    "c++": frozenset({"cc", "cpp", "cxx", "hpp", "h"}),
    "c#": frozenset({"cs"}),
    "swift": frozenset({"swift"}),
    "shell": frozenset({"sh", "bash", "zsh"}),
    "sql": frozenset({"sql"}),
    "terraform": frozenset({"tf", "tfvars"}),
    "css": frozenset({"css", "scss", "sass", "less"}),
    "html": frozenset({"html", "htm"}),
    "markdown": frozenset({"md", "mdx"}),
    "yaml": frozenset({"yaml", "yml"}),
}
_NO_CODE = ("markdown", "yaml", "css", "html")
_OTHERS = word_set("scala ex exs lua dart m mm zig hs ml clj erl jl r pl ipynb sc groovy")
_CODE = _OTHERS.union(*(endings for name, endings in ENDINGS.items() if name not in _NO_CODE))
_NAMES = {
    "python": r"python",
    "typescript": r"typescript|\.ts",
    "javascript": r"javascript|\.js",
    "rust": r"rust",
    "go": r"golang|go(?= (?:code|files?|sources?|packages?)\b)|go(?=-(?:code|datei\w*))|(?<=archivos )go|"
    r"(?<=código )go",
    "java": r"java",
    "kotlin": r"kotlin",
    "ruby": r"ruby",
    "php": r"php",
    "c++": r"c\+\+|cpp",
    "c#": r"c#|csharp",
    "swift": r"swift",
    "shell": r"shell scripts?|shell-?skripte?|bash scripts?",
    "sql": r"sql files?",
    "terraform": r"terraform(?= files?\b| code\b)",
    "markdown": r"markdown",
    "css": r"css",
}
_HASH = frozenset(
    {"py", "pyi", "rb", "sh", "bash", "zsh", "yaml", "yml", "tf", "tfvars", "toml", "r", "pl", "jl", "ex", "exs"}
)
_BLOCK = re.compile(r'"""(?:(?!""").)*"""|/\*(?:(?!\*/).)*\*/', re.DOTALL)
_STRING = re.compile(
    r"'''.*?'''|\"\"\".*?\"\"\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|`(?:[^`\\]|\\.)*`", re.DOTALL
)


def ending(path: str) -> str:
    """Return the ending of a file's name in lower case."""
    return posixpath.splitext(path)[1].removeprefix(".").lower()


def is_code(path: str) -> bool:
    """Return True for source files."""
    return ending(path) in _CODE or posixpath.basename(path) in ("Dockerfile", "Makefile")


def named_languages(text: str) -> tuple[str, ...]:
    """Return the programming languages that a sentence names."""
    return tuple(
        name for name, words in _NAMES.items() if re.search(rf"(?<![\w.])(?:{words})(?![\w+#])", text, re.IGNORECASE)
    )


def is_in_language(path: str, languages: tuple[str, ...]) -> bool:
    """Return True if a file belongs to one of the languages, or to any language if none is named."""
    if not languages:
        return is_code(path)
    return any(ending(path) in ENDINGS.get(name, ()) for name in languages)


def without_blocks(lines: tuple[str, ...]) -> list[str]:
    """Return lines of code with an empty line for each line of a block comment or a text of several lines."""
    text = _BLOCK.sub(lambda match: "\n" * match[0].count("\n"), "\n".join(lines))
    return text.split("\n")


def split_comments(path: str, line: str) -> tuple[str, str]:
    """Return the code of a line without strings, and its comment."""
    bare = _STRING.sub(lambda match: '""' if "\n" not in match[0] else match[0], line)
    stripped = bare.lstrip()
    if stripped.startswith(("*", "/*", "<!--")):
        return "", stripped
    mark = "#" if ending(path) in _HASH else "--" if ending(path) in ("sql", "lua", "hs") else "//"
    if mark == "#" and stripped.startswith('"""'):
        return "", stripped
    code, separator, comment = bare.partition(mark)
    if not separator and "/*" in bare:
        code, separator, comment = bare.partition("/*")
    return code, separator + comment


# Prose ----------------------------------------------------------------------------------------------------------------
_FENCE = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[^\n]*$|^(?:```|~~~).*\Z", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`[^`\n]+`")
_BLOCK_QUOTE = re.compile(r"^\s*>.*$", re.MULTILINE)
_QUOTES = re.compile(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|„[^“”\n]{1,400}[“”]|«[^»\n]{1,400}»")
_URL = re.compile(r"https?://\S+")
_WORDS: Mapping[str, frozenset[str]] = {
    "en": word_set(
        "the and is are was were of to in that it this with for on as have has had not be been you your i we they "
        "will would can "
        "done fixed added changed removed updated but from all which so now there if did do does no yes here ready "
        "finished "
        "tests pass passed ran please should could me my it's i've i'll that's sorry thanks ok what how also then "
        "at by an"
    ),
    "de": word_set(
        "der die das und ist sind war waren von zu im dass es dies mit für auf als habe hat hatte nicht sein du "
        "dein ich wir sie "
        "wird würde kann fertig erledigt behoben geändert aber aus alle jetzt wenn nein ja hier den dem ein eine "
        "einen einer bei "
        "noch auch nur nach wurde werden keine kein oder über mir dir mich ich's läuft laufen bitte soll danke was "
        "wie so an"
    ),
    "es": word_set(
        "el la los las y es son fue de que en un una con para por como he ha han no ser tu yo nosotros está están "
        "puede hecho listo "
        "lista terminado pero todo todas todos ahora si sí aquí al del se lo más ya sin su sus esto este esta muy "
        "también cuando "
        "cambiado añadido corregido corregí pasan gracias qué cómo me mi le les hay"
    ),
    "fr": word_set(
        "le la les et est sont de que dans un une avec pour par comme j'ai a ont ne pas vous je nous ils peut fait "
        "terminé mais "
        "tout tous maintenant si oui ici au du se ce cette aussi sur sans des il elle c'est corrigé ajouté merci "
        "où passent"
    ),
    "it": word_set(
        "il lo la i gli le e è sono di che in un una con per come ho ha hanno non essere tu io noi può fatto "
        "finito ma tutto tutti "
        "ora se sì qui al del si questo questa anche della delle nel corretto aggiunto grazie"
    ),
    "pt": word_set(
        "o a os as e é são de que em um uma com para por como foi não ser você eu nós pode feito pronto mas tudo "
        "todos agora se "
        "sim aqui ao do da dos das no na este esta também corrigi adicionei obrigado"
    ),
    "nl": word_set(
        "de het een en is zijn was van te in dat dit met voor op als heb heeft niet je jij ik wij ze kan klaar "
        "maar alle nu "
        "als nee ja hier er ook nog geen of over naar door wordt werd bij deze"
    ),
}


def prose_of(text: str) -> str:
    """Return an answer without code, quotes and addresses."""
    plain = _FENCE.sub("\n", text)
    for pattern in (_INLINE, _BLOCK_QUOTE, _URL, _QUOTES):
        plain = pattern.sub(" ", plain)
    return plain


def without_code(text: str) -> str:
    """Return an answer without code blocks and inline code."""
    return _INLINE.sub(" ", _FENCE.sub("\n", text))


def language_scores(prose: str) -> dict[str, int]:
    """Return how many common words of each language a text has."""
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", prose.lower())[:2_000]
    scores = {language: sum(word in common for word in words) for language, common in _WORDS.items()}
    if re.search(r"[ßäöü]", prose.lower()):
        scores["de"] += 1
    if re.search(r"[ñ¿¡]", prose.lower()):
        scores["es"] += 1
    return scores


def guess_language(prose: str) -> str:
    """Return the language of a text, or an empty text if the words do not decide."""
    ranked = sorted(language_scores(prose).items(), key=lambda item: -item[1])
    (best, high), (_, second) = ranked[0], ranked[1]
    return best if high > 0 and high > second else ""
