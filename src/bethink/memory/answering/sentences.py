"""Split the text of a model into sentences with the labels that they cite, while it is still writing."""

import re
from typing import NamedTuple

_LABELS = r"\[\^[^\[\]\n]{1,300}\]|\[[a-z2-7]{6}\]"
_WORKING = r"\{[^{}=\n]{1,2000}=[^{}=\n]{1,200}\}"
_CITED = re.compile(rf"(?P<labels>(?:\s*(?:{_LABELS}|{_WORKING})[,;]?)+)(?P<end>[.!?\u3002\uff01\uff1f]*)")
_BRACKETS = re.compile(_LABELS)
_CALCULATION = re.compile(_WORKING)
_OPEN_WORKING = re.compile(r"\{[^{}\n]{0,2000}\Z")
_LABEL_TAIL = re.compile(r"\s*[\[{,;.!?\u3002\uff01\uff1f]|\s*\Z")
"""Text that may still belong to the labels before it."""
_LABEL = re.compile(r"[^\s,;^\[\]]+")
_ABBREVIATIONS = ("Dr", "Mr", "Ms", "Mrs", "St", "Prof", "No", "Nr", "Jr", "Sr", "vs", "ca", "e.g", "i.e", "z.B")
_BREAK = re.compile(
    "".join(rf"(?<!\b{re.escape(word)}[.])" for word in _ABBREVIATIONS)
    + r"(?<!\b[A-Z][.])(?<=[.!?])[\"')\u201d]?\s+(?=[\"'(\u201c]?[^\W\da-z_]|\d|[-*])|(?<=[\u3002\uff01\uff1f])|\n+"
)
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+", re.MULTILINE)
_WORD = re.compile(r"\w")
_SEARCH = re.compile(r"\W*SEARCH:\s*(?P<words>.*\w.*)")


class Sentence(NamedTuple):
    """A sentence of the model without its labels, and the labels."""

    text: str
    labels: tuple[str, ...]
    working: str | None = None
    """The calculation in braces after it, with the labels of its operands."""

    @property
    def search(self) -> str | None:
        """The words to search for, if the line asks for another search: `SEARCH: words`."""
        match = _SEARCH.match(self.text)
        return None if match is None else match["words"]


class SentenceSplitter:
    """Splits text piece by piece, and returns each complete sentence. Labels belong to the text before them."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, piece: str) -> list[Sentence]:
        """Add the next piece, and return the sentences that it completes."""
        self._text += piece
        return self._split(is_final=False)

    def finish(self) -> list[Sentence]:
        """Return the remaining sentences at the end of the text."""
        sentences = self._split(is_final=True)
        remaining, self._text = self._text, ""
        return [*sentences, *_uncited_sentences(remaining)]

    def _split(self, *, is_final: bool) -> list[Sentence]:
        sentences: list[Sentence] = []
        position = 0
        calculation = None if is_final else _OPEN_WORKING.search(self._text)
        end = len(self._text) if calculation is None else calculation.start()
        for match in _CITED.finditer(self._text, 0, end):
            if not is_final and _LABEL_TAIL.match(self._text, match.end()):
                break
            between = self._text[position : match.start()]
            *before, last = _parts(between) or [""]
            sentences += [Sentence(part, ()) for part in before]
            labels, working = _labels_in(match["labels"])
            if last:
                sentences.append(Sentence(last + match["end"], labels, working))
            elif sentences and not between.strip():  # more labels for the last sentence
                previous = sentences[-1]
                sentences[-1] = Sentence(previous.text, (*previous.labels, *labels), previous.working or working)
            position = match.end()
        self._text = self._text[position:]
        return sentences


def _labels_in(text: str) -> tuple[tuple[str, ...], str | None]:
    """Return the labels after a sentence, and the calculation in braces among them."""
    labels = [label for brackets in _BRACKETS.findall(text) for label in _LABEL.findall(brackets)]
    calculation = _CALCULATION.search(text)
    return tuple(dict.fromkeys(labels)), None if calculation is None else calculation[0][1:-1]


def _uncited_sentences(text: str) -> list[Sentence]:
    return [Sentence(part, ()) for part in _parts(text)]


def _parts(text: str) -> list[str]:
    lines = _BULLET.sub("", text).split("\n")
    parts = (part for line in lines for part in ([line] if _SEARCH.match(line) else _BREAK.split(line)))
    stripped = (part.strip() for part in parts if part)
    return [part for part in stripped if _WORD.search(part)]
