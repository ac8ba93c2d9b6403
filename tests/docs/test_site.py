"""The site builds, its links resolve, and it names no machine."""

import os
import re
import shutil
import socket
import subprocess
import sys
import unicodedata
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bethink import errors

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
TEXTS = [*PAGES, DOCS / "llms.txt", *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG"))]
_FENCE = re.compile(r"^( *)```.*?^\1```", flags=re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose_of(path: Path) -> str:
    """Return a page without its code."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def anchors_of(path: Path) -> set[str]:
    """Return the anchors of a page's headings, as the site makes them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", prose_of(path), flags=re.MULTILINE):
        plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
        name = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
        found.add(name if name not in found else f"{name}_1")
    return found


def broken_links(path: Path) -> list[str]:
    """Return the links of a page, within the repository, that lead nowhere."""
    broken: list[str] = []
    for link in _LINK.findall(_CODE.sub("", prose_of(path))):
        place, _, anchor = str(link).partition("#")
        if urlsplit(str(link)).scheme:
            continue
        target = path.parent / place if place else path
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(link)
    return broken


def nav() -> list[str]:
    """Return the pages that the site's navigation names."""
    return re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)


def matching_pages(setting: str) -> set[str]:
    """Return the pages below the paths that a setting of the site lists: `exclude_docs` or `not_in_nav`."""
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    block = re.search(rf"^{setting}: \|\n((?:  .*\n)+)", config, flags=re.MULTILINE)
    assert block is not None, setting
    paths = tuple(line.strip().removeprefix("/") for line in block[1].splitlines())
    return {name for page in PAGES if (name := page.relative_to(DOCS).as_posix()).startswith(paths)}


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")

    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "-s", "-f", "mkdocs.yml"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300, stdin=subprocess.DEVNULL,
    )  # fmt: skip

    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "warning" not in said.lower()
    built = {path.parent.relative_to(tmp_path / "site").as_posix() for path in tmp_path.glob("site/**/index.html")}
    excluded = {name.removesuffix(".md") for name in matching_pages("exclude_docs")}
    assert {page.relative_to(DOCS).with_suffix("").as_posix() for page in PAGES} - {"index"} - excluded <= built
    assert not excluded & built
    assert (tmp_path / "site" / "llms.txt").exists()
    start = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "fonts.googleapis" not in start


def test_every_page_is_in_the_navigation_once_and_nothing_else() -> None:
    others = matching_pages("exclude_docs") | matching_pages("not_in_nav")

    assert sorted(nav()) == sorted({page.relative_to(DOCS).as_posix() for page in PAGES} - others)


def test_navigation_has_six_groups_and_a_home_page() -> None:
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")

    assert re.findall(r"^  - ([A-Z][a-z ]+):", config.partition("\nnav:\n")[2], flags=re.MULTILINE) == [
        "Home", "Get started", "Build", "Integrations", "Trust and privacy", "Operate", "Reference",
    ]  # fmt: skip


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_every_link_and_anchor_leads_somewhere(path: Path) -> None:
    assert broken_links(path) == []


def test_broken_link_is_detected(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One head\n\n[a](#one-head) [b](#two) [c](gone.md) [d](page.md#one-head) `[e](code.md)`\n")

    assert broken_links(page) == ["#two", "gone.md"]


def test_the_list_for_models_names_every_page_that_people_are_sent_to() -> None:
    named = set(_LINK.findall((DOCS / "llms.txt").read_text(encoding="utf-8")))

    assert set(nav()) - named == {"index.md"}
    assert named <= set(nav())


def _names_of_this_machine() -> set[str]:
    addresses = [value for name, value in os.environ.items() if "INDEX" in name or "PROXY" in name.upper()]
    hosts = {urlsplit(value).hostname or "" for value in addresses} - {"localhost", "127.0.0.1", "pypi.org"}
    names = {socket.gethostname(), str(ROOT), str(Path.home()), *hosts}
    return {name for name in names if len(name) > 3 and name != "localhost"}


@pytest.mark.parametrize("path", [*TEXTS, ROOT / "mkdocs.yml"], ids=lambda path: path.name)
def test_no_page_names_a_machine_or_a_personal_folder(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert not re.search(r"(?<!\w)/(root|tmp|Users)/", text)
    assert [name for name in _names_of_this_machine() if name in text] == []


def test_the_reference_of_python_is_what_the_source_says() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.make_api_docs", "--check"],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout + done.stderr


def test_troubleshooting_page_lists_every_check_and_every_error() -> None:
    page = DOCS / "howto" / "troubleshooting.md"
    doctor = (ROOT / "src" / "bethink" / "cli" / "doctor.py").read_text(encoding="utf-8")
    checks = {*re.findall(r'name="([a-z ]+)"', doctor), *re.findall(r'_failed_check\("([a-z ]+)"', doctor)}
    kinds = [name for name, kind in vars(errors).items() if isinstance(kind, type) and name != "BethinkError"]

    assert {"database", "spending", "abandoned jobs"} <= checks
    assert {check.replace(" ", "-") for check in checks} | {"model", "embedder"} <= anchors_of(page)
    assert [kind for kind in kinds if f"| `{kind}` |" not in page.read_text(encoding="utf-8")] == []


def test_every_snippet_is_on_a_page() -> None:
    shown = {
        name for path in TEXTS for name in re.findall(r"<!-- docs_src/(\S+) -->", path.read_text(encoding="utf-8"))
    }

    assert {path.name for path in (ROOT / "docs_src").glob("*.py")} - shown == set()


def test_reference_loops_over_async_generators_and_shows_constructors_once() -> None:
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")

    assert "async for item in Page.iterate()" in page
    assert "ScriptedModel.ScriptedModel" not in page
