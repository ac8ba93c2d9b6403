"""Putting a memory right on the command line: a new version each, with the old ones kept, on both databases."""

from pathlib import Path

import pytest

import bethink
import bethink.sync
from bethink.model.documents import DocumentDraft, DocumentSource, Provenance, SourceKind
from bethink.model.kinds import FactKind
from tests.doors.cli_kit import ok, run

TOKEN = "ghp_a8Kd93jfKs02LmQpXz71VbNc45RtYu67WeQ1"


pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def fact(target: str) -> str:
    """A wish of the user's, which no model may change."""
    wish = bethink.Fact(
        id="tea", content="User wants green tea", kind=FactKind.PREFERENCE, origin=bethink.Origin("user"), slot="drink"
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
        by = Provenance(origin=bethink.Origin("assistant"), sources=(source,))
        made = memory.space("alice").documents.create(DocumentDraft(slug="trip", title="Trip", body="to Oslo"), by=by)
        assert made
    return made.id


def test_a_fact_is_corrected_and_show_shows_what_it_said_before(target: str, on: list[str], fact: str) -> None:
    done = ok("correct", fact, "User wants black tea", "--yes", *on)

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


def test_a_document_is_corrected_by_its_path_and_still_rests_on_what_it_did(
    target: str, on: list[str], home: Path, document: str
) -> None:
    ok("correct", "~/trip", "--yes", *on, stdin="to Bergen\nby train\n")

    shown = ok("show", f"{home}/trip", *on)
    assert (shown["ref"], shown["origin"]) == (f"document:{document}:2", "assistant")
    assert shown["text"].endswith("to Bergen\nby train")
    assert len(set(shown["rests_on"])) == 1
    assert [version["text"] for version in shown["versions"]] == ["to Oslo", "to Bergen\nby train"]
    assert "corrected" in run("log", "~/trip", *on).out
    with bethink.sync.connect(target, learn=False) as memory:
        memory.space("alice").forget(ref=shown["rests_on"][0])
    assert ok("show", "~/trip", *on)["text"] is None


def test_a_correction_is_looked_at_first_and_asked_for(on: list[str], fact: str) -> None:
    looked = run("correct", fact, "User wants black tea", "--dry-run", *on)

    assert looked.out == "- User wants green tea\n+ User wants black tea\n"
    assert run("correct", fact, "User wants green tea", "--dry-run", *on).out == "nothing would change\n"
    assert run("correct", fact, "User wants black tea", *on).code == 2
    assert [version["version"] for version in ok("log", "tea", *on)] == [1]
    same = run("correct", fact, "User wants green tea", "--yes", *on)
    assert same.out == "fact:tea:1 is unchanged: it already says this\n"


def test_nobody_overwrites_what_they_have_not_seen(on: list[str], fact: str, document: str) -> None:
    for ref in (fact, f"document:{document}:1"):
        ok("correct", ref, "once", "--yes", *on)
        late = run("correct", ref, "twice", "--yes", *on)
        assert late.code == 1
        assert f"bethink show {ref[:-1]}2" in late.err


def test_what_cannot_be_corrected_is_told_what_can(on: list[str], fact: str) -> None:
    [message] = ok("add", "tea", *on)["refs"]

    for ref, code, hint in (
        (message, 2, "bethink add"),
        ("fact:none:1", 3, "bethink recall"),
        ("document:none:1", 3, "bethink log"),
        ("~/none", 3, "bethink log"),
        ("nonsense", 2, "kind:id:number"),
    ):
        done = run("correct", ref, "new", "--yes", *on)
        assert (done.code, hint in done.err) == (code, True), done.err
    assert run("correct", fact, " ", "--yes", *on).code == 2


def test_who_hands_in_a_secret_is_told_that_it_was_cut_out(on: list[str], fact: str) -> None:
    assert run("add", f"the token is {TOKEN}", *on).err == "note: 1 secret was redacted\n"
    assert run("add", f"[REDACTED:token:ab12] and {TOKEN}", "--quiet", *on).err == ""
    assert run("correct", fact, f"{TOKEN} or password: hunter2Zq9x", "--yes", *on).err == (
        "note: 2 secrets were redacted\n"
    )
    assert "private" in run("add", "tea <private>and gin</private>", *on).err
    assert run("add", "tea \0 and [REDACTED:token:ab12]", *on).err == ""


def test_a_key_that_is_taken_is_named_as_it_was_given(on: list[str]) -> None:
    ok("add", "tea", "--idempotency-key", "k1", *on)
    assert run("add", "tea", "--idempotency-key", "k1", *on).code == 0

    taken = run("add", "coffee", "--idempotency-key", "k1", *on)

    assert taken.code == 1
    assert "key 'k1' already belongs" in taken.err
