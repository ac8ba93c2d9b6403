"""Off: a memory that is switched off. It stores nothing, finds nothing and never fails."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_origin

from bethink.errors import NotFound, Unavailable
from bethink.host.backend import Backend
from bethink.model.answers import MemoryAnswer, Refusal
from bethink.model.changes import SessionLearnt
from bethink.model.ids import new_id
from bethink.model.operations import memory, sessions
from bethink.model.operations.base import RequestT, ResultT, Verb
from bethink.model.recall import Block, Recall, Remembered
from bethink.model.records import Forgotten, SessionInfo

if TYPE_CHECKING:
    from bethink.host.local import Local
    from bethink.memory.log.live import LiveHistory

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_EMPTY: tuple[Any, ...] = (list, dict, bool, int, str)
_WHY = "memory is switched off"


class Off(Backend):
    """Answers like an empty memory, so that code written for a memory also works without it."""

    async def run(self, verb: Verb[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Return what an empty memory returns.

        Raises:
            NotFound: for a verb that returns one item by its name.
            Unavailable: for a verb whose result would have to be made up, such as a new key.
        """
        made = _RESULTS.get(verb.name)
        if made is not None:
            return made(space, request)
        empty: Any = get_origin(verb.result) or verb.result
        if empty in _EMPTY:
            return empty()
        if empty is None or type(None) in getattr(verb.result, "__args__", ()):
            return None  # pyright: ignore[reportReturnType]
        if verb.http_method == "GET":
            raise NotFound(f"{_WHY}: nothing is stored here.", hint="Set enabled = true.")
        raise Unavailable(f"{_WHY}.", hint="Set enabled = true.")

    def local(self) -> "Local":
        """Raise `Unavailable`: there is no database in this process."""
        raise Unavailable(f"{_WHY}.", hint="Set enabled = true.")

    def live(self, space: str, conversation: str, *, agent: str = "assistant") -> "LiveHistory":
        """Return a history that is kept at hand and stored nowhere."""
        from bethink.memory.log.live import LiveHistory  # noqa: PLC0415 - most programs never ask for it

        del space, agent
        return LiveHistory(None, conversation)


def _session(space: str, session_id: str, conversation: str = "", agent: str = "") -> SessionInfo:
    return SessionInfo(
        space=space,
        id=session_id,
        conversation_id=conversation,
        agent_id=agent,
        ordinal=1,
        learns=False,
        created_at=_NEVER,
    )


def _remembered(space: str, request: memory.RememberRequest) -> Remembered:
    session_id = request.session_id or new_id("ses")
    return Remembered(session=_session(space, session_id, request.conversation, request.agent))


def _same(space: str, request: sessions.SessionRequest) -> SessionInfo:
    return _session(space, request.session_id)


_RESULTS: dict[str, Callable[[str, Any], Any]] = {
    memory.REMEMBER.name: _remembered,
    memory.RECALL.name: lambda _, request: Recall(question=request.question, missing=_WHY),
    memory.ASK.name: lambda _, request: MemoryAnswer(
        question=request.question, refused=Refusal.NOTHING_FOUND, missing=_WHY
    ),
    memory.CONTEXT.name: lambda _, __: Block(),
    memory.FORGET.name: lambda _, request: Forgotten(dry_run=request.dry_run),
    sessions.OPEN_SESSION.name: lambda space, request: _session(
        space, new_id("ses"), request.conversation, request.agent
    ),
    sessions.GET_SESSION.name: _same,
    sessions.RESET.name: _same,
    sessions.COMPACTED.name: _same,
    sessions.END.name: _same,
    sessions.CITED.name: lambda _, request: request.answer,
    "session.learnt": lambda _, request: SessionLearnt(session_id=request.session_id, done=True, until=0),
}
