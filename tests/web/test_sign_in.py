"""Signing in to the web UI: with a key or a link, and never with its cookie elsewhere."""

from dataclasses import replace
from datetime import timedelta
from urllib.parse import urlencode

import bethink
from bethink.model.access import Scope
from bethink.store.db import Database, Tx
from bethink.web.security import COOKIE, CSP
from bethink.web.sessions import LINK_LIFETIME, MAX_AGE, MAX_IDLE, WebSessions
from faults.asgi import ask
from tests.conftest import FakeClock
from tests.web.kit import SPACE, Story, Window

SAME = {"sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded"}


async def test_a_key_signs_in_once_and_from_then_on_a_cookie_does(window: Window) -> None:
    answer = await ask(window.app, "POST", "/ui/login", body=f"key={window.key}".encode(), headers=SAME)

    assert (answer.status, answer.headers["location"]) == (303, "/ui?signed_in=1")
    kept, *attributes = answer.headers["set-cookie"].split("; ")
    assert kept.startswith(f"{COOKIE}=")
    assert set(attributes) >= {"Path=/", "HttpOnly", "Secure", "SameSite=Strict"}
    signed = replace(window, session_id=kept.removeprefix(f"{COOKIE}="))
    assert (await signed("/ui")).status == 200
    assert window.key not in answer.body.decode() + str(answer.headers)


async def test_the_database_holds_neither_the_key_nor_the_id_of_the_session(window: Window) -> None:
    sessions = WebSessions(window.memory.backend.local().database)
    token = await sessions.link(window.key[3:15])
    entered = await sessions.enter(token)
    assert entered is not None

    held = await window.memory.backend.local().database.transact(_every_row)
    assert held
    for secret in (window.key, window.session_id, token, entered):
        assert secret not in str(held)


def _every_row(tx: Tx) -> list[object]:
    found = tx.all("list_web_sessions", now=tx.now - timedelta(days=1), idle=tx.now - timedelta(days=1), limit=100)
    return [dict(row) for row in found]


async def test_a_wrong_key_is_refused_in_words_and_sets_no_cookie(window: Window) -> None:
    for key in ("", "bt_000000000000." + "x" * 43, "x" * 5_000, "<script>alert(1)</script>"):
        answer = await ask(window.app, "POST", "/ui/login", body=urlencode({"key": key}).encode(), headers=SAME)

        assert answer.status == 401
        assert "Invalid, expired or revoked key" in answer.body.decode()
        assert "set-cookie" not in answer.headers
        assert "<script>alert" not in answer.body.decode()


async def test_anonymous_visitor_is_sent_to_sign_in_and_back(window: Window) -> None:
    stranger = replace(window, session_id="")
    answer = await stranger("/ui/s/mira/recall?q=Where%3F")

    assert answer.status == 303
    assert answer.headers["location"] == "/ui/login?next=%2Fui%2Fs%2Fmira%2Frecall%3Fq%3DWhere%253F"
    assert (await stranger("/ui/s/mira/recall.json?q=x")).status == 401
    assert (await stranger.send("/ui/s/mira/tests/add")).status == 401


async def test_signing_in_leads_only_to_pages_of_the_window(window: Window) -> None:
    for given in ("https://evil.example/", "//evil.example", "/v1/spaces", "/uix", "/ui\\@evil", "/ui/ x"):
        body = urlencode({"key": window.key, "next": given}).encode()
        answer = await ask(window.app, "POST", "/ui/login", body=body, headers=SAME)

        assert answer.headers["location"].startswith("/ui?"), given


async def test_browser_without_cookies_gets_a_message(window: Window) -> None:
    answer = await replace(window, session_id="")("/ui?signed_in=1")

    assert "lost=1" in answer.headers["location"]
    assert "did not keep the cookie" in await window.page(answer.headers["location"])


async def test_a_link_signs_in_a_single_time(window: Window) -> None:
    token = await WebSessions(window.memory.backend.local().database).link(window.key[3:15])

    first = await replace(window, session_id="")(f"/ui/enter?once={token}")
    second = await replace(window, session_id="")(f"/ui/enter?once={token}")

    assert first.status == 200
    signed = replace(window, session_id=first.headers["set-cookie"].partition(";")[0].removeprefix(f"{COOKIE}="))
    assert (await signed("/ui")).status == 200
    assert second.status == 401
    assert "already used" in second.body.decode()


async def test_links_and_sessions_end_in_time(database: Database, clock: FakeClock, memory: bethink.Memory) -> None:
    sessions = WebSessions(database)
    prefix = (await memory.admin.keys.create("me", [Scope.READ])).info.prefix
    token = await sessions.link(prefix)
    clock.time += LINK_LIFETIME
    assert await sessions.enter(token) is None

    idle = await sessions.begin(prefix)
    clock.time += MAX_IDLE - timedelta(minutes=2)
    assert await sessions.find(idle) is not None  # and it was seen
    clock.time += MAX_IDLE - timedelta(minutes=2)
    assert await sessions.find(idle) is not None
    clock.time += MAX_IDLE
    assert await sessions.find(idle) is None

    busy = await sessions.begin(prefix)
    for _ in range(MAX_AGE // (MAX_IDLE / 2)):
        assert await sessions.find(busy) is not None
        clock.time += MAX_IDLE / 2
    assert await sessions.find(busy) is None


async def test_a_revoked_key_ends_its_sessions_and_its_links(window: Window) -> None:
    another = await window.signed_in()
    token = await WebSessions(window.memory.backend.local().database).link(another.key[3:15])
    assert (await another("/ui")).status == 200

    await window.memory.admin.keys.revoke(another.key[3:15])

    assert (await another("/ui")).status == 303
    assert (await window(f"/ui/enter?once={token}")).status == 401
    assert (await window("/ui")).status == 200


async def test_signing_out_ends_the_session(window: Window) -> None:
    another = await window.signed_in()

    answer = await another.send("/ui/logout")

    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert (await another("/ui")).status == 303


async def test_the_cookie_is_worth_nothing_under_v1(window: Window, story: Story) -> None:
    cookie = {"cookie": f"{COOKIE}={window.session_id}"}
    for path in ("/v1/spaces", f"/v1/spaces/{SPACE}/facts", "/metrics", "/v1/keys"):
        assert (await ask(window.app, "GET", path, headers=cookie)).status == 401
    own = {**cookie, "origin": "http://localhost"}
    assert (await ask(window.app, "POST", "/v1/learn", body={}, headers=own)).status == 403


CASES: list[tuple[dict[str, str], bool]] = [
    ({"sec-fetch-site": "same-origin"}, True),
    ({"sec-fetch-site": "none"}, True),
    ({"sec-fetch-site": "same-origin", "origin": "null"}, True),
    ({"sec-fetch-site": "same-site"}, False),
    ({"sec-fetch-site": "cross-site"}, False),
    ({"sec-fetch-site": "cross-site", "origin": "http://localhost"}, False),
    ({"origin": "http://localhost"}, True),
    ({"origin": "http://localhost:9"}, False),
    ({"origin": "http://evil.example"}, False),
    ({"origin": "http://localhost.evil.example"}, False),
    ({"origin": "null"}, False),
    ({"origin": "http://[bad"}, False),
    ({}, False),
]


async def test_only_pages_of_the_window_may_change_anything(window: Window) -> None:
    form = {"cookie": f"{COOKIE}={window.session_id}", "content-type": "application/x-www-form-urlencoded"}
    for headers, allowed in CASES:
        answer = await ask(window.app, "POST", "/ui/theme", body=b"to=dark", headers={**form, **headers})

        assert answer.status == (303 if allowed else 403), headers
        assert answer.headers["content-security-policy"] == CSP


async def test_body_that_is_not_a_form_is_rejected(window: Window) -> None:
    given = {**SAME, "content-type": "application/json", "cookie": f"{COOKIE}={window.session_id}"}
    assert (await ask(window.app, "POST", "/ui/theme", body=b"{}", headers=given)).status == 415
    long = await window.send("/ui/theme", {"to": "x" * 1_100_000})
    assert long.status == 413
    many = await window.send("/ui/theme", {f"f{number}": "" for number in range(101)})
    assert many.status == 422
