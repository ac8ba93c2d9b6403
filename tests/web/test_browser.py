"""The web UI in a real browser, against a real server: user tasks, with and without scripts."""

import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shutil import copy
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from bethink.model.access import Scope
from bethink.web.mount import add_web_ui
from tests.conftest import DATABASES
from tests.doors.client_kit import Served, aside, connected, serving
from tests.length import LONG
from tests.web.kit import CHROMIUM, SPACE, Story, Watched, browser, furnish, operate, pages_of, token, watched
from tools import postgres

AXE = (Path(__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOKS = [(1280, "light"), (400, "dark"), (1280, "dark"), (400, "light")]

# Where a browser was promised, its absence is a failure and not a reason to leave these tests out.
pytestmark = pytest.mark.skipif(
    not CHROMIUM and not os.environ.get("BETHINK_TEST_BROWSER"), reason="no chromium: apt-get install chromium"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A served space, and the cookies of someone who may do everything."""

    target: str
    served: Served
    story: Story
    state: Any


@pytest.fixture(scope="module")
def chromium(template: Path) -> Iterator[Browser]:
    del template  # it is made by an event loop on this thread, where the browser is about to have one
    with browser() as found:
        yield found


@pytest.fixture(
    scope="module", params=[pytest.param(each, marks=[pytest.mark.slow] * (each != DATABASES[0])) for each in DATABASES]
)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Site]:
    if request.param == "sqlite":
        target = str(copy(request.getfixturevalue("template"), tmp_path_factory.mktemp("window") / "memory.db"))
    else:
        dsn = request.getfixturevalue("superuser_dsn")
        target = postgres.create_database(dsn, f"window_{uuid.uuid4().hex[:12]}")

    async def make() -> Story:
        async with connected(target) as memory:
            found = await furnish(memory)
            await operate(memory)
            return found

    story = aside(make)
    with serving(target, mounts=[add_web_ui]) as served, watched(chromium, served) as first:
        first.go(f"/ui/enter?once={aside(token, target)}").wait_for_url("**/ui")
        yield Site(target=target, served=served, story=story, state=first.page.context.storage_state())


@pytest.fixture
def seen(chromium: Browser, site: Site) -> Iterator[Watched]:
    """A page with scripts. Nothing may go wrong on it, and nothing may leave the window."""
    with watched(chromium, site.served, storage_state=site.state, viewport={"width": 1280, "height": 800}) as found:
        yield found
        assert found.wrong == []


@pytest.fixture
def plain(chromium: Browser, site: Site) -> Iterator[Watched]:
    """A page without scripts."""
    with watched(chromium, site.served, storage_state=site.state, java_script_enabled=False) as found:
        yield found
        assert found.wrong == []


def test_search_result_can_be_followed_to_its_source(seen: Watched) -> None:
    page = seen.in_space("recall")
    expect(page.locator(".help")).to_be_visible()  # the script has run
    page.keyboard.press("/")
    page.keyboard.type("Where do I live?")
    page.keyboard.press("Enter")
    expect(page.locator(".hit").first).to_be_visible()
    assert "q=Where+do+I+live" in page.url
    page.locator("h1").click()
    page.keyboard.press("2")
    expect(page.locator(".hit.chosen .rank")).to_have_text("2")
    expect(page.locator("#chain-title")).to_be_focused()
    page.locator("w-asof input[type=range]").evaluate(
        "each => { each.value = 1; each.dispatchEvent(new Event('input')); each.dispatchEvent(new Event('change')) }"
    )
    expect(page.locator(".seen, .hits .empty").first).to_be_visible()
    assert "as_of=2026" in page.url
    page.go_back()
    expect(page.locator(".hit.chosen .rank")).to_have_text("2")


def test_a_line_leads_to_its_transcript(plain: Watched) -> None:
    page = plain.in_space("recall")
    page.fill("#q", "What did the flat search find?")
    page.click(".ask .btn")
    page.click(".hit .said a")
    page.click(".chain .you .ref")
    page.click("text=View in context")
    expect(page.locator("#m3.chosen .data")).to_contain_text("IGNORE ALL PREVIOUS INSTRUCTIONS")


def test_document_can_be_edited_and_restored_in_the_browser(plain: Watched, site: Site) -> None:
    page = plain.in_space(f"documents/{site.story.document}")
    page.click("text=Edit")
    page.fill("#body", "Mira lives in Voss.")
    page.fill("#reason", "she moved again")
    page.click("text=Save version")
    expect(page.locator(".diff .new")).to_contain_text("Voss")
    expect(page.locator(".why")).to_contain_text("she moved again")
    page.click("text=Lines by version")
    expect(page.locator(".blame .newest")).to_contain_text("Voss")
    page.click("button:has-text('Restore')")
    expect(page.locator(".title")).to_be_visible()
    expect(page.locator(".diff .gone").first).to_contain_text("Voss")


def test_step_through_a_thread_by_keyboard_and_fork_it(seen: Watched, site: Site) -> None:
    page = seen.in_space(f"threads/{site.story.thread}")
    before = int(page.inner_text(".where").split()[-1])
    page.keyboard.press("s")
    expect(page.locator(".where")).to_have_text(f"state {before + 1} of {before + 1}")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".where")).to_have_text(f"state {before} of {before + 1}")
    page.keyboard.press("f")
    expect(page.locator(".head .pill", has_text="forked from")).to_be_visible()


def test_approve_a_claim_in_other_words(seen: Watched, site: Site) -> None:
    page = seen.in_space("review")
    page.keyboard.press("e")
    page.fill("textarea[name=text]", "Mira would like a dog.")
    page.fill("details[open] input[name=note]", "she said so")
    page.click("text=Approve edited text")
    expect(page.locator(".notice")).to_contain_text("is now a fact")
    page.click("nav.tabs >> text=Approved")
    expect(page.locator(".claim")).to_contain_text("she said so")
    page.click("text=resulting fact")
    expect(page.locator(".said.big")).to_have_text("Mira would like a dog.")


def test_abandoned_job_can_be_retried_in_the_browser(plain: Watched) -> None:
    page = plain.go("/ui")
    page.click("text=See why and retry.")
    row = page.locator(".joblist > li", has_text="team:harbour")
    expect(row.locator(".error")).to_contain_text("No answer in 60 s.")
    row.locator("button").click()
    expect(page.locator(".notice")).to_contain_text("queued again")
    expect(page.locator(".joblist > li", has_text="team:harbour")).to_have_count(0)
    page.click("nav.tabs >> text=Queued")
    expect(page.locator(".joblist > li", has_text="ses_lost")).to_have_count(1)


def test_those_who_run_a_memory_get_around_by_keyboard(seen: Watched) -> None:
    page = seen.go("/ui")
    expect(page.locator(".help")).to_be_visible()  # the script has run
    for key, title in (("p", "Spaces"), ("c", "Cost"), ("v", "Pending reviews"), ("x", "Settings"), ("j", "Jobs")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.locator("h1")).to_have_text(title)
        expect(page.locator(".help")).to_be_visible()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Learn from a session")


def test_live_tail_shows_new_messages_and_can_be_paused(seen: Watched, site: Site) -> None:
    page = seen.in_space("tail")
    expect(page.locator(".happened").first).to_be_visible()
    text = f"The ferry leaves at {uuid.uuid4().hex}."
    aside(_say, site.target, SPACE, text)
    expect(page.locator(".happened.fresh").first).to_contain_text(text)
    page.keyboard.press("p")
    expect(page.locator(".live")).to_have_text("Paused")


def test_the_first_message_appears_by_itself(chromium: Browser, tmp_path: Path) -> None:
    target = str(tmp_path / "memory.db")
    with serving(target, mounts=[add_web_ui]) as served, watched(chromium, served) as found:
        page = found.go(f"/ui/enter?once={aside(token, target)}")
        page.wait_for_url("**/ui")
        expect(page.locator("#first")).to_contain_text("Waiting for the first message")
        aside(_say, target, "nils", "I live in Bodø.")
        expect(page.locator("#first .said")).to_have_text("I live in Bodø.")
        page.click("text=Try recall")
        expect(page.locator("h1")).to_have_text("Recall")
        assert found.wrong == []


async def _say(target: str, space: str, text: str) -> None:
    async with connected(target) as memory:
        await memory.space(space).remember(text)


def test_memory_tests_are_red_and_green(plain: Watched) -> None:
    page = plain.in_space("tests")
    page.click("a:has-text('Run')")
    expect(page.locator(".test.failed")).to_contain_text("is missing")
    expect(page.locator(".test.passed, .test.failed")).to_have_count(2)


def test_revoked_key_ends_the_browser_session(chromium: Browser, site: Site) -> None:
    with watched(chromium, site.served) as found:
        page = found.go(f"/ui/s/{SPACE}/facts")
        page.fill("#key", "bt_wrong")
        page.click("button")
        expect(page.locator("[role=alert]")).to_contain_text("Invalid, expired or revoked key")
        key = aside(_new_key, site.target)
        page.fill("#key", key)
        page.click("button")
        expect(page.locator("h1")).to_have_text("Facts")
        page.goto(f"{site.served.url}/ui/access")
        row = page.locator(".list > li", has_text=key[3:15])
        row.locator("summary").click()
        row.locator("button").click()
        expect(page.locator("h1")).to_have_text("Sign in to Bethink")
        found.wrong = [each for each in found.wrong if "401" not in each]  # a browser notes the refusal
        assert found.wrong == []


async def _new_key(target: str) -> str:
    async with connected(target) as memory:
        return (await memory.admin.keys.create(name="short-lived", scopes=[Scope.READ, Scope.KEYS, Scope.OPERATE])).key


def test_theme_is_remembered_and_shortcuts_are_explained(seen: Watched) -> None:
    page = seen.in_space("facts")
    page.locator(".rail.wide button", has_text="dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("h1")).to_have_text("Facts")
    page.locator(".rail.wide button", has_text="system").click()
    expect(page.locator("html:not([data-theme])")).to_have_count(1)
    expect(page.locator(".help")).to_be_visible()  # the script has run
    page.keyboard.press("?")
    expect(page.locator("dialog[open]")).to_contain_text("next and previous row")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("[data-row]").first).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("d")
    expect(page.locator("h1")).to_have_text("Documents")


@pytest.mark.parametrize("turn", range(len(LOOKS)))
def test_no_page_has_a_barrier_or_scrolls_sideways(chromium: Browser, site: Site, turn: int) -> None:
    # Each page in one look, and the looks in turn: all of them in every look is the next test.
    width, look = LOOKS[turn]
    _check(chromium, site, width, look, dict(list(_every_page(site.story).items())[turn :: len(LOOKS)]))


@pytest.mark.slow
@pytest.mark.skipif(not LONG, reason="every page in every look takes minutes")
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize(("width", "look"), LOOKS)
def test_no_page_has_a_barrier_in_any_look(chromium: Browser, site: Site, width: int, look: Any) -> None:
    _check(chromium, site, width, look, _every_page(site.story))


def _every_page(story: Story) -> dict[str, str]:
    return {**pages_of(story), "login": "/ui/login", "problem": "/ui/nowhere"}


def _check(chromium: Browser, site: Site, width: int, look: Any, pages: dict[str, str]) -> None:
    options: Any = {"viewport": {"width": width, "height": 800}, "color_scheme": look, "storage_state": site.state}
    with watched(chromium, site.served, **options, bypass_csp=True) as found:
        broken: list[str] = []
        for name, path in pages.items():
            page = found.go(path)
            if page.evaluate("document.documentElement.scrollWidth") > width:
                broken.append(f"{name}: wider than {width}")
            broken += [f"{name}: {each}" for each in _barriers(page)]
            _picture(page, f"{name}-{width}-{look}")
        assert broken == []
        assert [each for each in found.wrong if "404" not in each] == []


def _barriers(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("rules => axe.run({ runOnly: rules, resultTypes: ['violations'] })", RULES)
    return [f"{each['id']} {node['html'][:120]}" for each in found["violations"] for node in each["nodes"][:3]]


def _picture(page: Page, name: str) -> None:
    """Keep a picture of a page, where somebody asked for it."""
    folder = os.environ.get("BETHINK_TEST_PICTURES")
    if folder:
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)
