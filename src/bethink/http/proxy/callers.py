"""Who calls: the key, the space that it is about, the coding agent if it is one, and which conversation goes on."""

import json
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote

from starlette.datastructures import Headers

from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import id_at, mapping
from bethink.base.frozen import frozen
from bethink.errors import Invalid, StoreError
from bethink.http.auth import require, try_key
from bethink.http.context import Context
from bethink.http.problems import refused
from bethink.http.proxy.calls import ModelCallText, key_of
from bethink.http.proxy.in_time import InTime
from bethink.model.access import Caller, Door, KeyInfo, Scope
from bethink.model.records import checked_name, conversation_key

KEY, SPACE, CONVERSATION = "x-bethink-key", "x-bethink-space", "x-bethink-conversation"
_UNREACHABLE = 3_600.0
"""Seconds for which a key that was valid lets a call pass on, without memory, while keys cannot be looked up."""
_MOST = 200
_SUBAGENTS = ("x-claude-code-agent-id", "x-openai-subagent", "x-codex-parent-thread-id")
"""What coding agents send for their sub-agents: what these are told, the agent wrote."""
_SESSIONS = {claude_code.AGENT: "x-claude-code-session-id", codex.AGENT: "session-id"}


class KeyFound(NamedTuple):
    """A key, and whether it could be looked up just now; if not, memory is not asked."""

    info: KeyInfo
    reachable: bool


async def key_for(headers: Headers, context: Context, address: str, in_time: InTime) -> KeyFound:
    """Return the key of a call: from its own header, or else from where a client puts the model's key.

    While the database does not answer, a key is good that was valid in this process within the last hour.
    Refuses with 401 without a valid key, and with 429 an address that sent too many wrong ones.

    Raises:
        StoreError: if the database does not answer, and the key is not known.
    """
    text = _key_text(headers)
    fresh = context.keys.last_known(text, within=0.0)
    if fresh is not None:
        return KeyFound(fresh, reachable=True)
    look = partial(try_key, context.keys, context.guesses, address, text)
    known = context.keys.last_known(text, within=_UNREACHABLE)
    try:
        found = await (look() if known is None else in_time(look))  # a stranger waits
    except (StoreError, TimeoutError):
        if known is None:
            raise
        return KeyFound(known, reachable=False)
    if found is not None:
        return KeyFound(found, reachable=True)
    raise refused(
        401,
        "Unauthorized",
        "This needs a valid key of Bethink.",
        hint="Send it as X-Bethink-Key; `bethink keys create` makes one.",
    )


def _key_text(headers: Headers) -> str:
    given = headers.get(KEY)
    if given is None:
        bearer = headers.get("authorization", "")
        given = bearer[7:] if bearer[:7].lower() == "bearer " else headers.get("x-api-key", "")
    return given.strip() if len(given) <= _MOST else ""


@frozen
class MemoryUse:
    """Whose memory a call is about, and what its key allows: to add memory to it, and to capture it."""

    caller: Caller
    space: str
    recalls: bool
    captures: bool


def memory_for(headers: Headers, key: KeyInfo) -> MemoryUse:
    """Return the space of a call. Refuses with 403 a key that may neither read nor write, and with 404 a space that the
    key does not open.

    Raises:
        Invalid: if the call names no space, and the key is for several.
    """
    named = headers.get(SPACE)
    if named is not None:
        space = unquote(named)
    elif key.spaces is not None and len(key.spaces) == 1:
        [space] = key.spaces
    else:
        hint = "Send the name of the space as X-Bethink-Space, or use a key for one space."
        raise Invalid("the call names no space, and the key is not for a single one.", hint=hint)
    reads, writes = key.allows(Scope.READ), key.allows(Scope.WRITE)
    require(key, () if reads or writes else (Scope.READ,), space=checked_name(space, "a space"))
    return MemoryUse(caller=Caller(door=Door.HTTP, key=key), space=space, recalls=reads, captures=writes)


def agent_of(headers: Headers) -> str:
    """Return the coding agent that calls; empty for any other program."""
    program = headers.get("user-agent", "")
    if program.startswith("claude-cli/"):
        return claude_code.AGENT
    return codex.AGENT if program.startswith("codex") or headers.get("originator", "").startswith("codex") else ""


def is_subagent(headers: Headers) -> bool:
    """Return whether a coding agent calls for one of its sub-agents."""
    return any(name in headers for name in _SUBAGENTS)


def conversation_for(headers: Headers, call: ModelCallText, answers: dict[str, str]) -> str:
    """Return the name of the conversation: as the caller has it, or else by its first words, which stay the same.

    `answers` holds the conversations of earlier answers, for calls that only name the answer they follow.
    """
    named = headers.get(CONVERSATION)
    if named:
        return unquote(named)
    session = id_at(dict(headers), _SESSIONS.get(call.agent, ""))
    if session is not None:
        return conversation_key(call.agent, session)
    told = _told(call)
    if told is not None:
        return conversation_key("proxy", told)
    before = id_at({"id": call.value("previous_response_id")}, "id")
    if before is not None:
        return answers.get(before) or conversation_key("proxy", before)
    return conversation_key("proxy", key_of(call.lines[0].words if call.lines else "").partition(":")[2])


def _told(call: ModelCallText) -> str | None:
    """Return what the body has to tell conversations apart."""
    given = {name: call.value(name) for name in ("conversation", "prompt_cache_key", "metadata")}
    about = mapping(given["metadata"])
    found = (
        id_at(given, "conversation"),
        id_at(given, "conversation", "id"),
        *(id_at(about, name) for name in ("conversation_id", "session_id", "thread_id")),
        _session_within(about.get("user_id")),
        id_at(given, "prompt_cache_key"),
    )
    return next(filter(None, found), None)


def _session_within(user_id: object) -> str | None:
    """Return the session that Claude Code and its SDK write into the id of the user."""
    if not isinstance(user_id, str) or "session" not in user_id:
        return None
    try:
        return id_at(mapping(json.loads(user_id)), "session_id")
    except ValueError:
        return id_at({"id": user_id.partition("_session_")[2]}, "id")
