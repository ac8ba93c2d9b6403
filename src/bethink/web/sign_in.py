"""Sign-in with a key or a link, and sign-out."""

import re
from collections.abc import Mapping, Sequence

from starlette.types import Scope

from bethink.http.auth import try_key
from bethink.http.context import Context
from bethink.http.problems import refusal
from bethink.web.render import render_plain
from bethink.web.security import COOKIE, SAFE, THEME, THEMES, cookie
from bethink.web.sessions import MAX_AGE, WebSessions
from bethink.web.visit import ROOT
from bethink.web.visit import address as link

_NEXT = re.compile(r"/ui(?:[/?][!-~]*)?")
_YEAR = 31_536_000
_MAX_KEY_LENGTH = 200
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
        """Answer a request for one of these pages."""
        if path == "/enter" and method in SAFE:
            return await self._sign_in_with_link(_first(query, "once"), session_id, theme)
        if path == "/login":
            if method in SAFE:
                return await self._login_page(query, theme)
            return await self._sign_in_with_key(form, session_id, theme, address)
        if method in SAFE:
            raise refusal(405, "Method not allowed", "Only forms are accepted.", hint="Use the page's button.")
        if path == "/theme":
            to = _first(form, "to")
            chosen = to if to in THEMES else ""
            return _redirect(_next(_first(form, "next")), cookie(THEME, chosen, seconds=_YEAR))
        await self._sessions.end(session_id)
        return _redirect(link("login"), cookie(COOKIE, ""))

    def require_sign_in(self, scope: Scope, *, twin: bool) -> Answer:
        """Redirect to the sign-in page, and from there back. Raise 401 for JSON requests and forms."""
        if twin or scope["method"] not in SAFE:
            raise refusal(401, "Not signed in", "Your session has ended.", hint="Sign in, then try again.")
        raw = scope.get("raw_path", b"").partition(b"?")[0].decode("latin-1")
        query = scope["query_string"].decode("latin-1")
        back = f"{raw}?{query}" if query else raw
        # Just signed in, but there is no cookie: the browser did not keep it.
        cookie_lost = "signed_in=1" in query.split("&")
        return _redirect(
            link("login", next=back if back != ROOT and not cookie_lost else "", lost="1" if cookie_lost else "")
        )

    async def _login_page(self, query: Fields, theme: str) -> Answer:
        return (
            200,
            _page(theme, next=_next(_first(query, "next")), lost=bool(_first(query, "lost"))),
            [_NO_STORE, _HTML],
        )

    async def _sign_in_with_key(self, form: Fields, session_id: str, theme: str, address: str) -> Answer:
        key_text, back = _first(form, "key").strip(), _next(_first(form, "next"))
        context = self._context
        key = (
            await try_key(context.keys, context.guesses, address, key_text)
            if len(key_text) <= _MAX_KEY_LENGTH
            else None
        )
        if key is None:
            return 401, _page(theme, next=back, wrong=True), [_NO_STORE, _HTML]
        await self._sessions.end(session_id)
        new_id = await self._sessions.begin(key.prefix)
        return _redirect(back if back != ROOT else f"{ROOT}?signed_in=1", _session_cookie(new_id))

    async def _sign_in_with_link(self, token: str, session_id: str, theme: str) -> Answer:
        new_id = await self._sessions.enter(token)
        if new_id is None:
            return 401, _page(theme, used=True), [_NO_STORE, _HTML]
        await self._sessions.end(session_id)
        # A page, not a redirect: after a redirect that started on another site, browsers do not send a strict cookie.
        return 200, render_plain("entered.html", theme), [_NO_STORE, _HTML, _session_cookie(new_id)]


def _page(theme: str, **values: object) -> bytes:
    defaults: dict[str, object] = {"next": ROOT, "lost": False, "wrong": False, "used": False}
    return render_plain("login.html", theme, **(defaults | values))


def _session_cookie(session_id: str) -> tuple[bytes, bytes]:
    return cookie(COOKIE, session_id, seconds=int(MAX_AGE.total_seconds()))


def _redirect(target: str, *headers: tuple[bytes, bytes]) -> Answer:
    return 303, b"", [_NO_STORE, (b"location", target.encode()), *headers]


def _first(fields: Fields, name: str) -> str:
    return fields.get(name, ("",))[0]


def _next(target: str) -> str:
    """Return the address to continue at. Only pages of the web UI are allowed."""
    return target if _NEXT.fullmatch(target) else ROOT
