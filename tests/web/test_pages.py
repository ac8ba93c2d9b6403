"""The pages of the web UI: their headers, markup, JSON twins, and what a key may see and do."""

import gzip
import re
from dataclasses import replace
from pathlib import Path

import bethink
import bethink.types
from bethink.model.reviews import ReviewStatus
from bethink.web import static
from bethink.web.pages import ROUTES
from bethink.web.render import environment
from bethink.web.security import CSP
from faults.asgi import ask
from tests.conftest import said
from tests.web.kit import OTHER, SPACE, Story, Window, furnish, pages_of
from tests.web.markup import wrong_in

# What a strict policy would block, and what htmx would evaluate.
FORBIDDEN = re.compile(r"<style|\sstyle=|<script(?![^>]*\ssrc=)|\son\w+=|hx-on|hx-vals|js:|javascript:|\| safe")

FILLED = {
    "ref": "fact:home:2",
    "text": "x",
    "question": "x",
    "must": "x",
    "name": "x",
    "scope": "read",
    "status": "abandoned",
    "title": "x",
}

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}} {% raw %} ${7*7}",
    "javascript:alert(1)",
    "abc\u202edef\u202c\u200b\ufeffghi",
    "x" * 64_000,
    "שלום עולם مرحبا بالعالم",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "a\tb\rc\u2028d",
    "' onmouseover='alert(1)",
)


async def test_every_page_has_strict_headers_and_no_inline_code(window: Window, story: Story) -> None:
    for name, path in pages_of(story).items():
        answer = await window(path)
        assert answer.status == 200, (name, answer.body[:500])
        assert answer.headers["content-security-policy"] == CSP
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert wrong_in(answer.body.decode()) == [], name
        assert len(gzip.compress(answer.body)) <= 30_000, name


async def test_errors_are_pages_with_the_same_words_status_and_headers(window: Window, story: Story) -> None:
    for path, status in (
        ("/ui/nowhere", 404),
        (f"/ui/s/{SPACE}/facts/no-such-fact", 404),
        (f"/ui/s/{SPACE}/documents/nothing", 404),
        (f"/ui/s/{SPACE}/recall?q=x&as_of=yesterday", 422),
        (f"/ui/s/{SPACE}/memories/not-a-ref", 422),
        (f"/ui/s/{SPACE}/tests/add", 405),
    ):
        answer = await window(path)
        assert answer.status == status, path
        assert answer.headers["content-security-policy"] == CSP
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.headers["x-request-id"] in answer.body.decode()
    twin = await window(f"/ui/s/{SPACE}/facts/no-such-fact/x.json")
    assert twin.headers["content-type"] == "application/problem+json"


def test_static_files_are_small_and_named_by_what_they_contain() -> None:
    sizes = {name: len(file.plain) for name, file in static.files().items()}

    assert sum(sizes.values()) <= 300_000
    assert sizes["ui.js"] <= 5_000
    assert {"htmx.LICENSE.txt", "fonts.LICENSE.txt"} <= set(sizes)


async def test_static_files_are_immutable_and_need_their_version(window: Window) -> None:
    path = f"/ui/static/{static.version()}/ui.css"
    answer = await ask(window.app, "GET", path)

    assert answer.status == 200
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-security-policy"] == CSP
    packed = await ask(window.app, "GET", path, headers={"accept-encoding": "gzip"})
    assert gzip.decompress(packed.body) == answer.body
    for other in ("/ui/static/000000000000/ui.css", f"/ui/static/{static.version()}/../interface.py", "/ui/static/"):
        assert (await ask(window.app, "GET", other)).status == 404


def test_templates_hold_nothing_that_a_strict_policy_would_block() -> None:
    loader = environment().loader
    assert loader is not None
    for name in loader.list_templates():
        source, _, _ = loader.get_source(environment(), name)
        assert not FORBIDDEN.search(source), name


async def test_the_twin_of_a_page_is_what_v1_answers(window: Window, story: Story) -> None:
    asked = {"question": "Where do I live?", "limit": 5, "explain": True}
    facts, thread = f"/v1/spaces/{SPACE}/fact_history?limit=50", f"/v1/spaces/{SPACE}/threads/{story.thread}"
    pairs = [
        (f"/ui/s/{SPACE}/recall.json?q=Where+do+I+live%3F", "POST", f"/v1/spaces/{SPACE}/recall", asked),
        (f"/ui/s/{SPACE}/facts.json", "GET", facts, None),
        (f"/ui/s/{SPACE}/timeline.json", "GET", f"/v1/spaces/{SPACE}/timeline?limit=50", None),
        (f"/ui/s/{SPACE}/sessions.json", "GET", f"/v1/spaces/{SPACE}/sessions?limit=50", None),
        (f"/ui/s/{SPACE}/threads/{story.thread}.json", "GET", f"{thread}/state", None),
        (f"/ui/s/{SPACE}/review.json", "GET", f"/v1/spaces/{SPACE}/reviews?limit=20", None),
        (f"/ui/s/{SPACE}/tests.json", "GET", f"/v1/spaces/{SPACE}/tests?limit=50", None),
        ("/ui/access.json", "GET", "/v1/keys", None),
    ]
    for page, method, path, body in pairs:
        told = await ask(window.app, method, path, key=window.key, body=body)
        twin = await window(page)
        assert (twin.status, told.status) == (200, 200), (page, twin.body, told.body)
        assert twin.headers["content-type"] == "application/json"
        mine, theirs = (re.sub(rb'"last_used_at":[^,}]*', b"", each.body) for each in (twin, told))
        assert mine == theirs, page


async def test_hostile_texts_are_shown_as_text_on_every_page(window: Window, story: Story) -> None:
    here = window.memory.space(SPACE)
    session = await here.session(HOSTILE[0])
    await session.append(said(*HOSTILE))
    for number, text in enumerate(HOSTILE):
        await here.facts.save(bethink.Fact(id=f"odd{number}", text=text[:3_000], subject=text[:80].replace("\r", " ")))
    await here.admin.tests.add(HOSTILE[1], must=[HOSTILE[0]], note=HOSTILE[4])
    made = await here.documents.create(
        bethink.types.DocumentDraft(
            slug="odd", title=HOSTILE[0], description=HOSTILE[1], body="\n".join(HOSTILE)[:60_000]
        )
    )
    hostile = replace(story, session=session.id, document=made.id, fact="odd0")
    for name, path in pages_of(hostile).items():
        page = await window.page(path)
        assert wrong_in(page) == [], name
        assert "<script>alert" not in page, name
    transcript = await window.page(f"/ui/s/{SPACE}/sessions/{session.id}")
    assert "U+202E" in transcript
    assert "\u202e" not in transcript
    assert "{{7*7}}" in transcript


async def test_a_key_for_one_space_meets_no_trace_of_another(window: Window, story: Story) -> None:
    other = await furnish(window.memory, OTHER)
    mine = await window.signed_in(spaces=[SPACE])
    for name, path in pages_of(story).items():
        answer = await mine(path)
        assert OTHER not in answer.body.decode(), name
    for path in pages_of(other).values():
        if SPACE in path:
            foreign = path.replace(f"/s/{SPACE}/", f"/s/{OTHER}/")
            answer = await mine(foreign)
            assert answer.status == 404, foreign
            assert answer.body.decode().count(OTHER) == 0, foreign
    unknown = await mine(f"/ui/s/{OTHER}/facts")
    made_up = await mine("/ui/s/there-is-no-such-space/facts")
    assert re.sub(r"[0-9a-f]{16}", "", unknown.body.decode()) == re.sub(r"[0-9a-f]{16}", "", made_up.body.decode())


async def test_a_key_that_only_reads_finds_no_button_and_is_refused_without_one(window: Window, story: Story) -> None:
    reader = await window.signed_in("read")
    for name, path in pages_of(story).items():
        answer = await reader(path)
        forms = re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"', answer.body.decode())
        assert set(forms) <= {"/ui/theme", "/ui/logout"}, name
    for route in ROUTES:
        if route.method == "POST":
            path = "/ui" + re.sub(r"\{(\w+)\}", lambda match: SPACE if match[1] == "space" else "x", route.path)
            answer = await reader.send(path, FILLED)
            assert answer.status in (403, 404), (route.path, answer.status)
    assert (await window.memory.space(SPACE).facts.get("home")).text == "Mira lives in Bergen."
    assert len(await window.memory.space(SPACE).reviews.list()) == 2


async def test_names_with_slashes_dots_and_endings_have_pages_of_their_own(window: Window) -> None:
    for name in ("a/b", "..", "x.json", "?q=1", "#", "%2F", "ä ö"):
        await window.memory.space(name).remember("the parrot likes figs")
        listed = await window.page("/ui/spaces")
        link = re.search(rf'href="(/ui/s/[^"]+)"[^>]*>{re.escape(name).replace("&", "&amp;")}<', listed)
        assert link, name
        opened = await window(link[1])
        assert "figs" in await window.page(opened.headers["location"])


async def test_forms_change_memory_through_the_same_operations(window: Window, story: Story) -> None:
    here, space = f"/ui/s/{SPACE}", window.memory.space(SPACE)
    form = {"title": "Home", "description": "", "body": "New.\r\nText.", "expected": "3", "reason": "because"}
    saved = await window.send(f"{here}/documents/{story.document}/save", form)
    assert saved.status == 303, saved.body
    document = await space.documents.get(story.document)
    assert (document.version, document.body, document.author.reason) == (4, "New.\nText.", "because")
    stale = await window.send(f"{here}/documents/{story.document}/save", form)
    assert stale.status == 409
    restored = await window.send(f"{here}/documents/{story.document}/restore", {"version": "3", "expected": "4"})
    assert restored.headers["location"].endswith("version=5")

    assert (
        await window.send(f"{here}/facts/home/correct", {"ref": "fact:home:2", "text": "Mira lives in Voss."})
    ).status == 303
    assert (await space.facts.get("home")).text == "Mira lives in Voss."

    words = {"text": "Mira would like a dog.", "note": "her words"}
    assert (await window.send(f"{here}/review/{story.review}/approve", words)).status == 303
    assert [each.note for each in await space.reviews.list(status=ReviewStatus.APPROVED)] == ["her words"]
    assert (await window.send(f"{here}/review/{story.review}/reject")).status == 409

    before = (await space.threads.get(story.thread)).state_number
    await window.send(f"{here}/threads/{story.thread}/step")
    assert (await space.threads.get(story.thread)).state_number == before + 1
    forked = await window.send(f"{here}/threads/{story.thread}/fork", {"at": "5", "into": "by-car"})
    assert forked.headers["location"] == f"{here}/threads/by-car"

    await window.send(f"{here}/tests/add", {"question": "Where?", "must": "Voss\r\nBergen", "must_not": ""})
    assert ("Voss", "Bergen") in [each.must for each in await space.admin.tests.list()]
    await window.send(f"{here}/tests/cat/remove")
    assert "cat" not in [each.id for each in await space.admin.tests.list()]

    made = await window.send("/ui/access/create", {"name": "new", "scope": "read", "spaces": f"{SPACE}\r\n"})
    key = re.search(r"bt_[0-9a-f]{12}\.[\w-]{43}", made.body.decode())
    assert key
    assert made.headers["cache-control"] == "no-store"
    assert (await ask(window.app, "GET", f"/v1/spaces/{SPACE}/facts", key=key[0])).status == 200
    assert (await window.send(f"/ui/access/{key[0][3:15]}/revoke")).status == 303


async def test_past_page_offers_no_changes_and_keeps_as_of(window: Window, story: Story) -> None:
    page = await window.page(f"/ui/s/{SPACE}/facts?as_of=2099-01-01")

    assert "As of" in page
    links = set(re.findall(rf'href="(/ui/s/{SPACE}/[^"]*)"', page))
    assert {link for link in links if "as_of=2099-01-01" not in link} == {f"/ui/s/{SPACE}/facts"}  # back to now
    assert len(links) > 5
    document = await window.page(f"/ui/s/{SPACE}/documents/{story.document}?as_of=2099-01-01")
    assert "/restore" not in document
    assert "/edit" not in document


async def test_page_of_what_memory_knew_keeps_known_at(window: Window, story: Story) -> None:
    page = await window.page(f"/ui/s/{SPACE}/recall?q=tea&known_at=2099-01-01&as_of=2098-01-01")

    assert "as known at" in page
    assert 'name="known_at" value="2099-01-01 23:59"' in page
    links = set(re.findall(rf'href="(/ui/s/{SPACE}/[^"]*)"', page))
    back = {link for link in links if "known_at=2099-01-01" not in link}
    assert back == {f"/ui/s/{SPACE}/recall?q=tea"}
    assert "Known at" in await window.page(f"/ui/s/{SPACE}/facts?known_at=2099-01-01")
    assert (await window(f"/ui/s/{SPACE}/recall?q=x&known_at=yesterday")).status == 422


async def test_empty_memory_shows_getting_started(window: Window) -> None:
    page = await window.page("/ui")

    assert "Getting started" in page
    assert "bethink demo --save demo.db" in page


def test_no_file_of_the_window_names_another_host() -> None:
    folder = Path(static.__file__).parent
    for file in (
        *folder.glob("static/*.css"),
        folder / "static/ui.js",
        *folder.glob("templates/*.html"),
        *folder.parent.glob("*/page.html"),
    ):
        assert not re.search(r"https?://(?!127\.0\.0\.1)\w", file.read_text(encoding="utf-8")), file
