"""The caller of a model: key, space, coding agent and conversation."""

import json
from functools import partial
from typing import NamedTuple
from urllib.parse import unquote

from starlette.datastructures import Headers

from bethink.agents.transcripts import claude_code, codex
from bethink.agents.transcripts.lines import id_at, mapping
from bethink.base.frozen import frozen
from bethink.errors import DatabaseError, InvalidRequestError
from bethink.http.auth import require, try_key
from bethink.http.context import Context
from bethink.http.problems import refusal
from bethink.http.proxy.calls import ModelCallText, key_of
from bethink.http.proxy.deadline import DeadlineRunner
from bethink.model.access import Caller, Interface, KeyInfo, Scope
from bethink.model.records import checked_name, conversation_key

KEY, SPACE, CONVERSATION = "x-bethink-key", "x-bethink-space", "x-bethink-conversation"
_OFFLINE_SECONDS = 3_600.0
"""Seconds for which a known key allows calls, without memory, while the database is unavailable."""
_MAX_KEY = 200
_SUBAGENTS = ("x-claude-code-agent-id", "x-openai-subagent", "x-codex-parent-thread-id")
"""Headers of calls for sub-agents, whose prompts the coding agent wrote."""
_SESSIONS = {claude_code.AGENT: "x-claude-code-session-id", codex.AGENT: "session-id"}


class CallerKey(NamedTuple):
    """A key, and whether the database is reachable. If not, the call uses no memory."""

    info: KeyInfo
    reachable: bool


async def key_for(headers: Headers, context: Context, address: str, in_time: DeadlineRunner) -> CallerKey:
    """Return the key of a call: from `X-Bethink-Key`, or else from the header of the model's key.

    While the database is unavailable, keys stay valid for an hour after their last use in this process.
    Rejects an invalid key with 401, and an address with too many wrong keys with 429.

    Raises:
        DatabaseError: if the database is unavailable and the key is unknown.
    """
    text = _key_text(headers)
    fresh = context.keys.find_cached(text, within=0.0)
    if fresh is not None:
        return CallerKey(fresh, reachable=True)
    look_up = partial(try_key, context.keys, context.guesses, address, text)
    last_key = context.keys.find_cached(text, within=_OFFLINE_SECONDS)
    try:
        key = await (look_up() if last_key is None else in_time(look_up))  # an unknown key waits
    except (DatabaseError, TimeoutError):
        if last_key is None:
            raise
        return CallerKey(last_key, reachable=False)
    if key is not None:
        return CallerKey(key, reachable=True)
    raise refusal(
        401,
        "Unauthorized",
        "This needs a valid Bethink key.",
        hint="Send it as X-Bethink-Key. Create a key with `bethink admin keys create`.",
    )


def _key_text(headers: Headers) -> str:
    value = headers.get(KEY)
    if value is None:
        bearer = headers.get("authorization", "")
        value = bearer[7:] if bearer[:7].lower() == "bearer " else headers.get("x-api-key", "")
    return value.strip() if len(value) <= _MAX_KEY else ""


@frozen
class MemoryUse:
    """The space of a call, and whether its key allows recall and capture."""

    caller: Caller
    space: str
    recalls: bool
    captures: bool


def memory_for(headers: Headers, key: KeyInfo) -> MemoryUse:
    """Return the space of a call. Rejects a key that may neither read nor write with 403, and a space that the key does
    not allow with 404.

    Raises:
        InvalidRequestError: if the call has no space and the key is for several.
    """
    name = headers.get(SPACE)
    if name is not None:
        space = unquote(name)
    elif key.spaces is not None and len(key.spaces) == 1:
        [space] = key.spaces
    else:
        hint = "Send the name of the space as X-Bethink-Space, or use a key for one space."
        raise InvalidRequestError("The call has no space, and the key is not for a single space.", hint=hint)
    reads, writes = key.allows_scope(Scope.READ), key.allows_scope(Scope.WRITE)
    require(key, () if reads or writes else (Scope.READ,), space=checked_name(space, "a space"))
    return MemoryUse(caller=Caller(interface=Interface.HTTP, key=key), space=space, recalls=reads, captures=writes)


def agent_of(headers: Headers) -> str:
    """Return the name of the coding agent that calls; empty for other programs."""
    program = headers.get("user-agent", "")
    if program.startswith("claude-cli/"):
        return claude_code.AGENT
    return codex.AGENT if program.startswith("codex") or headers.get("originator", "").startswith("codex") else ""


def is_subagent(headers: Headers) -> bool:
    """Return whether a coding agent calls for one of its sub-agents."""
    return any(name in headers for name in _SUBAGENTS)


def conversation_for(headers: Headers, call: ModelCallText, answers: dict[str, str]) -> str:
    """Return the name of the conversation: from the caller, or else derived from its first message.

    `answers` maps answer IDs to conversations, for calls that only reference the previous answer.
    """
    name = headers.get(CONVERSATION)
    if name:
        return unquote(name)
    session = id_at(dict(headers), _SESSIONS.get(call.agent, ""))
    if session is not None:
        return conversation_key(call.agent, session)
    conversation_id = _conversation_id(call)
    if conversation_id is not None:
        return conversation_key("proxy", conversation_id)
    before = id_at({"id": call.value("previous_response_id")}, "id")
    if before is not None:
        return answers.get(before) or conversation_key("proxy", before)
    return conversation_key("proxy", key_of(call.lines[0].words if call.lines else "").partition(":")[2])


def _conversation_id(call: ModelCallText) -> str | None:
    """Return the ID of the conversation in the body, if any."""
    fields = {name: call.value(name) for name in ("conversation", "prompt_cache_key", "metadata")}
    about = mapping(fields["metadata"])
    candidates = (
        id_at(fields, "conversation"),
        id_at(fields, "conversation", "id"),
        *(id_at(about, name) for name in ("conversation_id", "session_id", "thread_id")),
        _session_in(about.get("user_id")),
        id_at(fields, "prompt_cache_key"),
    )
    return next(filter(None, candidates), None)


def _session_in(user_id: object) -> str | None:
    """Return the session that Claude Code and its SDK put into the user ID."""
    if not isinstance(user_id, str) or "session" not in user_id:
        return None
    try:
        return id_at(mapping(json.loads(user_id)), "session_id")
    except ValueError:
        return id_at({"id": user_id.partition("_session_")[2]}, "id")
