"""Split the text of a model into sentences with the labels that they cite, while it is still writing."""

import re
from typing import NamedTuple

_LABELS = r"\[\^[^\[\]\n]{1,300}\]|\[[a-z2-7]{6}\]"
_CITED = re.compile(rf"(?P<labels>(?:\s*(?:{_LABELS})[,;]?)+)(?P<end>[.!?\u3002\uff01\uff1f]*)")
_LABEL_TAIL = re.compile(r"\s*[\[,;.!?\u3002\uff01\uff1f]|\s*\Z")
"""Text that may still belong to the labels before it."""
_LABEL = re.compile(r"[^\s,;^\[\]]+")
_ABBREVIATIONS = ("Dr", "Mr", "Ms", "Mrs", "St", "Prof", "No", "Nr", "Jr", "Sr", "vs", "ca", "e.g", "i.e", "z.B")
_BREAK = re.compile(
    "".join(rf"(?<!\b{re.escape(word)}[.])" for word in _ABBREVIATIONS)
    + r"(?<!\b[A-Z][.])(?<=[.!?])[\"')\u201d]?\s+(?=[\"'(\u201c]?[^\W\da-z_]|\d|[-*])|(?<=[\u3002\uff01\uff1f])|\n+"
)
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+", re.MULTILINE)
_WORD = re.compile(r"\w")


class Sentence(NamedTuple):
    """A sentence of the model without its labels, and the labels."""

    text: str
    labels: tuple[str, ...]


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
        for match in _CITED.finditer(self._text):
            if not is_final and _LABEL_TAIL.match(self._text, match.end()):
                break
            *before, last = _parts(self._text[position : match.start()]) or [""]
            sentences += [Sentence(part, ()) for part in before]
            labels = tuple(dict.fromkeys(_LABEL.findall(match["labels"])))
            if last:
                sentences.append(Sentence(last + match["end"], labels))
            elif sentences and not before:  # more labels for the last sentence
                sentences[-1] = Sentence(sentences[-1].text, (*sentences[-1].labels, *labels))
            position = match.end()
        self._text = self._text[position:]
        return sentences


def _uncited_sentences(text: str) -> list[Sentence]:
    return [Sentence(part, ()) for part in _parts(text)]


def _parts(text: str) -> list[str]:
    stripped = (part.strip() for part in _BREAK.split(_BULLET.sub("", text)) if part)
    return [part for part in stripped if _WORD.search(part)]
