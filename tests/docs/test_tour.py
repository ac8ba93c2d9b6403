"""The tour of the web UI: each picture exists, with its description, and its page still has that heading."""

import re
import struct
import zlib
from pathlib import Path

from tests.web.kit import windowed
from tools.make_tour import PAGES, PICTURES, TOUR, prepare
from tools.small_png import MAGIC, shrink, size_of

MOST_BYTES = 600_000
_PICTURE = re.compile(r"!\[([^\]]*)\]\(tour/([^)]+)\.png\)")
_HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)


def test_the_tour_shows_every_picture_once_and_says_what_is_on_it() -> None:
    shown = [(name, alt) for alt, name in _PICTURE.findall(TOUR.read_text(encoding="utf-8"))]

    assert sorted(shown) == sorted((each.picture, each.alt) for each in PAGES)
    assert sorted(file.name for file in PICTURES.iterdir()) == sorted(f"{each.picture}.png" for each in PAGES)


def test_the_pictures_have_the_size_of_their_pages_and_are_small() -> None:
    files = {each.picture: (PICTURES / f"{each.picture}.png").read_bytes() for each in PAGES}

    assert {name: size_of(file) for name, file in files.items()} == {
        each.picture: (each.width, each.height) for each in PAGES
    }
    assert sum(map(len, files.values())) <= MOST_BYTES


async def test_every_page_of_the_tour_exists_with_its_heading(tmp_path: Path) -> None:
    names = await prepare(tmp_path / "demo.db")
    async with windowed(str(tmp_path / "demo.db")) as window:
        for each in PAGES:
            heading = _HEADING.search(await window.page(each.path.format(**names)))
            assert heading, each.picture
            assert re.sub("<[^>]+>", "", heading[1]) == each.heading


def test_a_picture_made_small_shows_the_same() -> None:
    rows = [bytes((9 * row + 7 * at) % 256 for at in range(12)) for row in range(5)]
    packed, before = b"", bytes(12)
    for kind, row in enumerate(rows):  # each row in another of the five ways in which a PNG may be written
        left, corner = bytes(3) + row[:-3], bytes(3) + before[:-3]
        guesses = [
            bytes(12),
            left,
            before,
            bytes((a + b) // 2 for a, b in zip(left, before, strict=True)),
            bytes(_nearest(*each) for each in zip(left, before, corner, strict=True)),
        ]
        packed += bytes([kind, *((a - b) % 256 for a, b in zip(row, guesses[kind], strict=True))])
        before = row
    head = struct.pack(">IIBBBBB", 4, 5, 8, 2, 0, 0, 0)
    small = shrink(MAGIC + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(packed)) + _chunk(b"IEND", b""))

    assert size_of(small) == (4, 5)
    length = int.from_bytes(small[33:37])
    palette, data = small[41 : 41 + length], small[41 + length + 12 : -16]
    places = zlib.decompress(data)
    shown = [[palette[3 * at : 3 * at + 3] for at in places[5 * row + 1 : 5 * row + 5]] for row in range(5)]
    assert [b"".join(row) for row in shown] == rows


def _nearest(left: int, up: int, corner: int) -> int:
    return min((left, up, corner), key=lambda each: abs(left + up - corner - each))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
