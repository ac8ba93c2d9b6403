"""`bethink fact correct`: each correction is a new version and keeps the old ones, on both databases."""

from pathlib import Path

import pytest

import bethink
import bethink.sync
import bethink.types
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.kinds import FactKind
from tests.doors.cli_kit import items, ok, run

TOKEN = "ghp_a8Kd93jfKs02LmQpXz71VbNc45RtYu67WeQ1"


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def fact(target: str) -> str:
    """A wish of the user's, which no model may change."""
    wish = bethink.Fact(
        id="tea",
        text="User wants green tea",
        kind=FactKind.PREFERENCE,
        origin=bethink.types.Origin("user"),
        slot="drink",
    )
    with bethink.sync.connect(target, learn=False) as memory:
        memory.space("alice").facts.save(wish)
    return "fact:tea:1"


@pytest.fixture
def document(target: str) -> str:
    """A document at ~/trip that rests on a message."""
    with bethink.sync.connect(target, learn=False) as memory:
        said = memory.space("alice").remember("I go to Oslo.").refs[0]
        source = DocumentSource(kind=SourceKind.MESSAGE, id=said.id, number=said.number)
        by = Provenance(origin=bethink.types.Origin("assistant"), sources=(source,))
        made = memory.space("alice").documents.create(
            DocumentDraft(slug="trip", title="Trip", body="to Oslo"), provenance=by
        )
        assert made
    return made.id


def test_show_lists_the_earlier_text_of_a_corrected_fact(target: str, on: list[str], fact: str) -> None:
    done = ok("fact", "correct", fact, "User wants black tea", "--yes", *on)

    assert done == {"ref": "fact:tea:2", "previous": fact, "text": "User wants black tea"}
    shown = run("show", "fact:tea:2", *on).out
    assert "User wants green tea" in shown
    assert "User wants black tea" in shown
    [found] = ok("recall", "tea", "--kind", "fact", *on)["items"]
    assert found["text"] == "User wants black tea"
    with bethink.sync.connect(target, learn=False) as memory:
        new = memory.space("alice").facts.get("tea")
    assert new is not None
    assert (new.kind, new.origin, new.slot) == (FactKind.PREFERENCE, "user", "drink")


def test_corrected_document_keeps_its_path_and_its_sources(
    target: str, on: list[str], home: Path, document: str
) -> None:
    ok("doc", "edit", "~/trip", "--yes", *on, stdin="to Bergen\nby train\n")

    shown = ok("show", f"{home}/trip", *on)
    assert (shown["ref"], shown["origin"]) == (f"document:{document}:2", "assistant")
    assert shown["text"].endswith("to Bergen\nby train")
    assert len(set(shown["source_refs"])) == 1
    assert [version["text"] for version in shown["versions"]] == ["to Oslo", "to Bergen\nby train"]
    assert "corrected" in run("doc", "history", "~/trip", *on).out
    with bethink.sync.connect(target, learn=False) as memory:
        memory.space("alice").forget(ref=shown["source_refs"][0])
    assert ok("show", "~/trip", *on)["text"] is None


def test_correct_previews_the_change_and_asks(on: list[str], fact: str) -> None:
    looked = run("fact", "correct", fact, "User wants black tea", "--dry-run", *on)

    assert looked.out == "- User wants green tea\n+ User wants black tea\n"
    assert run("fact", "correct", fact, "User wants green tea", "--dry-run", *on).out == "Nothing would change.\n"
    assert run("fact", "correct", fact, "User wants black tea", *on).code == 2
    assert [version["version"] for version in items("fact", "history", "tea", *on)] == [1]
    same = run("fact", "correct", fact, "User wants green tea", "--yes", *on)
    assert same.out == "fact:tea:1 is unchanged: same text\n"


def test_correct_rejects_an_outdated_version(on: list[str], fact: str, document: str) -> None:
    for words in (["fact", "correct", fact], ["doc", "edit", f"document:{document}:1"]):
        ref = words[-1]
        ok(*words, "once", "--yes", *on)
        late = run(*words, "twice", "--yes", *on)
        assert late.code == 1
        assert f"bethink show {ref[:-1]}2" in late.err


def test_correct_explains_which_refs_can_be_corrected(on: list[str], fact: str) -> None:
    [message] = ok("add", "tea", *on)["refs"]

    for ref, code, hint in (
        (message, 2, "bethink add"),
        ("fact:none:1", 3, "bethink fact list"),
        ("document:none:1", 2, "bethink doc edit"),
        ("~/none", 3, "bethink doc list"),
        ("nonsense", 2, "kind:id:number"),
    ):
        done = run("fact", "correct", ref, "new", "--yes", *on)
        assert (done.code, hint in done.err) == (code, True), done.err
    assert run("doc", "edit", "document:none:1", "new", "--yes", *on).code == 3
    assert "bethink fact correct" in run("doc", "edit", fact, "new", "--yes", *on).err
    assert run("fact", "correct", fact, " ", "--yes", *on).code == 2


def test_add_and_correct_report_redacted_secrets(on: list[str], fact: str) -> None:
    assert run("add", f"the token is {TOKEN}", *on).err == "note: 1 secret was redacted\n"
    assert run("add", f"[REDACTED:token:ab12] and {TOKEN}", "--quiet", *on).err == ""
    assert run("fact", "correct", fact, f"{TOKEN} or password: hunter2Zq9x", "--yes", *on).err == (
        "note: 2 secrets were redacted\n"
    )
    assert "private" in run("add", "tea <private>and gin</private>", *on).err
    assert run("add", "tea \0 and [REDACTED:token:ab12]", *on).err == ""


def test_duplicate_key_error_names_the_key_as_passed(on: list[str]) -> None:
    ok("add", "tea", "--idempotency-key", "k1", *on)
    assert run("add", "tea", "--idempotency-key", "k1", *on).code == 0

    taken = run("add", "coffee", "--idempotency-key", "k1", *on)

    assert taken.code == 1
    assert "key 'k1' already belongs" in taken.err
