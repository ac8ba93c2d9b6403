"""Split compound claims in Turkish, where the verb of each part comes last."""

from bethink.base.language.numbers import numbers_in

_FINAL = frozenset({"ya\u015f\u0131nda", "var", "yok", "alerjik", "evli", "bekâr", "bekar", "vejetaryen", "vegan"})
_FINAL_ENDINGS = ("yor", "maz", "mez", "d\u0131r", "dir", "dur", "dür")
_BLOCKING = frozenset(
    {"eğer", "çünkü", "ama", "veya", "ya", "ki", "diye", "iken", "onu", "ona", "onun", "orada", "bunu", "buna", "hem"}
)


def split_turkish(text: str) -> list[str]:
    """Return the statements of a compound sentence; none if it is not one. Its subject is one word."""
    tokens = text.rstrip(".").split()
    words = [token.strip(",").lower() for token in tokens]
    if words.count("ve") != 1 or not _BLOCKING.isdisjoint(words) or not tokens[0][0].isupper():
        return []
    at = words.index("ve")
    first, second = tokens[1:at], tokens[at + 1 :]
    if not first or not second or "'" in tokens[0] or "\u2019" in tokens[0] or numbers_in(words[0]):
        return []
    has_own_subject = second[0][0].isupper() and "'" not in second[0] and "\u2019" not in second[0]
    if has_own_subject or not _is_final(words[at - 1]) or not _is_final(words[-1]) or len(first) + len(second) < 3:
        return []
    end = "." if text.endswith(".") else ""
    return [f"{' '.join([tokens[0], *part])}{end}" for part in (first, second)]


def _is_final(word: str) -> bool:
    return word in _FINAL or word.endswith(_FINAL_ENDINGS)
