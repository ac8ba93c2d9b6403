"""Takes the pictures of docs/tutorial/tour.md: the window of the demo, on a real server, in a real browser.

It needs chromium (`apt-get install chromium`) and the development packages. Pictures are looked at by people, and
never compared: a test checks that each is there, that its page has its name, and that the tour describes it.
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
from tools.small_png import shrunk

_ROOT = Path(__file__).parent.parent
TOUR = _ROOT / "docs" / "tutorial" / "tour.md"
PICTURES = _ROOT / "docs" / "tutorial" / "tour"
_CHROMIUM = ("/usr/bin/chromium", "/usr/bin/chromium-browser")
_HERE = f"/ui/s/{SPACE}"

_EVENTS = (
    ("EXTERNAL_INJECT", "## Relevant memory\n\n- User lives in Bergen.\n- Pixel is afraid of umbrellas."),
    ("USER_MESSAGE", "Plan Easter at the cabin in Voss for Solveig, Pixel and me, by train if the dog may come."),
    ("TODO_SET", "1. train with a dog  2. food  3. weather"),
    ("LLM_TOOL_CALL", "train_search(from='Bergen', to='Voss', day='2026-04-02', dog=true)"),
    ("TOOL_RESULT", "10:09 Bergen to Voss, 1 h 14 min, 249 kr, dog ticket 125 kr, three seats left. " * 6),
    ("LLM_TEXT_RESPONSE", "The 10:09 takes Pixel: two seats and a dog ticket are 623 kr. Shall I hold them?"),
    ("USER_MESSAGE", "Yes, hold them. And no umbrellas near Pixel, please."),
    ("LLM_TOOL_CALL", "hold_seats(train='10:09', seats=2, dog=1)"),
    ("TOOL_RESULT", "held until 18:00, reference VOSS-7731, to be paid in the app"),
    ("LLM_TEXT_RESPONSE", "They are held until six. I put rain coats on the list instead of umbrellas."),
    ("USER_MESSAGE", "She agrees. Book it."),
    ("LLM_TOOL_CALL", "book(reference='VOSS-7731')"),
)


class TourPage(NamedTuple):
    """A picture of the tour: its page, what that is called there, and what one sees on it, in words."""

    picture: str
    path: str
    heading: str
    alt: str
    width: int = 1180
    height: int = 800
    look: str = "light"


PAGES = (
    TourPage(
        "recall", f"{_HERE}/recall?q=Where+do+I+live%3F", "Recall",
        "Recall: answers to “Where do I live?” with the signals behind each, and where the first one comes from",
    ),
    TourPage(
        "recall-as-of", f"{_HERE}/recall?q=Where+do+I+live%3F&as_of=2026-02-10T23:59", "Recall",
        "Recall seen from 10 February: the same question is answered with what was known then", height=640,
    ),
    TourPage(
        "timeline", f"{_HERE}/timeline", "Timeline",
        "Timeline: what was said, learnt, written and shown, day by day", height=640,
    ),
    TourPage(
        "session", f"{_HERE}/sessions/{{session}}?at=1", "Session",
        "Session: each message with the facts that were made of it, and what was learnt at the side", height=640,
    ),
    TourPage(
        "facts", f"{_HERE}/facts", "Facts",
        "Facts: each with a bar for the time in which it held, and what took its place",
    ),
    TourPage(
        "documents", f"{_HERE}/documents/{{document}}?view=lines", "Documents",
        "Documents: the tree, the versions of one page, and the version behind each line", height=640,
    ),
    TourPage(
        "shown", f"{_HERE}/shown", "Shown",
        "Shown: which memories were given to which session, when, and in which words", height=560,
    ),
    TourPage(
        "thread", f"{_HERE}/threads/easter-cabin", "easter-cabin",
        "A thread: tokens after each state, what they are made of, and what the last event added",
    ),
    TourPage(
        "review", f"{_HERE}/review", "Review",
        "Review: a claim that was not believed at once, the words it rests on, and the ways to decide", height=560,
    ),
    TourPage(
        "tests", f"{_HERE}/tests?run=1", "Memory tests",
        "Memory tests: questions whose answers must stay right, one of them failing", height=520,
    ),
    TourPage(
        "erasure", f"{_HERE}/erasure?session={{session}}", "Erasure",
        "Erasure: what would go with a session, counted and named, before it is forgotten",
    ),
    TourPage(
        "phone", f"{_HERE}/facts", "Facts",
        "Facts on a phone, in the dark look", width=400, height=800, look="dark",
    ),
)  # fmt: skip


async def prepare(file: Path) -> dict[str, str]:
    """Make the memory that the tour shows, and return the names in the addresses of its pages."""
    clock = StoryClock()
    await seed(str(file), clock)
    async with memory_at(str(file), clock) as memory:
        mira = memory.space(SPACE)
        sessions = await mira.sessions()
        learnt = next(each for each in reversed(sessions) if each.summary)
        clock.time += timedelta(hours=2)
        asking = await mira.session(f"chat:{SPACE}:easter")
        await mira.recall("Where do I live?", session_id=asking.id, limit=3)
        clock.time += timedelta(minutes=1)
        await mira.context(session_id=asking.id)
        await mira.tests.add("Where do I live?", must=["Bergen"], must_not=["Stockholm"], note="Mira moved")
        await mira.tests.add("What is the cat called?", must=["Tom"], note="she asked, and has no cat")
        working = memory.local().working(SPACE)
        thread = await working.open_thread("easter-cabin", mode=Mode.STEPPING)
        for kind, text in _EVENTS:
            await working.push_event(thread.id, Event(type=kind, payload={"text": text}))
        for _ in _EVENTS[:-2]:
            clock.time += timedelta(seconds=40)
            await working.step(thread.id)
        tree = await mira.documents.tree()
        most = max((each for path, each in tree.items() if path.count("/") > 1), key=lambda each: each.version)
        return {"session": learnt.session.id, "document": most.id}


@contextmanager
def _served(file: Path) -> Generator[str]:
    """Serve the window of a memory, and give the link that signs in."""
    words = [sys.executable, "-m", "bethink", "ui", "--database", str(file), "--no-browser", "--port", "0"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = (re.search(r"http://\S+/ui/enter\?once=\S+", line) for line in process.stderr)
        try:
            yield next(each[0] for each in found if each)
        finally:
            process.terminate()


def _take(link: str, names: dict[str, str]) -> None:
    chromium = next((path for path in _CHROMIUM if Path(path).exists()), None)
    base = link.partition("/ui/")[0]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        first = browser.new_context()
        first.new_page().goto(link)
        state = first.storage_state()
        for each in PAGES:
            context = browser.new_context(
                storage_state=state,
                viewport={"width": each.width, "height": each.height},
                color_scheme="dark" if each.look == "dark" else "light",
            )
            page = context.new_page()
            page.goto(base + each.path.format(**names), wait_until="networkidle")
            if page.inner_text("h1") != each.heading:
                raise SystemExit(f"{each.picture} is called {page.inner_text('h1')!r} now, not {each.heading!r}")
            (PICTURES / f"{each.picture}.png").write_bytes(shrunk(page.screenshot()))
            context.close()
        browser.close()


def main() -> None:
    """Take every picture again."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "demo.db"
        names = anyio.run(prepare, file)
        os.environ["BETHINK_MODEL"] = "none"
        with _served(file) as link:
            _take(link, names)
    whole = sum(file.stat().st_size for file in PICTURES.glob("*.png"))
    print(f"wrote {len(PAGES)} pictures, {whole / 1000:.0f} kB")


if __name__ == "__main__":
    main()
