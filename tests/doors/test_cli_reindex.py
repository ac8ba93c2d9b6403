"""`bethink data reindex`: creates missing vectors for the configured embedder in every space."""

from pathlib import Path

import pytest

from tests.doors.cli_kit import Done, ok, run
from tests.unit.static_files import TABLE, static

pytestmark = pytest.mark.usefixtures("home")


def use(monkeypatch: pytest.MonkeyPatch, folder: Path, table: list[list[int]] = TABLE) -> str:
    embedder = f"static:{static(folder, embeddings=table)}"
    monkeypatch.setenv("BETHINK_EMBEDDER", embedder)
    return embedder


def test_recall_by_meaning_works_before_and_after_reindex(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "kitten", "--space", "alice")
    ok("add", "revenue", "--space", "bob")
    embedder = use(monkeypatch, home / "tiny")
    before = ok("recall", "sofa", "--space", "alice")

    told = run("data", "reindex", "--dry-run")
    done = ok("data", "reindex", "--yes")

    assert [item["text"] for item in before["items"]] == ["kitten"], "what is new is embedded in the call"
    assert told.out == f"would search 2 spaces for texts without a vector of {embedder}\n"
    assert done == {"embedder": embedder, "embedded": 2, "left": 0, "grown": [], "dropped": [], "dry_run": False}
    assert [item["text"] for item in ok("recall", "sofa", "--space", "alice")["items"]] == ["kitten"]
    assert ok("data", "reindex", "--yes", "--build-indexes")["embedded"] == 0, "only what is missing is embedded"


def test_another_embedder_takes_over_when_every_space_is_done(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "kitten")
    use(monkeypatch, home / "tiny")
    ok("data", "reindex", "--yes")
    use(monkeypatch, home / "other", [[9, 9], [1, 0], [0, 1], [-1, 0], [0, 2]])

    assert ok("data", "reindex", "--yes")["embedded"] == 1
    assert ok("recall", "sofa")["items"] == []
    assert [item["text"] for item in ok("recall", "revenue")["items"]] == ["kitten"]


def test_old_vectors_stay_until_they_are_dropped(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "kitten")
    old = use(monkeypatch, home / "tiny")
    ok("data", "reindex", "--yes")
    use(monkeypatch, home / "other", [[9, 9], [1, 0], [0, 1], [-1, 0], [0, 2]])
    ok("data", "reindex", "--yes")

    done = ok("data", "reindex", "--yes", "--delete-old-vectors")

    assert [name.rpartition("-")[0] for name in done["dropped"]] == ["static:tiny"]
    assert ok("data", "reindex", "--yes", "--delete-old-vectors")["dropped"] == []
    assert [item["text"] for item in ok("recall", "revenue")["items"]] == ["kitten"], "what is in use stays"
    monkeypatch.setenv("BETHINK_EMBEDDER", old)
    assert ok("data", "reindex", "--yes")["embedded"] == 1, "nothing of it was left"


def test_failing_embedder_is_reported_with_a_hint(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "kitten")
    use(monkeypatch, home / "tiny", [[1, 0]])

    done = run("data", "reindex", "--yes")

    assert done.code != 0
    assert "hint: " in done.err


def test_reindex_needs_an_embedder_and_confirmation(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("add", "kitten")
    assert _told(run("data", "reindex", "--yes")) == "No embedder is configured."
    use(monkeypatch, home / "tiny")

    assert _told(run("data", "reindex")) == "Without a terminal, this command needs --yes."
    assert _told(run("data", "reindex", terminal=True, stdin="n\n")) == "Nothing was changed."


def _told(done: Done) -> str:
    assert done.code != 0
    [line] = [line for line in done.err.splitlines() if "error: " in line]
    return line.partition("error: ")[2].removesuffix("\x1b[0m")
