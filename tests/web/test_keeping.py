"""Context log, deletion with a preview, and partial approval: the pages that maintain a memory."""

import re
from dataclasses import replace

import bethink
from bethink.errors import NotFoundError
from bethink.model.consolidation import ChangeStatus
from bethink.model.facts import Quote
from bethink.model.reviews import ReviewStatus
from bethink.model.working import Event, Mode
from bethink.store import facts
from bethink.store.db import Tx
from tests.conftest import said
from tests.facts_kit import learn_fact
from tests.web.kit import SPACE, Story, Window

HERE = f"/ui/s/{SPACE}"


def rows(page: str) -> list[str]:
    """The rows of a list, as text."""
    found = re.findall(r"<li class=\"\w*\"><p class=\"said\".*?</li>", page, re.DOTALL)
    return [" ".join(re.sub("<[^>]+>", " ", each).split()) for each in found]


async def test_context_log_is_paged_with_the_shown_text(window: Window, story: Story) -> None:
    here = window.memory.space(SPACE)
    for number in range(25):
        await here.facts.save(bethink.Fact(id=f"n{number}", text=f"Number {number} is a tram."))
        await here.context(session_id=story.asking)

    first = await window.page(f"{HERE}/shown")
    assert first.count('<li class="shown">') == 20
    following = re.search(r'href="([^"]*after=[^"]*)"', first)
    assert following
    second = await window.page(following[1].replace("&amp;", "&"))
    assert second.count('<li class="shown">') == 7
    assert "in search results" in second
    assert "Mira lives in Bergen." in second

    told = await here.admin.context_log.list(session_id=story.asking, limit=1)
    one = await window.page(f"{HERE}/shown/{told[0].id}")
    assert "Number 24 is a tram." in one
    assert one.count('<span class="of">') == len(told[0].memories) > 4
    assert (await window(f"{HERE}/shown/shw_nothing")).status == 404


async def test_context_log_shows_the_version_until_it_is_deleted(window: Window, story: Story) -> None:
    here = window.memory.space(SPACE)
    await here.correct(f"fact:{story.fact}:2", "Mira lives in Voss.")

    assert "Mira lives in Bergen." in await window.page(f"{HERE}/shown?session={story.asking}")
    await here.forget(f"fact:{story.fact}:1")
    page = await window.page(f"{HERE}/shown?session={story.asking}")
    assert "Mira lives in Bergen." not in page


async def _learn(window: Window, name: str, content: str, session: str) -> None:
    """Store a fact as extraction does, from the first message of a session."""
    quotes = (Quote(session_id=session, number=1, text=content),)
    fact, support = bethink.Fact(id=name, text=content), facts.Support(f"kit:{name}:{session}", content, quotes)

    def body(tx: Tx) -> None:
        if facts.find(tx, space=SPACE, fact_id=name) is None:
            learn_fact(tx, fact, support, space=SPACE)
        else:
            facts.add_support(tx, space=SPACE, fact_id=name, support=support)

    await window.memory.backend.local().database.transact(body, space=SPACE)


async def test_dry_run_lists_deleted_and_otherwise_supported_items(window: Window) -> None:
    here = window.memory.space(SPACE)
    one, two = await here.session("one"), await here.session("two")
    await one.append(said("Tea at five. Figs on Sunday."))
    await two.append(said("Tea at five."))
    await _learn(window, "tea", "Tea is at five.", two.id)
    await _learn(window, "tea", "Tea is at five.", one.id)
    await _learn(window, "figs", "Figs are on Sunday.", one.id)

    page = await window.page(f"{HERE}/erasure?session={one.id}")
    found = rows(page)
    assert any("Tea at five. Figs on Sunday." in each and each.endswith("will be deleted") for each in found)
    assert any("Figs are on Sunday." in each and each.endswith("will be deleted") for each in found)
    assert any("Tea is at five." in each and "may remain" in each for each in found)
    assert "1 message, 1 fact." in page

    total = re.search(r'name="total" value="(\d+)"', page)
    assert total
    done = await window.send(f"{HERE}/erasure/forget", {"session": one.id, "total": total[1]})
    assert done.status == 200, done.body
    assert "1 message, 1 fact." in done.body.decode()
    assert [each.id for each in await here.facts.list()] == ["tea"]


async def test_deletion_fails_if_items_changed_since_the_preview(window: Window, story: Story) -> None:
    here = window.memory.space(SPACE)
    total = re.search(r'name="total" value="(\d+)"', await window.page(f"{HERE}/erasure?session={story.session}"))
    assert total
    await (await here.session("chat:mira:home")).append(said("One more thing."))

    form = {"session": story.session, "total": total[1]}
    assert (await window.send(f"{HERE}/erasure/forget", form)).status == 409
    assert "One more thing." in await window.page(f"{HERE}/sessions/{story.session}")


async def test_space_deletion_needs_its_name_typed(window: Window, story: Story) -> None:
    page = await window.page(f"{HERE}/erasure?everything=1")
    total = re.search(r'name="total" value="(\d+)"', page)
    assert total
    form = {"everything": "1", "total": total[1], "name": "someone-else"}
    assert (await window.send(f"{HERE}/erasure/forget", form)).status == 422
    assert len(await window.memory.space(SPACE).facts.list()) == 2
    assert (await window.send(f"{HERE}/erasure/forget", form | {"name": SPACE})).status == 200
    assert "Mira" not in await window.page(f"{HERE}/facts")


async def test_fact_deletion_includes_all_versions_of_one_target(window: Window, story: Story) -> None:
    page = await window.page(f"{HERE}/erasure?ref=fact:{story.fact}:2")
    assert "Mira lives in Oslo." in page
    assert "Mira lives in Bergen." in page
    both = await window(f"{HERE}/erasure?ref=fact:{story.fact}:2&session={story.session}")
    assert both.status == 422
    await window.send(f"{HERE}/erasure/forget", {"ref": f"fact:{story.fact}:2", "total": "1"})
    try:
        await window.memory.space(SPACE).facts.get(story.fact)
    except NotFoundError:
        return
    raise AssertionError("the fact is still there")


async def test_only_the_chosen_claims_are_decided_with_one_reason(window: Window, story: Story) -> None:
    reviews = window.memory.space(SPACE).reviews
    newest, other = await reviews.list()
    assert newest.id == story.review
    await window.send(f"{HERE}/review/decide", {"does": "approve", "note": "x"})
    assert len(await reviews.list()) == 2

    done = await window.send(f"{HERE}/review/decide", {"review": other.id, "does": "reject", "note": "nobody saw it"})

    assert done.headers["location"].endswith("told=rejected")
    assert [each.id for each in await reviews.list()] == [newest.id]
    [rejected] = await reviews.list(status=ReviewStatus.REJECTED)
    assert rejected.note == "nobody saw it"


async def test_a_change_set_is_applied_in_part_and_in_other_words(window: Window, story: Story) -> None:
    documents = window.memory.space(SPACE).documents
    page = await window.page(f"{HERE}/review?run=run_spring&edit=~/memory/pixel")
    assert "Afraid of umbrellas." in page
    assert page.count('name="path"') == 2
    form = {"part": "1", "path": "~/memory/pixel", "edited": "~/memory/pixel", "text": "Afraid of rain.\r\n"}

    assert (await window.send(f"{HERE}/changes/run_spring/approve", form)).status == 303

    made = await documents.find("~/memory/pixel")
    assert made is not None
    assert made.body == "Afraid of rain.\n"
    assert (await documents.get(story.document)).version == 3
    assert [each.status for each in await documents.changes.list()] == [ChangeStatus.APPLIED]


async def test_outdated_change_is_marked_before_approval(window: Window, story: Story) -> None:
    documents = window.memory.space(SPACE).documents
    current = await documents.get(story.document)
    assert "document changed" not in await window.page(f"{HERE}/review")
    await documents.update(story.document, replace(current.draft(), body="By hand."), if_version=3, reason="by hand")

    page = await window.page(f"{HERE}/review")

    assert page.count("document changed: cannot be applied") == 1
    assert page.count('form="apply-run_spring" checked') == 1


async def test_a_prompt_says_when_pinned_text_needs_more_than_the_budget(window: Window, story: Story) -> None:
    page = f"{HERE}/threads/{story.thread}/prompt?budget="

    assert "Pinned text exceeds the budget" in await window.page(f"{page}120")
    assert "Pinned text exceeds the budget" not in await window.page(f"{page}400")


async def test_a_long_thread_is_read_around_one_state_only(window: Window, story: Story) -> None:
    working = window.memory.backend.local().working(SPACE)
    thread = await working.open_thread("long", mode=Mode.AUTO)
    for number in range(200):
        await working.dispatch(thread.id, Event(type="USER_MESSAGE", payload={"text": f"Number {number}."}))

    last = await window.page(f"{HERE}/threads/long")
    assert "state 200 of 200" in last
    assert "81 to 200 of 201" in last
    assert "since state 199" in last
    early = await window.page(f"{HERE}/threads/long?at=10&against=190")
    assert "0 to 119 of 201" in early
    assert "since state 190" in early
    compared = re.search(r"([+-]\d+) since state 190", early)
    states = await window.memory.space(SPACE).threads.states("long")
    assert compared
    assert int(compared[1]) == states[10].total_tokens - states[190].total_tokens
