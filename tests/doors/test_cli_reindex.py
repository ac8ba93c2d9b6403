"""The command that makes vectors: for the embedder in the settings, what is missing, in every space."""

from pathlib import Path

import pytest

from tests.doors.cli_kit import Done, ok, run
from tests.unit.static_files import TABLE, static

pytestmark = pytest.mark.usefixtures("home")


def use(monkeypatch: pytest.MonkeyPatch, folder: Path, table: list[list[int]] = TABLE) -> str:
    embedder = f"static:{static(folder, embeddings=table)}"
    monkeypatch.setenv("BETHINK_EMBEDDER", embedder)
    return embedder


def test_what_shares_no_word_is_found_before_and_after_it_is_indexed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("add", "kitten", "--space", "alice")
    ok("add", "revenue", "--space", "bob")
    embedder = use(monkeypatch, home / "tiny")
    before = ok("recall", "sofa", "--space", "alice")

    told = run("reindex", "--dry-run")
    done = ok("reindex", "--yes")

    assert [item["text"] for item in before["items"]] == ["kitten"], "what is new is embedded in the call"
    assert told.out == f"would search 2 spaces for texts without a vector of {embedder}\n"
    assert done == {"embedder": embedder, "embedded": 2, "left": 0, "grown": [], "dropped": [], "dry_run": False}
    assert [item["text"] for item in ok("recall", "sofa", "--space", "alice")["items"]] == ["kitten"]
    assert ok("reindex", "--yes", "--grow")["embedded"] == 0, "only what is missing is embedded"


def test_another_embedder_takes_over_when_every_space_is_done(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "kitten")
    use(monkeypatch, home / "tiny")
    ok("reindex", "--yes")
    use(monkeypatch, home / "other", [[9, 9], [1, 0], [0, 1], [-1, 0], [0, 2]])

    assert ok("reindex", "--yes")["embedded"] == 1
    assert ok("recall", "sofa")["items"] == []
    assert [item["text"] for item in ok("recall", "revenue")["items"]] == ["kitten"]


def test_vectors_of_an_embedder_that_was_replaced_stay_until_they_are_dropped(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("add", "kitten")
    old = use(monkeypatch, home / "tiny")
    ok("reindex", "--yes")
    use(monkeypatch, home / "other", [[9, 9], [1, 0], [0, 1], [-1, 0], [0, 2]])
    ok("reindex", "--yes")

    done = ok("reindex", "--yes", "--drop-old")

    assert [name.rpartition("-")[0] for name in done["dropped"]] == ["static:tiny"]
    assert ok("reindex", "--yes", "--drop-old")["dropped"] == []
    assert [item["text"] for item in ok("recall", "revenue")["items"]] == ["kitten"], "what is in use stays"
    monkeypatch.setenv("BETHINK_EMBEDDER", old)
    assert ok("reindex", "--yes")["embedded"] == 1, "nothing of it was left"


def test_an_embedder_that_fails_is_told_with_what_is_left(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "kitten")
    use(monkeypatch, home / "tiny", [[1, 0]])

    done = run("reindex", "--yes")

    assert done.code != 0
    assert "hint: " in done.err


def test_nobody_embeds_everything_by_accident(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "kitten")
    assert _told(run("reindex", "--yes")) == "no embedder is configured."
    use(monkeypatch, home / "tiny")

    assert _told(run("reindex")) == "this needs --yes without a terminal."
    assert _told(run("reindex", terminal=True, stdin="n\n")) == "nothing was changed."


def _told(done: Done) -> str:
    assert done.code != 0
    [line] = [line for line in done.err.splitlines() if "error: " in line]
    return line.partition("error: ")[2].removesuffix("\x1b[0m")
