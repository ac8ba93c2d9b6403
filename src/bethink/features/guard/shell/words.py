"""Turns nodes of a parsed shell text into words: quotes, escapes, braces and variables that the text sets."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol

from bethink.features.guard.shell.records import Word

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_BRACES = 20
_GAP = Word(is_literal=False)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v", "0": "\0"}
_ANSI_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|[0-7]{1,3}|.)", re.DOTALL)
_BRACES = re.compile(r"^([^{}]*)\{([^{}]*,[^{}]*)\}([^{}]*)$", re.DOTALL)


class Values(Protocol):
    """Resolves the parts of a word that need the surrounding text."""

    def variable(self, name: str) -> Word:
        """Return the value of a variable, with a gap if the text does not set it."""
        ...

    def substitution(self, node: "Node") -> Word:
        """Run a substitution through the reader and return its output, if visible."""
        ...


def text_of(node: "Node") -> str:
    """Return the source text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def word_of(node: "Node", values: Values, depth: int = 0) -> Word:
    """Return the word that a node stands for, without quotes and escapes."""
    kind = node.type
    if depth > 20:
        return _GAP
    if kind in ("word", "number", "variable_name", "special_variable_name", "extglob_pattern", "regex"):
        return Word(text=_ESCAPE.sub(lambda match: "" if match[1] == "\n" else match[1], text_of(node)))
    if kind == "raw_string":
        return Word(text=text_of(node)[1:-1])
    if kind == "ansi_c_string":
        return Word(text=_ANSI_ESCAPE.sub(_ansi, text_of(node)[2:-1]))
    if kind in ("simple_expansion", "expansion"):
        return _expansion(node, values)
    if kind in ("command_substitution", "process_substitution"):
        return values.substitution(node)
    return _compound(node, values, depth)


def _compound(node: "Node", values: Values, depth: int) -> Word:
    """Return a word of several parts."""
    if node.type in ("string", "translated_string"):
        return _string(node, values, depth)
    if node.type in ("concatenation", "command_name"):
        return join(word_of(child, values, depth + 1) for child in node.children)
    return Word(text=text_of(node)) if not node.child_count else _GAP


def join(words: Iterable[Word]) -> Word:
    """Return several parts of a word as one."""
    parts = list(words)
    return Word(text="".join(part.text for part in parts), is_literal=all(part.is_literal for part in parts))


def expand_braces(word: Word) -> list[Word]:
    """Return the words of `{a,b}.py`; any other word stays as it is."""
    match = _BRACES.match(word.text) if word.is_literal else None
    if match is None:
        return [word]
    before, items, after = match.groups()
    return [Word(text=f"{before}{item}{after}") for item in items.split(",")[:_MAX_BRACES]]


def _string(node: "Node", values: Values, depth: int) -> Word:
    """Return a double-quoted text. White space between its parts belongs to no node, so offsets count."""
    source = node.text or b""
    position, parts = 1, list[Word]()
    for child in node.children[1:]:
        start = child.start_byte - node.start_byte
        if start > position:
            parts.append(Word(text=_unescape(source[position:start])))
        position = child.end_byte - node.start_byte
        if child.type == "string_content":
            parts.append(Word(text=_unescape(child.text or b"")))
        elif child.is_named:
            parts.append(word_of(child, values, depth + 1))
        elif child.type not in ('"', "$"):
            parts.append(Word(text=child.type))
        elif child.type == "$":
            parts.append(Word(text="$"))
    return join(parts)


def _unescape(source: bytes) -> str:
    return re.sub(r"\\([$`\"\\\n])", lambda m: "" if m[1] == "\n" else m[1], source.decode("utf-8", "replace"))


def _ansi(match: "re.Match[str]") -> str:
    code = match[1]
    if code[0] in "xu" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0].isdigit():
        return chr(int(code, 8) & 0xFF) if all(c in "01234567" for c in code) else code
    return _ANSI.get(code, code)


def _expansion(node: "Node", values: Values) -> Word:
    names = [child for child in node.children if child.type in ("variable_name", "special_variable_name")]
    is_plain = len([child for child in node.children if child.is_named]) == 1 and len(names) == 1
    operators = {child.type for child in node.children} - {"$", "${", "}"}
    if is_plain and operators <= {"variable_name", "special_variable_name"}:
        return values.variable(text_of(names[0]))
    return _GAP
