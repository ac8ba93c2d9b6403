"""Find the secrets in a text, in all its readings."""

from bisect import bisect_left
from collections.abc import Collection

from bethink.providers.redaction.commands import find_in_commands, find_in_urls
from bethink.providers.redaction.judge import find_announced
from bethink.providers.redaction.marks import find_marks
from bethink.providers.redaction.personal import find_cards, find_personal_numbers
from bethink.providers.redaction.spans import MatchSpan, merge_overlaps
from bethink.providers.redaction.tokens import find_tokens, words_of
from bethink.providers.redaction.views import find_base64, other_views


def find_secrets(text: str, also: Collection[str] = ()) -> list[MatchSpan]:
    """Return the secrets in a text, and personal numbers of the kinds in `also`, in order and without overlaps."""
    words = words_of(text)
    spans = _find_all(text, words.long, also)
    for view in other_views(text, has_letters=words.has_letters):
        spans += map(view.to_original, _find_all(view.text, words_of(view.text).long, also))
    for start, end, inner in find_base64(text, words.long):
        if secrets := _find_all(inner, words_of(inner).long, also):
            spans.append(MatchSpan(start, end, secrets[0].kind))
    return merge_overlaps(spans) if spans else spans


def _find_all(text: str, words: list[tuple[int, int]], also: Collection[str]) -> list[MatchSpan]:
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text.replace("İ", "i").lower()  # the only letter whose lower case is longer; positions would shift
    stems, commands, hints = find_marks(lowered)
    spans = list(find_tokens(text, words, hints))
    spans += find_in_urls(text)
    if also:
        spans += find_personal_numbers(text, also)
    spans += find_cards(text)
    if commands:
        spans += find_in_commands(text, lowered, commands)
    if stems:
        sure = sorted(spans)
        for span in find_announced(text, lowered, stems):
            # A rule knows where its secret ends. The model only sees words.
            index = bisect_left(sure, (span.start,))
            if index == len(sure) or sure[index].end > span.end:
                spans.append(span)
    return spans
