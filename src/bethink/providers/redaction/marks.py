"""The one pass over a text: an automaton that finds stems, words of commands and hints of tokens."""

from operator import itemgetter
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from bethink.providers.redaction.commands import COMMANDS
from bethink.providers.redaction.stems import STEMS, Mark
from bethink.providers.redaction.tokens import HINTS

_FIRST_COMMAND = len(STEMS)
_FIRST_HINT = _FIRST_COMMAND + len(COMMANDS)
_AUTOMATON = AhoCorasick(
    [
        *(stem.text for stem in STEMS),
        *(command.literal for command in COMMANDS),
        *(hint.text.lower() for hint in HINTS),
    ]
)
_START = itemgetter(1)


class TextMarks(NamedTuple):
    """Stems, words of commands and hints of tokens in a text, in order."""

    stems: list[Mark]
    commands: list[Mark]
    hints: list[Mark]


def find_marks(lowered: str) -> TextMarks:
    """Find all stems, words of commands and hints in a text in lower case. They may overlap."""
    try:
        matches = _AUTOMATON.find_matches_as_indexes(lowered, overlapping=True)
    except UnicodeEncodeError:  # halves of surrogate pairs, which no stem contains
        lowered = lowered.encode("utf-8", "replace").decode()
        matches = _AUTOMATON.find_matches_as_indexes(lowered, overlapping=True)
    matches.sort(key=_START)
    stems: list[Mark] = []
    commands: list[Mark] = []
    hints: list[Mark] = []
    for mark in matches:
        number = mark[0]
        if number >= _FIRST_HINT:
            hints.append((number - _FIRST_HINT, mark[1], mark[2]))
        elif number >= _FIRST_COMMAND:
            commands.append((number - _FIRST_COMMAND, mark[1], mark[2]))
        else:
            stems.append(mark)
    return TextMarks(stems, commands, hints)
