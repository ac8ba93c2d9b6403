"""Off: the backend of a disabled memory. It stores nothing and finds nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_origin

from bethink.errors import DatabaseUnavailableError, NotFoundError
from bethink.host.backend import Backend
from bethink.model.answers import Answer, Refusal
from bethink.model.changes import LearnedSession
from bethink.model.ids import new_id
from bethink.model.operations import memory, sessions
from bethink.model.operations.base import Operation, RequestT, ResultT
from bethink.model.paging import Page
from bethink.model.recall import ContextBlock, RecallResult, Remembered
from bethink.model.records import Deletion, SessionInfo

if TYPE_CHECKING:
    from bethink.host.local import Local
    from bethink.memory.log.live import LiveHistory

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_EMPTY: tuple[Any, ...] = (list, dict, bool, int, str, Page)
_REASON = "Memory is disabled"


class Off(Backend):
    """Behaves like an empty memory, so that programs also work with memory disabled."""

    async def run(self, operation: Operation[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Return the result of an empty memory.

        Raises:
            NotFoundError: for an operation that returns one item by name.
            DatabaseUnavailableError: for an operation without an empty result, such as creating a key.
        """
        build_result = _RESULTS.get(operation.name)
        if build_result is not None:
            return build_result(space, request)
        empty: Any = get_origin(operation.result) or operation.result
        if empty in _EMPTY:
            return empty()
        if empty is None or type(None) in getattr(operation.result, "__args__", ()):
            return None  # pyright: ignore[reportReturnType]
        if operation.http_method == "GET":
            raise NotFoundError(f"{_REASON}, so nothing is stored.", hint="Set `enabled = true`.")
        raise DatabaseUnavailableError(f"{_REASON}.", hint="Set `enabled = true`.")

    def local(self) -> "Local":
        """Raise `DatabaseUnavailableError`: there is no database in this process."""
        raise DatabaseUnavailableError(f"{_REASON}.", hint="Set `enabled = true`.")

    def live(self, space: str, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return a history in memory that is never stored."""
        from bethink.memory.log.live import LiveHistory  # noqa: PLC0415 - most programs never need it

        del space, agent
        return LiveHistory(None, conversation)


def _session(space: str, session_id: str, conversation: str = "", agent: str = "") -> SessionInfo:
    return SessionInfo(
        space=space,
        id=session_id,
        conversation_id=conversation,
        agent_id=agent,
        ordinal=1,
        is_learned_from=False,
        created_at=_NEVER,
    )


def _remember_nothing(space: str, request: memory.RememberRequest) -> Remembered:
    session_id = request.session_id or new_id("ses")
    return Remembered(session=_session(space, session_id, request.conversation, request.agent))


def _unchanged_session(space: str, request: sessions.SessionRequest) -> SessionInfo:
    return _session(space, request.session_id)


_RESULTS: dict[str, Callable[[str, Any], Any]] = {
    memory.REMEMBER.name: _remember_nothing,
    memory.RECALL.name: lambda _, request: RecallResult(question=request.question, note=_REASON),
    memory.ASK.name: lambda _, request: Answer(question=request.question, refusal=Refusal.NOTHING_FOUND, note=_REASON),
    memory.CONTEXT.name: lambda _, __: ContextBlock(),
    memory.FORGET.name: lambda _, request: Deletion(dry_run=request.dry_run),
    sessions.OPEN_SESSION.name: lambda space, request: _session(
        space, new_id("ses"), request.conversation, request.agent
    ),
    sessions.GET_SESSION.name: _unchanged_session,
    sessions.RESTART_SESSION.name: _unchanged_session,
    sessions.END_SESSION.name: _unchanged_session,
    sessions.STRIP_CITATIONS.name: lambda _, request: request.reply,
    "session.wait_until_learned": lambda _, request: LearnedSession(session_id=request.session_id, done=True, until=0),
}
