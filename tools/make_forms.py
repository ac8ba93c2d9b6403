"""Write `recall/forms/en.txt`, the irregular forms of English words.

They come from LemmInflect (MIT), whose table is based on the SPECIALIST Lexicon of the U.S. National Library of
Medicine, and are limited to words in the vocabulary of MiniLM. At run time a lemmatizer would be
too heavy: LemmInflect needs NumPy, and simplemma takes 19 MB on disk and 30 MB of memory for each language. Its data,
like that for other languages, has share-alike licenses (ODbL, CC BY-SA), so the files for other languages are
written by hand.
"""

import argparse
import gzip
import json
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

from tools.minilm import TOKENIZER

_TARGET = Path(__file__).resolve().parent.parent / "src" / "bethink" / "memory" / "recall" / "forms" / "en.txt"
_HEAD = "# Written by tools/make_forms.py from LemmInflect (MIT). A group begins with its word.\n"
_VOWELS = "aeiou"
_OTHER_WORDS = {
    "axes", "bases", "beaux", "bore", "born", "borne", "bound", "cola", "crew", "dice", "dive", "dove", "ground", "ill",
    "lay", "less", "much", "opera", "sera", "taxes", "well", "wound", "wrong",
}  # fmt: skip
"""Forms that are more often another word, and words whose forms belong to a more common word."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the file would change")
    options = parser.parse_args()
    groups = " | ".join(" ".join(group) for group in _groups())
    text = _HEAD + "\n".join(textwrap.wrap(groups, 118, break_on_hyphens=False)) + "\n"
    if _TARGET.exists() and _TARGET.read_text(encoding="utf-8") == text:
        return 0
    if options.check:
        print(f"out of date: {_TARGET.name}; run python -m tools.make_forms")
        return 1
    _TARGET.write_text(text, encoding="utf-8")
    return 0


def _groups() -> list[list[str]]:
    common = set(json.loads(TOKENIZER.read_text(encoding="utf-8"))["model"]["vocab"]) - _OTHER_WORDS
    groups: dict[str, dict[str, None]] = {}
    for line in gzip.decompress(_table().read_bytes()).decode().splitlines():
        word, _, *columns = line.split(",")
        forms = [form for column in columns for form in column.split("/")]
        irregular = [form for form in forms if form in common and form != word and not _is_regular(word, form)]
        if word in common and irregular:
            groups.setdefault(word, {}).update(dict.fromkeys(irregular))
    return [[word, *forms] for word, forms in sorted(groups.items())]


def _table() -> Path:
    spec = find_spec("lemminflect")
    if spec is None or spec.origin is None:
        raise SystemExit("lemminflect is missing: install requirements-dev.txt")
    return Path(spec.origin).parent / "resources" / "infl_lu.csv.gz"


def _is_regular(word: str, form: str) -> bool:
    """Return whether a stemmer maps the form to the word: the word, possibly changed at its end, and an ending."""
    roots = [word]
    if word.endswith("e"):
        roots.append(word[:-1])
    elif word.endswith("y"):
        roots.append(word[:-1] + "i")
    elif word[-1] not in _VOWELS:
        roots.append(word + word[-1])
    return any(form == root + ending for root in roots for ending in ("s", "es", "ed", "ing", "er", "est"))


if __name__ == "__main__":
    sys.exit(main())
