"""Files over HTTP: bytes arrive unchanged, a retry stores nothing twice, and invalid files are rejected by name."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

import bethink.sync
from bethink.errors import BethinkError
from tests.doors.client_kit import Served as ServedUrl
from tests.doors.client_kit import connected
from tests.doors.client_kit import serving as serving_url
from tests.doors.server_kit import Served, serving
from tests.pdf_kit import pdf

pytestmark = pytest.mark.anyio

FILES = "/v1/spaces/alice/files"
TEA = "Tea is served at four in the orangery."


@pytest.fixture
async def served(target: str) -> AsyncIterator[Served]:
    async with serving(target) as served:
        yield served


@pytest.fixture
def at(target: str) -> Iterator[ServedUrl]:
    with serving_url(target) as server:
        yield server


async def test_bytes_of_every_kind_arrive_as_they_were(at: ServedUrl) -> None:
    odd = "é漢😀 tea\n".encode("utf-16")
    async with connected(at.url, key=at.key) as memory:
        alice = memory.space("alice")
        first = await alice.files.add("menu.pdf", data=pdf("Soup.", TEA))
        other = await alice.files.add("odd.txt", data=odd)
        found = (await alice.recall("When is tea served?")).items[0]
        lineage = await alice.explain(found.ref)

    assert (first.added, first.media_type, other.added) == (2, "application/pdf", 1)
    assert (found.text, found.metadata["page"]) == (TEA, 2)
    assert lineage.metadata == found.metadata


def test_the_blocking_client_adds_files_too(at: ServedUrl) -> None:
    with bethink.sync.connect(at.url, api_key=at.key) as memory:
        space = memory.space("alice")
        assert [space.files.add("tea.md", text=TEA).added for _ in range(2)] == [1, 0]


def test_the_blocking_api_reads_pdf_in_this_process(tmp_path: Path) -> None:
    with bethink.sync.connect(tmp_path / "m.db", learn=False) as memory:
        assert memory.space("alice").files.add("menu.pdf", data=pdf("Soup.")).added == 1


async def test_a_request_that_is_sent_again_with_its_key_changes_nothing(served: Served) -> None:
    key = await served.key_for("read", "write", spaces=["alice"])
    body = {"name": "tea.md", "text": TEA, "idempotency_key": "once"}

    answers = [await served("POST", FILES, body, key=key) for _ in range(2)]
    other = await served("POST", FILES, {**body, "text": "Other."}, key=key)

    assert [each.json()["added"] for each in answers] == [1, 0]
    assert other.status == 409


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"name": "a.md"}, "takes one of `text` and `data`"),
        ({"name": "a.md", "data": "no base64!"}, "is not base64"),
        ({"name": "a.md", "data": "/9j/4A=="}, "not UTF-8 text"),
        ({"name": "a\nb", "text": TEA}, "printable"),
        ({"name": "a.pdf", "data": "JVBERi0xLjc="}, "PDF cannot be read"),
        ({"name": "a.md", "text": 7}, "text"),
    ],
)
async def test_invalid_file_upload_is_rejected(served: Served, body: dict[str, object], told: str) -> None:
    key = await served.key_for("read", "write", spaces=["alice"])

    refused = await served("POST", FILES, body, key=key)

    assert refused.status == 422
    assert told in str(refused.json())


async def test_reading_is_not_enough_to_add_a_file(served: Served) -> None:
    key = await served.key_for("read", spaces=["alice"])

    assert (await served("POST", FILES, {"name": "a.md", "text": TEA}, key=key)).status == 403


async def test_a_file_larger_than_the_server_takes_is_refused_with_a_hint(at: ServedUrl) -> None:
    async with connected(at.url, key=at.key) as memory:
        with pytest.raises(BethinkError, match="larger than"):
            await memory.space("alice").files.add("a.txt", text="tea " * 400_000)
