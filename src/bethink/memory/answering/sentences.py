"""Cut what a model writes into sentences with the labels that they cite, while it is still writing."""

import re
from typing import NamedTuple

_LABELS = r"\[\^[^\[\]\n]{1,300}\]|\[[a-z2-7]{6}\]"
_CITED = re.compile(rf"(?P<labels>(?:\s*(?:{_LABELS})[,;]?)+)(?P<end>[.!?\u3002\uff01\uff1f]*)")
_MORE = re.compile(r"\s*[\[,;.!?\u3002\uff01\uff1f]|\s*\Z")
"""What may still belong to the labels before it."""
_EACH = re.compile(r"[^\s,;^\[\]]+")
_SHORTENED = ("Dr", "Mr", "Ms", "Mrs", "St", "Prof", "No", "Nr", "Jr", "Sr", "vs", "ca", "e.g", "i.e", "z.B")
_BREAK = re.compile(
    "".join(rf"(?<!\b{re.escape(word)}[.])" for word in _SHORTENED)
    + r"(?<!\b[A-Z][.])(?<=[.!?])[\"')\u201d]?\s+(?=[\"'(\u201c]?[^\W\da-z_]|\d|[-*])|(?<=[\u3002\uff01\uff1f])|\n+"
)
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+", re.MULTILINE)
_WORD = re.compile(r"\w")


class Sentence(NamedTuple):
    """A sentence as the model wrote it, without its labels, and the labels."""

    text: str
    labels: tuple[str, ...]


class Sentences:
    """Takes text piece by piece and returns each sentence once it is complete. Labels belong to what is before them."""

    def __init__(self) -> None:
        self._text = ""

    def heard(self, piece: str) -> list[Sentence]:
        """Take the next piece, and return the sentences that it completes."""
        self._text += piece
        return self._cut(ended=False)

    def ended(self) -> list[Sentence]:
        """Return what is left at the end."""
        found = self._cut(ended=True)
        rest, self._text = self._text, ""
        return [*found, *_uncited(rest)]

    def _cut(self, *, ended: bool) -> list[Sentence]:
        found: list[Sentence] = []
        place = 0
        for match in _CITED.finditer(self._text):
            if not ended and _MORE.match(self._text, match.end()):
                break
            *before, last = _parts(self._text[place : match.start()]) or [""]
            found += [Sentence(each, ()) for each in before]
            labels = tuple(dict.fromkeys(_EACH.findall(match["labels"])))
            if last:
                found.append(Sentence(last + match["end"], labels))
            elif found and not before:  # more labels for what was just said
                found[-1] = Sentence(found[-1].text, (*found[-1].labels, *labels))
            place = match.end()
        self._text = self._text[place:]
        return found


def _uncited(text: str) -> list[Sentence]:
    return [Sentence(each, ()) for each in _parts(text)]


def _parts(text: str) -> list[str]:
    parts = (each.strip() for each in _BREAK.split(_BULLET.sub("", text)) if each)
    return [each for each in parts if _WORD.search(each)]
