"""Files as texts: how they are read, and split into passages with exact positions."""

import codecs
import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.errors import InvalidRequestError
from bethink.features.files import pdf as pdf_module
from bethink.features.files import reading
from bethink.features.files.html import read_html
from bethink.features.files.markdown import read_markdown
from bethink.features.files.passages import PASSAGE, FilePassage, passages_of
from bethink.features.files.reading import PDF, decode_text, media_type_of, read_file, read_text
from bethink.features.files.secrets import join_split_secrets
from bethink.features.files.sources import MAX_BYTES, SourceText
from bethink.providers.redaction import SecretRedactor
from bethink.store.lanes import Lanes
from tests.pdf_kit import pdf

TURN = Lanes().turn("", 0)

pytestmark = pytest.mark.anyio

HANDBOOK = """# Handbook

Welcome.

## Tea

Tea is at four.

```python
def brew():

    # not a heading
    return "tea"
```

| when | what |
|------|------|
| four | tea  |

Cats
----

They sleep.
"""
WORDS = st.text(
    st.one_of(
        st.sampled_from(" \n\t\r.!?|#`~-=>'\"<&;/\u200d\u0301\ufe0f"),
        st.sampled_from("abcXYZ019äßфж漢字かなก่ไทยखा😀👩"),
    ),
    max_size=60,
)
TEXTS = st.one_of(
    st.lists(
        st.one_of(WORDS, st.sampled_from(["\n\n", "\n# T\n", "\n```\n", "| a | b |\n", "word " * 80])), max_size=60
    ).map("".join),
    st.text(st.sampled_from("漢字かなaé \n。"), max_size=4_000),
)  # fmt: skip


def texts(source: SourceText) -> list[str]:
    return [source.text[each.start : each.end] for each in passages_of(source)]


def as_plain(text: str) -> SourceText:
    return read_text(text, "text/plain")


@pytest.mark.parametrize("read", [as_plain, read_markdown, read_html], ids=["text", "markdown", "html"])
@given(text=TEXTS)
def test_every_character_is_in_exactly_one_passage(read: Callable[[str], SourceText], text: str) -> None:
    source = read(text)
    last = 0

    for each in passages_of(source):
        passage = source.text[each.start : each.end]
        assert passage == passage.strip() != ""
        assert not source.text[last : each.start].strip(), "nothing is left out between two passages"
        assert each.end - each.start <= PASSAGE or len(re.split(r"\s", passage)) == 1, "only one word may be longer"
        last = each.end
    assert not source.text[last:].strip()


@given(text=st.lists(st.text("abcé19", min_size=1, max_size=1_200), min_size=1, max_size=30).map(" ".join))
def test_no_word_is_cut_in_two(text: str) -> None:
    assert " ".join(texts(as_plain(text))).split() == text.split()


def test_markdown_is_split_at_headings_and_blocks_stay_whole() -> None:
    source = read_markdown(HANDBOOK)
    found = passages_of(source)

    assert source.text == HANDBOOK
    assert [each.headings for each in found] == [("Handbook",), ("Handbook", "Tea"), ("Handbook", "Cats")]
    assert [source.text[start:end].strip()[:6] for start, end in source.blocks] == ["```pyt", "| when"]
    assert "# not a heading\n    return" in texts(source)[1]


def test_blocks_stay_whole_or_are_split_at_lines() -> None:
    code = "```\n" + "x = 1\n\n" * 100 + "```"
    table = "\n".join(["| a | b |"] * 200)

    fitting = read_markdown("word " * 100 + "\n\n" + code)
    longer = read_markdown(f"Before.\n\n{table}\n\nAfter.")

    assert texts(fitting)[1] == code
    assert all(line in ("| a | b |", "Before.", "After.", "") for each in texts(longer) for line in each.split("\n"))
    assert len(texts(longer)) == 4


def test_heading_without_text_joins_the_next_one() -> None:
    found = passages_of(read_markdown("# A\n\n## B\n\n### C\n\nText.\n\n## D\n\n## E\n\nMore.\n"))

    assert [each.headings for each in found] == [("A", "B", "C"), ("A", "D"), ("A", "E")]


def test_long_paragraph_is_split_at_sentences_or_letters() -> None:
    sentences = texts(as_plain("This is a sentence of the text. " * 100))
    han = texts(as_plain("漢字" * 1_200))
    thai = texts(as_plain("ที่นี่" * 500))

    assert all(each.endswith(".") for each in sentences)
    assert [len(each) for each in han] == [1000, 1000, 400]
    assert all(each[0] in "ทน" for each in thai), "no passage begins with a mark of the letter before"


def test_a_page_is_read_as_people_see_it() -> None:
    page = """<!doctype html><html><head><title>Tea &amp; cats</title><style>p { color: red }</style></head><body>
    <h1>Tea <em>room</em></h1><p>Open   at<br>four&nbsp;o&rsquo;clock.</p><!-- never shown -->
    <script>let a = "<p>no</p>"</script>
    <p hidden>Not here.</p><p>Here <span style="display: none">nor here</span>again.
    <div aria-hidden='true'><div>no</div>no</div>
    <img alt="the hidden gem" src="a>b"><noscript>no</noscript><template><p>no</template>
    <h2>Prices</h2><table><tr><th>what<th>how much</tr><tr><td>tea</td><td>3 &lt; 4</td></tr></table>
    <pre>a\n  b</pre><ul><li>one<li>two</ul>"""

    source = read_html(page)

    assert source.text == (
        "Tea & cats\n\nTea room\n\nOpen at\nfour\xa0o’clock.\n\nHere again.\n\nPrices\n\nwhat | how much\ntea | 3 < 4"
        "\n\na\n  b\n\none\ntwo"
    )
    assert [(each.level, each.title) for each in source.headings] == [(1, "Tea room"), (2, "Prices")]
    assert [source.text[each.start :][: len(each.title)] for each in source.headings] == ["Tea room", "Prices"]
    assert [source.text[start:end].strip() for start, end in source.blocks] == [
        "what | how much\ntea | 3 < 4",
        "a\n  b",
    ]
    assert [each.headings for each in passages_of(source)] == [(), ("Tea room",), ("Tea room", "Prices")]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ul><li hidden>a<li>b</ul>c", "b\n\nc"),
        ("<p hidden>a<div>b</div>c", "b\n\nc"),
        ("<table><tr hidden><td>a<tr><td>b</table>c", "b\n\nc"),
        ("<dl><dt hidden>a<dd>b</dl>c", "b\n\nc"),
    ],
    ids=["item", "paragraph", "row", "term"],
)
def test_hidden_element_without_end_tag_hides_only_itself(page: str, text: str) -> None:
    assert read_html(page).text == text


def test_nested_heading_has_its_own_position() -> None:
    source = read_html("<h1>Tea <div><h2> room</h2></div>four</h1>")

    assert source.text == "Tea\n\nroom\n\nfour"
    assert [(each.start, each.level, each.title) for each in source.headings] == [
        (0, 1, "Tea room four"),
        (5, 2, "room"),
    ]


HOSTILE = {
    "signs": "<", "comments": "<!--", "open tags": "<a ", "quotes": '<a b="', "ends": "</", "marks": "<!",
    "elements": "<div>", "code": "<pre>", "scripts": "<script>", "titles": "<title>", "cells": "<td>x", "signs &": "&",
    "numbers": "&#99999999999", "hidden": "<p hidden>x", "tags": "<a b='>", "sections": "<h1>x",
    "lists": "<ul><li>", "crossed": "<b></i>", "tables": "<table><tr><td>x", "cell by cell": "<table>x<b>",
    "nested headings": "<h1><div>x",
}  # fmt: skip


@pytest.mark.parametrize("sign", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_page_takes_time_in_proportion_to_its_length(sign: str) -> None:
    def seconds(count: int) -> float:
        text = sign * count
        begun = time.process_time()
        read_html(text)
        return time.process_time() - begun

    # Eight times as much: what is quadratic takes 64 times as long, each time. A busy machine slows down some rounds.
    assert any(seconds(64_000) < 24 * seconds(8_000) + 0.05 for _ in range(5))


def test_formatting_elements_that_never_end_are_read() -> None:
    """Parsers that copy each of them for every later text need seconds and gigabytes for this page of 80 kB."""
    numbers = range(4_000)
    page = "".join(f"<b {number}>" for number in numbers) + "".join(f"<i {number}>" for number in numbers)
    begun = time.process_time()

    assert read_html(page + "x</b>" * len(numbers)).text == "x" * len(numbers)
    assert time.process_time() - begun < 2


def test_five_megabytes_of_signs_and_a_number_of_a_million_digits_are_read() -> None:
    assert read_html("<" * 5_000_000).text == "<" * 5_000_000
    assert read_html("&#" + "9" * 1_000_000 + "; tea").text == "\ufffd tea"


def test_ten_thousand_sections_are_enough() -> None:
    with pytest.raises(InvalidRequestError, match=r"10,000 passages.*Split the file"):
        passages_of(read_markdown("# a\n\nb\n\n" * 10_001))


def test_text_is_read_in_utf_8_and_with_a_mark_in_utf_16() -> None:
    assert decode_text("é漢".encode()) == decode_text("é漢".encode("utf-8-sig")) == "é漢"
    assert decode_text(codecs.BOM_UTF16_BE + "é漢".encode("utf-16-be")) == decode_text("é漢".encode("utf-16")) == "é漢"
    for broken in ("é".encode("latin-1"), codecs.BOM_UTF16_LE + b"a", b"\xff\xd8\xff\xe0"):
        with pytest.raises(InvalidRequestError, match="not UTF-8 text"):
            decode_text(broken)


def test_media_type_is_derived_from_the_name_unless_set() -> None:
    names = ("a.md", "B.HTML", "c.PDF", "d.txt", "e", "x.md/y")
    assert [media_type_of(name, None).partition("/")[2] for name in names] == [
        "markdown", "html", "pdf", "plain", "plain", "plain",
    ]  # fmt: skip
    assert media_type_of("a.md", "Text/HTML; charset=utf-8") == "text/html"
    with pytest.raises(InvalidRequestError, match="'image/png' is not supported"):
        media_type_of("a.png", "image/png")


async def test_a_pdf_is_read_page_by_page() -> None:
    source = await read_file(PDF, TURN, text=None, data=pdf("Tea is at four.", "Cats (and dogs)\nsleep."))

    assert source.text == "Tea is at four.\n\nCats (and dogs)\nsleep."
    assert [(each.page, source.text[each.start : each.end]) for each in passages_of(source)] == [
        (1, "Tea is at four."),
        (2, "Cats (and dogs)\nsleep."),
    ]


ENCRYPTED = b"/Encrypt << /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >> /ID [<00> <00>]" % (
    b"00" * 32,
    b"11" * 32,
)
LOOP = pdf("tea").replace(b"/Kids [4 0 R]", b"/Kids [2 0 R]")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"%PDF-1.7\nnothing", "The PDF cannot be read"),
        (b"plain", "The PDF cannot be read"),
        (pdf("tea")[:200], "The PDF cannot be read"),
        (LOOP, "The PDF cannot be read|contains no text"),
        (pdf("tea", trailer=ENCRYPTED), "is encrypted"),
        (pdf(""), "contains no text"),
        (pdf(*[""] * 2_001), "more than 2,000 pages"),
    ],
    ids=["broken", "text", "cut off", "endless", "encrypted", "empty", "long"],
)
async def test_a_pdf_that_cannot_be_read_is_refused_in_one_sentence(data: bytes, why: str) -> None:
    with pytest.raises(InvalidRequestError, match=why):
        await read_file(PDF, TURN, text=None, data=data)


async def test_slow_pdf_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_module, "_SECONDS", 0.01)

    with pytest.raises(InvalidRequestError, match=r"took more than 0\.01 seconds"):
        await read_file(PDF, TURN, text=None, data=pdf("tea"))


async def test_without_the_extra_a_pdf_is_refused_with_the_command_that_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_module, "find_spec", dict[str, object]().get)

    with pytest.raises(InvalidRequestError, match=r"pip install '\.\[pdf\]'"):
        await read_file(PDF, TURN, text=None, data=pdf("tea"))


async def test_html_without_its_extra_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "find_spec", dict[str, object]().get)

    with pytest.raises(InvalidRequestError, match=r"pip install '\.\[html\]'"):
        await read_file("text/html", TURN, text="<p>tea", data=None)


@pytest.mark.parametrize("data", [b"a" * (MAX_BYTES + 1), b"a" * 2_000_001], ids=["bytes", "characters"])
async def test_a_file_that_is_too_large_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequestError, match="Split the file"):
        await read_file("text/plain", TURN, text=None, data=data)


KEY = "\n".join(
    ["-----BEGIN RSA PRIVATE KEY-----", *["MIIEpAIBAAKCAQEA7bq3" * 3] * 40, "-----END RSA PRIVATE KEY-----"]
)


@pytest.mark.parametrize(
    ("secret", "left", "least"),
    [
        (KEY, "MIIE", 12),
        (f"<private>{'my diary. ' * 300}</private>", "diary", 12),
        (f"<private>{'my diary. ' * 300}", "diary", 6),
    ],
    ids=["a key", "private", "private without an end"],
)
def test_secret_longer_than_a_passage_is_removed_completely(secret: str, left: str, least: int) -> None:
    redactor = SecretRedactor(b"k")
    before = "\n\n".join(f"Paragraph {number} says something about tea." for number in range(150))
    source = as_plain(f"{before}\n\nThe secret:\n{secret}\n\nAfter it.\n\n{before}\n")

    apart = [redactor.redact(each) for each in texts(source)]
    found = join_split_secrets(source.text, passages_of(source), redactor)
    together = [redactor.redact(source.text[each.start : each.end]) for each in found]

    assert left in "".join(apart), "cut apart, some of it would stay"
    assert left not in "".join(together)
    assert "".join("".join(together).split()) == "".join(redactor.redact(source.text).split())
    assert len(found) >= least, "what is far from it stays in passages of its own"


@given(
    text=st.lists(st.sampled_from(["tea ", "<private>", "</private>", "\n\n", "word " * 150]), max_size=30).map("".join)
)
def test_redacted_passages_equal_the_redacted_text(text: str) -> None:
    redactor = SecretRedactor(b"k")
    source = as_plain(text)
    found = join_split_secrets(source.text, passages_of(source), redactor)
    stored = [redactor.redact(source.text[each.start : each.end]) for each in found]

    assert "".join("".join(stored).split()) == "".join(redactor.redact(text).split())
    assert all(isinstance(each, FilePassage) for each in found)
