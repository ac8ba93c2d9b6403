"""Finds the programs, paths, flags and phrases that a sentence names, and whether it is for or against them."""

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from bethink.base.frozen import frozen
from bethink.features.guard.check import CommandPattern
from bethink.features.guard.sentences import alternatives
from bethink.features.guard.sentences.programs import CLEAR, COMMON, SAME, SECOND, SUBCOMMANDS
from bethink.features.guard.tables import word_set

_TOKEN = re.compile(r"`([^`\n]{1,200})`|([\w@.+*~/-][\w@.+:*~/-]*)")
_BOUNDARY = re.compile(r"[.;:!?](?=\s|$)|,|\bsondern\b|\bsino\b|\bbut\b|\baber\b|\bpero\b|\n| \u2013 | - ")
_LEADS = re.compile(
    r"(?:use|using|uses|with|call|run|running|mit|nimm|benutz\w*|verwende?\w*|usa|uses|con|utiliza|than|of|from|"
    r"over|statt|"
    r"von|de|anstatt|via|through|prefer|bevorzuge|only|nutze|always|immer|stets|siempre|replace|ersetze|reemplaza|"
    r"reach for)\s+$",
    re.IGNORECASE,
)
_NEGATES = re.compile(r"(?:never|not|no|nicht|kein|nie|niemals|nunca)\s+$", re.IGNORECASE)
_CONDITIONED = re.compile(
    r"\s+(?:only|nur|immer|always|solo|sólo|siempre)\s+(?:ever\s+)?(?:with|mit|con)\b", re.IGNORECASE
)
_TRAILS = re.compile(
    r"\s*(?:$|[.,;:!?)]|(?:and|or|but|for|in|here|to|instead|from|when|over|rather|any|anymore|not|never|nicht|nie|"
    r"und|oder|"
    r"für|im|nehmen|verwenden|benutzen|nutzen|statt|y|o|para|en|as|again|is|are|ist|if|on|anstelle|anstatt|at|"
    r"everywhere|"
    r"directly|anywhere|ever|with|durch|por)\b|-)",
    re.IGNORECASE,
)
_ENDINGS = (
    r"py|pyi|ts|tsx|js|jsx|mjs|cjs|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|sh|bash|zsh|sql|md|mdx|rst|txt|"
    r"json|ya?ml|"
    r"toml|lock|ini|cfg|conf|env|xml|html|css|scss|proto|tf|tfvars|gradle|csv|snap|ipynb|vue|svelte|dart|ex|lua|"
    r"pem|key|sum|mod"
)
_PATH = re.compile(
    rf"^(?:[~.]{{0,2}}/)?(?:[\w.@*+-]+/)+[\w.@*+-]*$|^[~.]{{0,2}}/[\w.@*+-]+$|^[\w@*+-][\w.@*+-]*\.(?:{_ENDINGS})$|"
    rf"^\.(?!\.)[\w-]+(?:\.[\w*-]+)*$|"
    r"^(?:Dockerfile|Makefile|Jenkinsfile|Gemfile|LICENSE|CODEOWNERS|CHANGELOG|README|justfile)$"
)
_NO_PATHS = word_set("and/or either/or yes/no he/she ci/cd client/server tcp/ip input/output read/write i/o e.g i.e")
_FLAG = re.compile(r"^--?[A-Za-z][\w-]*(?:=\S+)?$")
_COMPOUND = re.compile(r"(?<=[\w/*])-(?:Datei\w*|Ordner\w*|Verzeichnis\w*|Files?|Zeilen?|Befehl\w*|Aufruf\w*|Flag)$")
"""German nouns that follow a name with a hyphen."""
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,120})[\"”“»]")


@frozen
class NamedWord:
    """A name in a sentence. `polarity` is 1 if the sentence is for it, -1 if against, 0 if neither is visible."""

    text: str
    kind: str
    """`program`, `path`, `flag` or `code`."""
    start: int
    end: int
    polarity: int = 0
    is_code: bool = False

    @property
    def pattern(self) -> CommandPattern:
        """The mention as a command."""
        return pattern_of(self.text)


def pattern_of(text: str) -> CommandPattern:
    """Return the family of commands that a text such as `git push --force` names."""
    words = text.split()
    head = words[0].rsplit("/", 1)[-1].lower()
    alias = SAME.get(head, head).split()
    flags = tuple(word for word in words[1:] if word.startswith("-") and len(word) > 1)
    plain = tuple(
        word for word in words[1:] if not word.startswith("-") and not word.startswith(("<", "[", "…", "..."))
    )
    return CommandPattern(program=alias[0], words=(*alias[1:], *plain), flags=flags)


@cache
def _cue(concept: str) -> "re.Pattern[str]":
    return re.compile(rf"(?<![\w-])(?:{alternatives(concept)})(?![\w-])", re.IGNORECASE)


def has(concept: str, text: str) -> bool:
    """Return True if a text contains a word of a concept, in any language."""
    return find(concept, text) is not None


@lru_cache(maxsize=4096)
def find(concept: str, text: str) -> "re.Match[str] | None":
    """Return the first word of a concept in a text."""
    return _cue(concept).search(text)


def quoted_phrases(text: str) -> tuple[str, ...]:
    """Return the texts in double quotes."""
    return tuple(match[1].strip() for match in _QUOTED.finditer(text))


def find_mentions(text: str) -> tuple[NamedWord, ...]:
    """Return everything that a sentence names, in order, each with its polarity."""
    mentions: list[NamedWord] = []
    position = 0
    while (match := _TOKEN.search(text, position)) is not None:
        mention = _code(match) if match[1] is not None else _plain(text, match)
        position = max(match.end(), mention.end if mention is not None else 0)
        if mention is not None:
            mentions.append(mention)
    return _with_polarity(text, mentions)


def _code(match: "re.Match[str]") -> NamedWord:
    content = match[1].strip()
    head = content.split()[0] if content.split() else ""
    kind = "code"
    if _FLAG.match(content) or (head.startswith("--") and len(head) > 2):
        kind = "flag"
    elif " " not in content and _PATH.match(content):
        kind = "path"
    elif head.lower() in CLEAR or (re.fullmatch(r"[a-z][\w.-]*", head) and (" " in content or len(head) > 1)):
        kind = "program"
    return NamedWord(text=content, kind=kind, start=match.start(), end=match.end(), is_code=True)


def _plain(text: str, match: "re.Match[str]") -> NamedWord | None:
    word = _COMPOUND.sub("", match[2].rstrip(".,:;!?"))
    end = match.start() + len(word)
    if _FLAG.match(word):
        return NamedWord(text=word, kind="flag", start=match.start(), end=end)
    if _is_path(word):
        return NamedWord(text=word, kind="path", start=match.start(), end=end)
    head = word.lower()
    if head in CLEAR and (head not in COMMON or _is_program(text, word, match.start(), end)):
        return _extend(text, head, match.start(), end)
    return None


def _is_path(word: str) -> bool:
    return len(word) > 1 and bool(_PATH.match(word)) and word.lower() not in _NO_PATHS


def _is_program(text: str, word: str, start: int, end: int) -> bool:
    """Return True if a common word is a program here: "with make", "never just.", "go build"."""
    following = re.match(r"\s+([\w:-]+)", text[end:])
    has_subcommand = following is not None and following[1] in SUBCOMMANDS.get(word, ())
    if not word.islower():
        return False
    if has_subcommand and word not in ("make", "just", "find"):
        return True
    if _CONDITIONED.match(text[end:]) is not None:
        return True
    leads, negates = _LEADS.search(text[:start]), _NEGATES.search(text[:start])
    return (leads is not None or negates is not None) and (has_subcommand or _TRAILS.match(text[end:]) is not None)


def _extend(text: str, head: str, start: int, end: int) -> NamedWord:
    """Take the subcommand and the flags that follow a program's name into the mention."""
    words = [head]
    subcommands = SUBCOMMANDS.get(head, frozenset[str]())
    while (match := re.match(r"[ ]+(--?\w[\w-]*|[a-z][\w:-]*|\d{3}\b)", text[end:])) is not None:
        word = match[1]
        part = _subcommand_word(words, word, subcommands)
        if not part:
            break
        words.append(part)
        end += match.end()
    is_script = words[1:2] == ["run"] and head in ("npm", "pnpm", "yarn", "bun")
    if is_script and (script := re.match(r"[ ]+([\w:-]+)", text[end:])) is not None:
        words.append(script[1])
        end += script.end()
    return NamedWord(text=" ".join(words), kind="program", start=start, end=end)


def _subcommand_word(words: Sequence[str], word: str, subcommands: frozenset[str]) -> str:
    """Return the word if it belongs to the command so far: a subcommand, also in the plural, or a flag."""
    if (word.startswith("-") or word.isdigit()) and len(words) < 5:
        return word
    if len(words) == 1:
        singular = word.removesuffix("s") if len(word) > 3 else ""
        return word if word in subcommands else singular if singular in subcommands else ""
    return word if len(words) == 2 and word in SECOND.get((words[0], words[1]), ()) else ""


def _with_polarity(text: str, mentions: Sequence[NamedWord]) -> tuple[NamedWord, ...]:
    signs: list[int] = []
    for index, mention in enumerate(mentions):
        previous = mentions[index - 1].end if index else 0
        following = mentions[index + 1].start if index + 1 < len(mentions) else len(text)
        sign = _sign(text[previous : mention.start], text[mention.end : following])
        if (
            index
            and _PREFERENCE.search(text[: mention.start])
            and text[previous : mention.start].strip() in ("to", "a", "vor")
        ):
            sign = -1
        if sign == 0 and _PROHIBITS.search(text[: mention.start]):
            sign = -1
        if sign == 0 and index and _is_joined(text[previous : mention.start]):
            sign = signs[-1]
        signs.append(sign)
    if -1 in signs:
        first = signs.index(-1)
        # "It is `a b`. Never call a-b.": the name in front of the ban is the alternative.
        signs = [
            1 if sign == 0 and (i < first or _is_target(text, mentions[i])) else sign for i, sign in enumerate(signs)
        ]
    return tuple(
        NamedWord(text=m.text, kind=m.kind, start=m.start, end=m.end, polarity=sign, is_code=m.is_code)
        for m, sign in zip(mentions, signs, strict=True)
    )


def _is_target(text: str, mention: NamedWord) -> bool:
    return re.search(r"\b(?:to|by|with|durch|por|zu|auf|a)\s+$", text[: mention.start]) is not None


def _is_joined(between: str) -> bool:
    return (
        re.fullmatch(r"\s*(?:,|/|&|\(|and|or|oder|und|y|o|ni|nor|,\s*(?:and|or|und|oder|y|o))\s*", between) is not None
    )


def _sign(before: str, after: str) -> int:
    boundaries = list(_BOUNDARY.finditer(before))
    segment = before[boundaries[-1].end() :] if boundaries else before
    if _cue("negation").search(segment) or _cue("away").search(segment) or re.search(_AGAINST, segment, re.IGNORECASE):
        return -1
    clause = _BOUNDARY.split(after, maxsplit=1)[0]
    if _cue("is_out").search(clause) or re.search(r"^\s*(?:nicht|no)\b", clause, re.IGNORECASE):
        return -1 if not re.match(r"\s*(?:nicht|no|not)\s*$", clause) else 1
    is_contrast = bool(boundaries) and boundaries[-1][0] in ("sondern", "sino", "but")
    if is_contrast or _cue("positive").search(segment) or _cue("is_in").search(clause):
        return 1
    return 1 if re.match(rf"[\s,]*(?:{alternatives('contrast')})\b", after, re.IGNORECASE) else 0


_PROHIBITS = re.compile(
    r"\b(?:es ist|it is|it's|está|queda) (?:strictly |streng )?(?:verboten|untersagt|forbidden|prohibited|not "
    r"allowed|prohibido)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(r"\b(?:prefer\w*|prefier\w*|bevorzug\w*)\s", re.IGNORECASE)
_AGAINST = (
    r"\b(?:instead of|rather than|in place of|as opposed to|over|statt|anstatt|anstelle(?: von)?|en lugar de|en vez de|"
    r"drop|ban)\s+(?:\w+\s+)?$"
)
