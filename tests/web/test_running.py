"""The operator pages: what they show, to whom, and at what cost."""

import re
from datetime import UTC, datetime, timedelta

import anyio
import pytest

import bethink
from bethink.model.jobs import JobKind, JobStatus
from bethink.model.reviews import ClaimedFact, ReviewStatus
from bethink.store import jobs, reviews
from bethink.store.db import Tx
from bethink.web.text import duration, money
from faults.asgi import ask
from tests.page_kit import counting
from tests.web.kit import OPERATED, SPACE, Story, Window, running_pages
from tests.web.markup import wrong_in

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOSTILE = "<script>alert(1)</script>\" onerror='x' {{7*7}} \u202e"


async def test_the_first_page_says_what_is_wrong_and_what_waits(window: Window, story: Story) -> None:
    page = await window.page("/ui")

    assert "2 jobs were abandoned." in page
    assert re.search(r'href="/ui/jobs">See why', page)
    assert "No answer in 60 s." in page
    assert "Mira has a dog called Pixel." in page
    menu = dict(re.findall(r'href="(/ui/[a-z]+)"[^>]*>[^<]*<span class="n">([^<]+)</span>', page))
    assert menu == {"/ui/jobs": "2", "/ui/held": "3"}


async def test_the_menu_of_a_space_counts_what_failed_and_waits_there(window: Window, story: Story) -> None:
    for space, counts in (("anna", {"jobs": "2"}), (SPACE, {"review": "3"}), ("nobody", {})):
        page = await window.page(f"/ui/s/{space}/facts")
        found = re.findall(rf'href="/ui/s/{space}/([a-z]+)"[^>]*>[^<]*<span class="n">([^<]+)</span>', page)
        assert dict(found) == counts


async def test_twins_are_what_v1_answers_and_every_page_that_names_one_has_it(window: Window, story: Story) -> None:
    first, last = (datetime.now(UTC) - timedelta(days=29)).date(), datetime.now(UTC).date()
    pairs = (
        ("/ui.json", "/v1/audit"),
        ("/ui/spaces.json?prefix=a", "/v1/spaces?prefix=a"),
        ("/ui/jobs.json?status=failed", "/v1/jobs?status=failed"),
        ("/ui/workers.json", "/v1/jobs?status=running&limit=100"),
        ("/ui/held.json", "/v1/reviews?limit=20"),
        ("/ui/settings.json", "/v1/settings"),
        ("/ui/cost.json?by=model", f"/v1/costs?by=model&since={first}&until={last}"),
        ("/ui/s/anna/cost.json", f"/v1/spaces/anna/costs?since={first}&until={last}"),
        ("/ui/s/anna/jobs.json?kind=extract", "/v1/spaces/anna/jobs?kind=extract"),
        ("/ui/s/anna/jobs/extract/ses_lost.json", "/v1/spaces/anna/jobs/extract/ses_lost"),
        (f"/ui/s/{SPACE}/tail.json", f"/v1/spaces/{SPACE}/timeline?limit=50"),
    )
    for page, path in pairs:
        twin, told = await window(page), await ask(window.app, "GET", path, key=window.key)
        assert (twin.status, told.status) == (200, 200), (page, twin.body, told.body)
        assert twin.body == told.body, page
    for path in running_pages().values():
        for twin in re.findall(
            r'<link rel="alternate" type="application/json" href="([^"]+)">', await window.page(path)
        ):
            assert (await window(twin.replace("&amp;", "&"))).status == 200, twin


async def test_a_job_or_a_page_of_them_starts_over(window: Window, story: Story) -> None:
    one = await window.send("/ui/s/anna/jobs/extract/ses_lost/retry", {"back": "all", "status": "abandoned"})
    assert one.headers["location"] == "/ui/jobs?status=abandoned&told=again"
    assert (
        await window.memory.space("anna").admin.jobs.get(JobKind.EXTRACT, "ses_lost")
    ).job.status is JobStatus.QUEUED
    again = await window.send("/ui/s/anna/jobs/extract/ses_lost/retry")
    assert again.headers["location"].endswith("told=running")

    assert (await window.send("/ui/jobs/retry", {"status": "queued", "kind": "", "after": ""})).status == 404
    rest = await window.send("/ui/jobs/retry", {"status": "abandoned", "kind": "", "after": ""})
    assert rest.headers["location"] == "/ui/jobs?status=abandoned&told=all-again"
    assert (await window.memory.admin.jobs.list(status=JobStatus.ABANDONED)).items == ()
    await window.send("/ui/s/anna/jobs/retry", {"status": "failed"})
    left = (await window.memory.admin.jobs.list(status=JobStatus.FAILED)).items
    assert [each.space for each in left] == [OPERATED]


async def test_scopes_decide_what_is_seen_and_are_checked_again(window: Window, story: Story) -> None:
    watcher = await window.signed_in("read", "keys", "operate")
    for name, path in running_pages().items():
        page = await watcher.page(path)
        assert ">Retry<" not in page, name
    for path in ("/ui/jobs/retry", "/ui/s/anna/jobs/retry", "/ui/s/anna/jobs/extract/ses_lost/retry"):
        assert (await watcher.send(path, {"status": "abandoned"})).status == 403, path
    assert len((await window.memory.admin.jobs.list()).items) == 2

    own = await window.signed_in(spaces=[SPACE])
    page = await own.page("/ui")
    assert f">{SPACE}<" in page
    assert "anna" not in page
    for path in ("/ui/jobs", "/ui/workers", "/ui/held", "/ui/cost", "/ui/settings"):
        assert path not in page
        assert (await own(path)).status == 403, path
    assert (await own("/ui/s/anna/jobs")).status == 404
    assert "Jobs" in await own.page(f"/ui/s/{SPACE}/jobs")


async def test_hostile_names_errors_and_models_are_shown_as_text(window: Window) -> None:
    space = HOSTILE.replace("\u202e", "")
    quoted = HOSTILE.replace("'", "''")

    def spoil(tx: Tx) -> None:
        jobs.ensure_space(tx, space=space)
        for key in ("a", "b", "c"):
            jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key=f"{key}{space}", watermark=1)
        tx.script(f"UPDATE jobs SET last_error = '{quoted}', worker = '{quoted}', started_at = queued_at")
        for key, status in (("a", "abandoned"), ("b", "failed"), ("c", "running")):
            tx.script(f"UPDATE jobs SET status = '{status}' WHERE key LIKE '{key}%'")
        claim = ClaimedFact(fact=bethink.Fact(id="odd", text=HOSTILE), quotes=())
        reviews.put(tx, claim, space=space, status=ReviewStatus.PENDING, reason="x", detail=HOSTILE, effect="x")
        figures = {"calls": 1, "input_tokens": 1, "output_tokens": 1, "cost": 9}
        day = jobs.day_of(tx.now)
        tx.run("spend_on_model", day=day, kind=HOSTILE, model=HOSTILE, slot=0, **figures)
        tx.run("spend_on_space", day=day, space=space, **figures)

    await window.memory.backend.local().database.transact(spoil, space=space)
    for path in (
        "/ui", "/ui/spaces", "/ui/spaces?prefix=%3Cscript%3E", "/ui/jobs", "/ui/jobs?status=failed", "/ui/workers",
        "/ui/held", "/ui/cost?by=model", "/ui/cost?by=kind", "/ui/cost?by=space", "/ui/settings?q=%3Cscript%3E",
        "/ui/start",
    ):  # fmt: skip
        page = await window.page(path)
        assert wrong_in(page) == [], path
        assert "\u202e" not in page, path
        for link in re.findall(r'href="(/ui/s/[^"#]+)"', page):
            assert (await window(link.replace("&amp;", "&"))).status in (200, 303), link


async def test_the_tail_and_the_timeline_show_a_tools_text_as_data(window: Window, story: Story) -> None:
    for page in ("tail?paused=1", "timeline"):
        boxed = re.findall(r'class="said data"[^>]*>(?:<a[^>]*>)?([^<]*)', await window.page(f"/ui/s/{SPACE}/{page}"))
        assert [each[:21] for each in boxed] == ["Sandviken, 2 rooms. I"], page


async def test_tail_responds_when_a_message_arrives(window: Window, story: Story) -> None:
    page = await window.page(f"/ui/s/{SPACE}/tail")
    renewed = re.search(r'hx-get="([^"]+)"', page)
    assert renewed
    found: list[str] = []

    async def follow() -> None:
        found.append(await window.page(renewed[1].replace("&amp;", "&")))

    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(follow)
            await window.memory.space(SPACE).remember("The ferry leaves at noon.")
    assert re.search(r"happened fresh.*The ferry leaves at noon\.", found[0], re.DOTALL)
    assert "hx-get" not in await window.page(f"/ui/s/{SPACE}/tail?paused=1")


async def test_a_page_takes_the_same_statements_however_much_there_is(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = {
        "/ui": 90, "/ui/spaces": 6, "/ui/jobs": 9, "/ui/workers": 9, "/ui/held": 27, "/ui/cost": 6,
        "/ui/cost?by=space": 40, "/ui/settings": 5, "/ui/s/s000/jobs": 6, "/ui/s/s000/tail?paused=1": 16,
    }  # fmt: skip
    counts: list[dict[str, int]] = []
    database = window.memory.backend.local().database
    for first, last in ((0, 24), (24, 70)):
        for number in range(first, last):
            name = f"s{number:03}"
            await database.transact(lambda tx, name=name: _stuck(tx, name), space=name)
        found: dict[str, int] = {}
        for path in paths:
            await window.page(path)
            with counting(monkeypatch) as cost:
                await window.page(path)
            found[path] = cost.statements
        counts.append(found)

    assert counts[0] == counts[1]
    assert {path: count for path, count in counts[1].items() if count > paths[path]} == {}


def _stuck(tx: Tx, space: str) -> None:
    jobs.ensure_space(tx, space=space)
    jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key="ses_1", watermark=1)
    jobs.queue(tx, space=space, kind=JobKind.EXTRACT, key="ses_2", watermark=1)
    tx.script(f"UPDATE jobs SET status = 'abandoned', due_at = NULL WHERE space_id = '{space}' AND key = 'ses_1'")
    claim = ClaimedFact(fact=bethink.Fact(id="x", text="a claim"), quotes=())
    reviews.put(tx, claim, space=space, status=ReviewStatus.PENDING, reason="", detail="", effect=space)


def test_times_and_money_are_written_short() -> None:
    assert [duration(NOW, NOW + timedelta(seconds=each)) for each in (0.34, 2.4, 12, 200, 7_200, 300_000)] == [
        "340 ms", "2.4 s", "12 s", "3 min", "2 h", "3 days",
    ]  # fmt: skip
    assert [money(each) for each in (0, 4_200, 580_000, 12_300_000)] == ["$0", "$0.0042", "$0.58", "$12.30"]
