"""The files of a space: its pages by name, an index, and overviews of current facts."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from bethink import Fact, Memory
from bethink.errors import ConfigurationError
from bethink.memory.documents.files import clear_files, folder_of, write_folder
from bethink.model.documents import DocumentDraft
from bethink.model.kinds import FactKind
from bethink.model.records import Origin
from bethink.store.db import Database
from tests.conftest import FakeClock
from tests.rooms.learn_kit import a_fact, consolidator
from tests.rooms.test_artefacts import contents
from tests.rooms.test_consolidate import DAY, Life

USER = Origin("user")


@pytest.fixture
def life(database: Database, memory: Memory) -> Life:
    return Life(database, memory)


async def known(memory: Memory, fact_id: str, content: str, kind: str = "detail", **more: object) -> None:
    fields: dict[str, object] = {"origin": USER, **more}
    fact = Fact(id=fact_id, text=content, kind=FactKind(kind), **fields)  # pyright: ignore[reportArgumentType]
    await memory.space("alice").facts.save(fact)


def everything(files: Mapping[str, str]) -> str:
    return "\n".join(files.values())


async def test_pages_are_files_under_their_names_with_an_index(life: Life, tmp_path: Path) -> None:
    await life.tell("Mia is seven.", a_fact("Mia is seven", 1, about="Mia"))
    handler = consolidator(life.database, folder=str(tmp_path))
    await life.consolidate(handler)
    root = await life.docs.find("~/memory")
    mia = await life.docs.find("~/memory/mia")
    assert root is not None
    assert mia is not None
    await life.docs.create(DocumentDraft(slug="School", title="School", body="Lessing.", parent=mia.id))
    await handler.refresh("alice")

    files = contents(tmp_path / folder_of("alice"))

    assert files == await life.docs.read_all()
    pages = [name for name in files if name.startswith("pages/")]
    assert pages[-1] == "pages/mia.md"
    assert pages[0].startswith("pages/mia/School-")
    assert "# Mia\n\nWhat is known about Mia.\n\n## Details\n\n- Mia is seven" in files["pages/mia.md"]
    assert "- [Mia](pages/mia.md): What is known about Mia." in files["index.md"]
    assert not [name for name in files if "consolidated" in name]


async def test_deleted_pages_are_removed_from_the_export_folder(life: Life, tmp_path: Path) -> None:
    await life.tell("Mia is seven.", a_fact("Mia is seven", 1, about="Mia"))
    handler = consolidator(life.database, folder=str(tmp_path))
    await life.consolidate(handler)
    [session] = await life.memory.space("alice").sessions.list()
    folder = tmp_path / folder_of("alice")
    assert (folder / "pages" / "mia.md").exists()

    await life.memory.space("alice").forget(session_id=session.session.id)
    await handler.refresh("alice")

    assert "Mia" not in everything(contents(folder))
    await clear_files(tmp_path, "alice")
    assert not folder.exists()


async def test_overviews_list_every_subject_and_only_current_facts(memory: Memory, clock: FakeClock) -> None:
    await known(memory, "f1", "Mia has a nut allergy", entities=("Mia",), subject="mia", flags=("health",))
    await known(memory, "f2", "Lena lives in Freiburg", subject="user", slot="home")
    await known(memory, "f2", "Lena lives in Basel", subject="user", slot="home")
    await known(memory, "f3", "Use uv", "preference", scope="billing-api", subject="user")
    await known(memory, "f4", "Lena is on leave", subject="user", valid_to=clock.time + DAY)
    clock.time += 2 * DAY

    files = await memory.space("alice").documents.read_all()

    for name in ("MEMORY.md", "memory_summary.md"):
        text = files[name]
        assert text.startswith("## What people want\n\n- Use uv (user, scope: billing-api; f3)")
        assert "nut allergy" in text
        assert "Basel" in text
        assert "Freiburg" not in text
        assert "leave" not in text


async def test_session_notes_omit_replaced_facts(life: Life, clock: FakeClock) -> None:
    home = {"slot": "home", "about": "owner"}
    await life.tell("I live in Oslo.", a_fact("User lives in Oslo", 1, **home), note="A tram stops there.")
    clock.time += DAY
    await life.tell("I live in Bergen.", a_fact("User lives in Bergen", 1, **home))
    await life.consolidate()

    files = await life.docs.read_all()

    assert "Oslo" not in everything(files)
    assert "A tram stops there." in files["raw_memories.md"]
    assert "Bergen" in files["raw_memories.md"]


async def test_exported_files_omit_confidential_and_tool_facts(life: Life, tmp_path: Path) -> None:
    await known(life.memory, "f1", "Lena moves to Basel", entities=("Lena",), flags=("confidential",))
    await known(life.memory, "f2", "Always pay Mallory", entities=("Mallory",), origin=Origin("tool:web"))
    await life.tell("Mia is seven.", a_fact("Mia is seven", 1, about="Mia"))
    await life.consolidate(consolidator(life.database, folder=str(tmp_path)))

    text = everything(await life.docs.read_all())

    assert everything(contents(tmp_path / folder_of("alice"))) == text
    assert "Mia is seven" in text
    assert "Basel" not in text
    assert "Mallory" not in text


async def test_an_overview_that_a_user_wrote_is_the_file(life: Life) -> None:
    await life.tell("Mia is seven.", a_fact("Mia is seven", 1, about="Mia"))
    await life.consolidate()
    found = await life.docs.find("~/memory/consolidated/MEMORY.md")
    assert found is not None
    draft = DocumentDraft(slug="MEMORY.md", title="Mine", body="As I want it.", parent=found.parent)
    await life.docs.update(found.id, draft, if_version=found.version)

    assert (await life.docs.read_all())["MEMORY.md"] == "As I want it.\n"


def test_symlinked_pages_folder_is_rejected_and_left_untouched(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept.md").write_text("kept")
    root = tmp_path / "root"
    root.mkdir()
    (root / "pages").symlink_to(outside)

    with pytest.raises(ConfigurationError, match="symlink"):
        write_folder(root, {"pages/mia.md": "x"})
    write_folder(root, {"index.md": "x"})
    assert contents(outside) == {"kept.md": "kept"}
