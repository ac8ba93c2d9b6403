"""Every function that reads the text of a caller takes time in proportion to its length."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from bethink.base.language import count_terms, detect, preferences_in, terms_of
from bethink.features.files.html import read_html
from bethink.features.files.markdown import read_markdown
from bethink.features.files.passages import passages_of
from bethink.memory.recall.dates import relative_times, spans
from bethink.model.framing import inert, own_words, remove_frames
from bethink.providers.redaction import SecretRedactor
from bethink.store.messages import words_of
from tests.pace import is_linear

SHORT = 4_096
MAX_RATIO = 20
"""Maximum time of a text that is sixteen times as long, as a multiple of the time of a short one."""
TRIES = 10
NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)

READERS: dict[str, Callable[[str], object]] = {
    "analyzer": count_terms,
    "terms of a question": terms_of,
    "message": lambda text: words_of(text, None, by_user=True),
    "dates of a message": lambda text: relative_times(text, NOW),
    "dates of a question": lambda text: spans(text, NOW),
    "language": detect,
    "preferences": preferences_in,
    "tags": remove_frames,
    "own words": own_words,
    "one line": inert,
    "HTML": read_html,
    "Markdown": read_markdown,
    "passages": lambda text: passages_of(read_markdown(text)),
    "redactor": SecretRedactor(b"a key for tests, and for nothing else").redact,
}
UNITS = {
    "chat": "We met at the station on Friday and talked about the plans for the house. ",
    "code": "def read(path: str) -> list[str]:\n    return [line.strip() for line in open(path)]\n",
    "JSON": '{"id": 17, "name": "station", "tags": ["a", "b"], "at": "2026-05-01T10:00:00Z"}, ',
    "Chinese": "我们星期五在车站见面，谈了房子的计划。",
    "dates": "on the 1st of May, 3 days ago, last Friday at 10, ",
    "triggers": "secret &#65;secret my password is ",
    "tags": "<bethink-memory>",
    "closed tags": "<bethink-memory>x</bethink-memory>",
    "escaped tags": "&lt;bethink-memory&gt;\\n",
    "HTML": "<div><a href='x'><b>a</p> &amp; ",
    "open HTML": "<a ",
    "quotes": "> > ",
    "headings": "# A heading\n\nSome text.\n\n",
    "one word": "a",
    "spaces": " ",
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("reader", READERS)
def test_reading_takes_time_in_proportion_to_length(reader: str, unit: str) -> None:
    # A neighbor on the machine may slow down a try. Work that is not linear takes up to 256 times as long in all.
    assert any(is_linear(READERS[reader], UNITS[unit], size=SHORT, slack=MAX_RATIO / 16) for _ in range(TRIES))
