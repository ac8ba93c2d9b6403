"""Signing in with a key, with a link, and out again."""

import re
from collections.abc import Mapping, Sequence

from starlette.types import Scope

from bethink.http.auth import try_key
from bethink.http.context import Context
from bethink.http.problems import refused
from bethink.web.gate import COOKIE, SAFE, THEME, THEMES, cookie
from bethink.web.render import render_plain
from bethink.web.sessions import LONGEST, WebSessions
from bethink.web.visit import ROOT
from bethink.web.visit import address as link

_NEXT = re.compile(r"/ui(?:[/?][!-~]*)?")
_YEAR = 31_536_000
_MOST = 200
_NO_STORE = (b"cache-control", b"no-store")
_HTML = (b"content-type", b"text/html; charset=utf-8")

Fields = Mapping[str, Sequence[str]]
Answer = tuple[int, bytes, Sequence[tuple[bytes, bytes]]]


class SignIn:
    """The pages that need no session."""

    paths = frozenset({"/login", "/logout", "/enter", "/theme"})

    def __init__(self, context: Context, sessions: WebSessions) -> None:
        self._context = context
        self._sessions = sessions

    async def answer(
        self, path: str, method: str, *, query: Fields, form: Fields, session_id: str, theme: str, address: str
    ) -> Answer:
        """Answer a request for one of them, from an address."""
        if path == "/enter" and method in SAFE:
            return await self._enter(_first(query, "once"), session_id, theme)
        if path == "/login":
            if method in SAFE:
                return await self._asked(query, theme)
            return await self._given(form, session_id, theme, address)
        if method in SAFE:
            raise refused(405, "Method not allowed", "This address takes a form.", hint="Go back and use its button.")
        if path == "/theme":
            to = _first(form, "to")
            chosen = to if to in THEMES else ""
            return _goto(_next(_first(form, "next")), cookie(THEME, chosen, seconds=_YEAR))
        await self._sessions.end(session_id)
        return _goto(link("login"), cookie(COOKIE, ""))

    def stranger(self, scope: Scope, *, twin: bool) -> Answer:
        """Send who is not signed in to the sign-in page, and from there back."""
        if twin or scope["method"] not in SAFE:
            raise refused(401, "Not signed in", "Your session is over.", hint="Sign in, then try again.")
        raw = scope.get("raw_path", b"").partition(b"?")[0].decode("latin-1")
        query = scope["query_string"].decode("latin-1")
        back = f"{raw}?{query}" if query else raw
        # Just signed in, and there is no cookie: the browser did not keep it.
        lost = "signed_in=1" in query.split("&")
        return _goto(link("login", next=back if back != ROOT and not lost else "", lost="1" if lost else ""))

    async def _asked(self, query: Fields, theme: str) -> Answer:
        return (
            200,
            _page(theme, next=_next(_first(query, "next")), lost=bool(_first(query, "lost"))),
            [_NO_STORE, _HTML],
        )

    async def _given(self, form: Fields, session_id: str, theme: str, address: str) -> Answer:
        given, back = _first(form, "key").strip(), _next(_first(form, "next"))
        context = self._context
        key = await try_key(context.keys, context.guesses, address, given) if len(given) <= _MOST else None
        if key is None:
            return 401, _page(theme, next=back, wrong=True), [_NO_STORE, _HTML]
        await self._sessions.end(session_id)
        made = await self._sessions.begin(key.prefix)
        return _goto(back if back != ROOT else f"{ROOT}?signed_in=1", _kept(made))

    async def _enter(self, token: str, session_id: str, theme: str) -> Answer:
        made = await self._sessions.enter(token)
        if made is None:
            return 401, _page(theme, used=True), [_NO_STORE, _HTML]
        await self._sessions.end(session_id)
        # A page and no redirect: after a redirect that began elsewhere, browsers do not send a strict cookie.
        return 200, render_plain("entered.html", theme), [_NO_STORE, _HTML, _kept(made)]


def _page(theme: str, **values: object) -> bytes:
    given: dict[str, object] = {"next": ROOT, "lost": False, "wrong": False, "used": False}
    return render_plain("login.html", theme, **(given | values))


def _kept(session_id: str) -> tuple[bytes, bytes]:
    return cookie(COOKIE, session_id, seconds=int(LONGEST.total_seconds()))


def _goto(where: str, *headers: tuple[bytes, bytes]) -> Answer:
    return 303, b"", [_NO_STORE, (b"location", where.encode()), *headers]


def _first(fields: Fields, name: str) -> str:
    return fields.get(name, ("",))[0]


def _next(given: str) -> str:
    """Return where to go on: only to a page of the window."""
    return given if _NEXT.fullmatch(given) else ROOT
