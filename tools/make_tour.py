"""Take the screenshots of docs/tutorial/tour.md: the web UI of the demo, on a real server, in a real browser.

It needs chromium (`apt-get install chromium`) and the development packages. Screenshots are
never compared: a test checks that each exists, that its page has the right heading, and that the tour describes it.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import anyio
from playwright.sync_api import sync_playwright

from bethink.cli.demo import SPACE, StoryClock, memory_at, seed
from bethink.model.working import Event, Mode
from tools.small_png import shrink

_ROOT = Path(__file__).parent.parent
TOUR = _ROOT / "docs" / "tutorial" / "tour.md"
PICTURES = _ROOT / "docs" / "tutorial" / "tour"
_CHROMIUM = ("/usr/bin/chromium", "/usr/bin/chromium-browser")
_SPACE_URL = f"/ui/s/{SPACE}"

_EVENTS = (
    ("EXTERNAL_INJECT", "## Relevant memory\n\n- User lives in Bergen.\n- Pixel is afraid of umbrellas."),
    ("USER_MESSAGE", "Plan Easter at the cabin in Voss for Solveig, Pixel and me, by train if the dog may come."),
    ("TODO_SET", "1. train with a dog  2. food  3. weather"),
    ("LLM_TOOL_CALL", "train_search(from='Bergen', to='Voss', day='2026-04-02', dog=true)"),
    ("TOOL_RESULT", "10:09 Bergen to Voss, 1 h 14 min, 249 kr, dog ticket 125 kr, three seats left. " * 6),
    ("LLM_TEXT_RESPONSE", "The 10:09 takes Pixel: two seats and a dog ticket are 623 kr. Should I hold them?"),
    ("USER_MESSAGE", "Yes, hold them. And no umbrellas near Pixel, please."),
    ("LLM_TOOL_CALL", "hold_seats(train='10:09', seats=2, dog=1)"),
    ("TOOL_RESULT", "held until 18:00, reference VOSS-7731, to be paid in the app"),
    ("LLM_TEXT_RESPONSE", "They are held until six. I put rain coats on the list instead of umbrellas."),
    ("USER_MESSAGE", "She agrees. Book it."),
    ("LLM_TOOL_CALL", "book(reference='VOSS-7731')"),
)


class TourPage(NamedTuple):
    """A screenshot of the tour: its file, page, heading and alternative text."""

    picture: str
    path: str
    heading: str
    alt: str
    width: int = 1180
    height: int = 800
    look: str = "light"


PAGES = (
    TourPage(
        "recall", f"{_SPACE_URL}/recall?q=Where+do+I+live%3F", "Recall",
        "Recall: matches for “Where do I live?” with the signals behind each, and the source of the first one",
    ),
    TourPage(
        "recall-as-of", f"{_SPACE_URL}/recall?q=Where+do+I+live%3F&as_of=2026-02-10T23:59", "Recall",
        "Recall as of February 10: the same question, answered from what was known then", height=640,
    ),
    TourPage(
        "timeline", f"{_SPACE_URL}/timeline", "Timeline",
        "Timeline: messages, learned facts, documents and context blocks, day by day", height=640,
    ),
    TourPage(
        "session", f"{_SPACE_URL}/sessions/{{session}}?at=1", "Session",
        "Session: each message with the facts learned from it, and a summary at the side", height=640,
    ),
    TourPage(
        "facts", f"{_SPACE_URL}/facts", "Facts",
        "Facts: each with a bar for its valid time, and the fact that replaced it",
    ),
    TourPage(
        "documents", f"{_SPACE_URL}/documents/{{document}}?view=lines", "Documents",
        "Documents: the tree, the versions of one document, and the version behind each line", height=640,
    ),
    TourPage(
        "shown", f"{_SPACE_URL}/shown", "Context log",
        "Context log: the memories that each session was shown, with time and text", height=560,
    ),
    TourPage(
        "thread", f"{_SPACE_URL}/threads/easter-cabin", "easter-cabin",
        "A thread: tokens after each state, what they consist of, and what the last event added",
    ),
    TourPage(
        "review", f"{_SPACE_URL}/review", "Review",
        "Review: a claim that needs approval, its quote, and the ways to decide", height=560,
    ),
    TourPage(
        "tests", f"{_SPACE_URL}/tests?run=1", "Memory tests",
        "Memory tests: questions whose answers must stay right, one of them failing", height=520,
    ),
    TourPage(
        "erasure", f"{_SPACE_URL}/erasure?session={{session}}", "Erasure",
        "Erasure: everything that would be deleted with a session, counted and named",
    ),
    TourPage(
        "phone", f"{_SPACE_URL}/facts", "Facts",
        "Facts on a phone, in the dark theme", width=400, height=800, look="dark",
    ),
)  # fmt: skip


async def prepare(file: Path) -> dict[str, str]:
    """Create the memory of the tour, and return the names in the URLs of its pages."""
    clock = StoryClock()
    await seed(str(file), clock)
    async with memory_at(str(file), clock) as memory:
        mira = memory.space(SPACE)
        sessions = await mira.sessions.list()
        learned = next(item for item in reversed(sessions) if item.summary)
        clock.time += timedelta(hours=2)
        asking = await mira.session(f"chat:{SPACE}:easter")
        await mira.recall("Where do I live?", session_id=asking.id, limit=3)
        clock.time += timedelta(minutes=1)
        await mira.context(session_id=asking.id)
        await mira.admin.tests.add("Where do I live?", must=["Bergen"], must_not=["Stockholm"], note="Mira moved")
        await mira.admin.tests.add("What is the cat called?", must=["Tom"], note="she has no cat")
        working = memory.backend.local().working(SPACE)
        thread = await working.open_thread("easter-cabin", mode=Mode.STEPPING)
        for kind, text in _EVENTS:
            await working.push_event(thread.id, Event(type=kind, payload={"text": text}))
        for _ in _EVENTS[:-2]:
            clock.time += timedelta(seconds=40)
            await working.step(thread.id)
        tree = await mira.documents.list()
        document = max((item for item in tree if item.path.count("/") > 1), key=lambda item: item.version)
        return {"session": learned.session.id, "document": document.id}


@contextmanager
def _serve_ui(file: Path) -> Generator[str]:
    """Serve the web UI of a memory, and yield the sign-in link."""
    words = [sys.executable, "-m", "bethink", "ui", "--database", str(file), "--no-browser", "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        matches = (re.search(r"http://\S+/ui/enter\?once=\S+", line) for line in process.stderr)
        try:
            yield next(match[0] for match in matches if match)
        finally:
            process.terminate()


def _take_screenshots(link: str, names: dict[str, str]) -> None:
    chromium = next((path for path in _CHROMIUM if Path(path).exists()), None)
    base = link.partition("/ui/")[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        first = browser.new_context()
        first.new_page().goto(link)
        state = first.storage_state()
        for tour_page in PAGES:
            context = browser.new_context(
                storage_state=state,
                viewport={"width": tour_page.width, "height": tour_page.height},
                color_scheme="dark" if tour_page.look == "dark" else "light",
            )
            page = context.new_page()
            page.goto(base + tour_page.path.format(**names), wait_until="networkidle")
            if page.inner_text("h1") != tour_page.heading:
                raise SystemExit(
                    f"{tour_page.picture} has the heading {page.inner_text('h1')!r}, not {tour_page.heading!r}"
                )
            (PICTURES / f"{tour_page.picture}.png").write_bytes(shrink(page.screenshot()))
            context.close()
        browser.close()


def main() -> None:
    """Take all screenshots."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "demo.db"
        names = anyio.run(prepare, file)
        os.environ["BETHINK_MODEL"] = "none"
        with _serve_ui(file) as link:
            _take_screenshots(link, names)
    total = sum(file.stat().st_size for file in PICTURES.glob("*.png"))
    print(f"wrote {len(PAGES)} screenshots, {total / 1000:.0f} kB")


if __name__ == "__main__":
    main()
