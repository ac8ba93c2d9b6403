"""Records with long texts have a `repr` that fits a line."""

from datetime import UTC, datetime

import pytest

from bethink import Document, Fact, Lineage, Match, RecallResult, Ref
from bethink.model.documents import Author
from bethink.types import Certainty, Origin, RefKind

_AT = datetime(2026, 3, 1, tzinfo=UTC)
_REF = Ref(RefKind.FACT, "fct_01J8ZKQ5M2X7R9T4V6W8Y0A1B3", 12)


def _match(text: str) -> Match:
    return Match(
        ref=_REF,
        text=text,
        origin=Origin("user"),
        said_at=_AT,
        score=0.5,
        tokens=5,
        label="m1",
        certainty=Certainty.HIGH,
    )


def _document(title: str) -> Document:
    return Document(
        id="doc_1", version=2, slug="tea", title=title, description="", parent=None, valid_from=_AT, valid_to=None,
        created_at=_AT, author=Author(kind="user"), origin=Origin("user"), body="Long. " * 500, links=(), mentions=(),
    )  # fmt: skip


@pytest.mark.parametrize("text", ["Mira likes tea.", "Mira's tea. " * 40, "x\n\t\\" * 60, "日本語" * 80, "", None])
def test_repr_of_a_record_fits_a_line(text: str | None) -> None:
    words = text or ""
    records = [
        _match(words),
        RecallResult(question=words, items=(_match(words),) * 10, certainty=Certainty.HIGH),
        Fact(id="fct_01J8ZKQ5M2X7R9T4V6W8Y0A1B3", text=words),
        _document(words),
        Lineage(ref=_REF, text=text),
    ]

    for record in records:
        assert len(repr(record)) <= 120
        assert "\n" not in repr(record)


def test_repr_names_ref_text_and_certainty() -> None:
    assert repr(_match("Mira likes tea.")) == f"Match({_REF}: 'Mira likes tea.', high)"
    assert repr(RecallResult(question="tea?", items=(_match("x"),))) == "RecallResult(1 match: 'tea?', weak)"
    assert repr(Fact(id="f", text="Tea.")) == "Fact(fact:f:1: 'Tea.', current)"
    assert repr(_document("Tea")) == "Document(document:doc_1:2: 'Tea')"
    assert repr(Lineage(ref=_REF, text=None)) == f"Lineage({_REF}: None, 0 sources)"
    assert repr(_match("a" * 200)).endswith("aaa…', high)")


def test_document_has_the_ref_of_its_version() -> None:
    assert _document("Tea").ref == Ref.parse("document:doc_1:2")
