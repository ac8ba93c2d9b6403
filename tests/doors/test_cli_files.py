"""`bethink add --file`: files of every kind, by name or from stdin, each stored once, and shown by `bethink show`."""

from pathlib import Path

import pytest

from tests.doors.cli_kit import ok, run
from tests.pdf_kit import pdf

pytestmark = pytest.mark.usefixtures("home")

TEA = "Tea is served at four in the orangery."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("notes").mkdir()
    Path("notes/tea.md").write_text(f"# Tea\n\n{TEA}\n", encoding="utf-8")
    Path("page.html").write_text("<h1>Cats</h1><p>They sleep.<script>no()</script>", encoding="utf-8")
    Path("menu.pdf").write_bytes(pdf("Soup.", "Cake."))
    return tmp_path


def test_files_are_added_and_only_what_differs_is_added_again(folder: Path, on: list[str]) -> None:
    files = ["notes/tea.md", "page.html", "menu.pdf"]

    first = ok("add", "--file", *files, *on)
    again = run("add", "--file", *files, *on)
    Path("notes/tea.md").write_text("# Tea\n\nTea is served at five.\n", encoding="utf-8")
    changed = run("add", "--file", *files, *on)

    assert [(each["media_type"], each["added"]) for each in first["files"]] == [
        ("text/markdown", 1), ("text/html", 1), ("application/pdf", 2),
    ]  # fmt: skip
    assert "notes/tea.md: unchanged, 1 passage\npage.html: unchanged, 1 passage\n" in again.out
    assert "notes/tea.md: 1 passage added, 0 unchanged, 1 removed" in changed.out
    assert "menu.pdf: unchanged, 2 passages" in changed.out


def test_add_file_reports_deleted_passages_it_omits(folder: Path, on: list[str]) -> None:
    ok("add", "--file", "menu.pdf", *on)
    [item] = [each for each in ok("recall", "cake", *on)["items"] if "Cake" in each["text"]]
    ok("forget", item["ref"], "--yes", *on)
    Path("menu.pdf").write_bytes(pdf("Soup.", "Cake.", "Pie."))

    assert "menu.pdf: 1 passage added, 1 unchanged, 0 removed, 1 left out as deleted" in run(
        "add", "--file", "menu.pdf", *on
    ).out  # fmt: skip


def test_passage_is_shown_with_its_position(folder: Path, on: list[str]) -> None:
    ok("add", "--file", "menu.pdf", *on)
    [item] = [each for each in ok("recall", "cake", *on)["items"] if "Cake" in each["text"]]

    shown = run("show", item["ref"], *on).out

    assert "menu.pdf, page 2, characters 7 to 12" in shown
    assert "document" in shown


def test_file_from_stdin_uses_the_name_option(folder: Path) -> None:
    added = ok("add", "--file", "-", "--name", "tea", "--media-type", "text/html", stdin="<p>Tea at four.")

    assert added["files"][0]["session"]["metadata"]["file"] == "tea"
    assert ok("recall", "tea")["items"][0]["text"] == "Tea at four."
    assert run("add", "--file", "-").code == 2
    assert run("add", "--file", "page.html", "menu.pdf", "--name", "both").code == 2


def test_unreadable_file_does_not_block_the_others(folder: Path, on: list[str]) -> None:
    Path("broken.pdf").write_bytes(b"%PDF-1.7")
    Path("picture.txt").write_bytes(b"\xff\xd8\xff\xe0")

    done = run("add", "--file", "broken.pdf", "notes/tea.md", "picture.txt", *on)

    assert done.code == 5
    assert "Cannot add 'broken.pdf': " in done.err
    assert "2 files were rejected" in done.err
    assert ok("recall", "tea", *on)["items"][0]["metadata"]["file"] == "notes/tea.md"
    assert run("add", "--file", "broken.pdf", *on).code == 2
    assert run("add", "--file", "notes", *on).code == 2


def test_add_file_reports_removed_private_text(folder: Path) -> None:
    Path("diary.md").write_text(f"<private>{'my diary ' * 9}</private>\n\n{TEA}\n", encoding="utf-8")

    assert "characters of diary.md not stored" in run("add", "--file", "diary.md").err


def test_add_file_rejects_hostile_names_and_escapes_hostile_text(folder: Path) -> None:
    Path("a\x1b[31m.md").write_text("x", encoding="utf-8")
    Path("b.md").write_text("tea \x1b]0;owned\x07 cups", encoding="utf-8")

    refused = run("add", "--file", "a\x1b[31m.md")
    ok("add", "--file", "b.md")

    assert refused.code == 2
    assert "\x1b" not in refused.err + run("recall", "tea").out
