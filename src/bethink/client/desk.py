"""The working memory of a space on a server."""

from typing import TYPE_CHECKING

from bethink.client.place import AGAIN, Place
from bethink.model.ids import new_id
from bethink.model.working import Event, Mode, State, StateInfo, Thread

if TYPE_CHECKING:  # what it returns is only loaded by who asks for it
    from bethink.working.desk import DispatchResult, StepResult
    from bethink.working.prompt import Prompt
    from bethink.working.travel import StateDiff


class RemoteDesk:
    """Working memory of one space of a server; `Memory.desk` says what each verb does."""

    def __init__(self, place: Place, *, space: str) -> None:
        self.space = space
        self._place = place

    async def open_thread(
        self, thread_id: str | None = None, *, session_id: str | None = None, mode: Mode | None = None
    ) -> Thread:
        """Return a thread, making it if there is none by this id."""
        name = thread_id or new_id("thread")
        return await self._place.send(Thread, "threads", how=AGAIN, thread_id=name, session_id=session_id, mode=mode)

    async def get_thread(self, thread_id: str) -> Thread:
        """Read a thread as it stands now."""
        return await self._place.get(Thread, "threads", thread_id)

    async def threads(self, *, limit: int = 100, after: str = "") -> list[Thread]:
        """Return the threads of the space by their ids, from after one on."""
        return await self._place.pages(Thread, "threads", limit=limit, start=after)

    async def delete_thread(self, thread_id: str) -> None:
        """Remove a thread and all it holds."""
        await self._place.remove("threads", thread_id, how=AGAIN)

    async def get_mode(self, thread_id: str) -> Mode:
        """Say how a thread takes its events."""
        return (await self.get_thread(thread_id)).mode

    async def set_mode(self, thread_id: str, mode: Mode) -> "DispatchResult":
        """Change how a thread takes its events; back to auto processes what has been waiting."""
        from bethink.working.desk import DispatchResult  # noqa: PLC0415 - see above

        return await self._place.send(DispatchResult, "threads", thread_id, "mode", method="PUT", how=AGAIN, mode=mode)

    async def dispatch(self, thread_id: str, event: Event) -> "DispatchResult":
        """Queue an event; in auto mode process it, and what its length makes necessary, at once."""
        from bethink.working.desk import DispatchResult  # noqa: PLC0415 - see above

        return await self._place.send(DispatchResult, "threads", thread_id, "events", event=event)

    async def step(self, thread_id: str) -> "StepResult":
        """Process one event; with none waiting, truncate if that is due; else compact if that is due."""
        from bethink.working.desk import StepResult  # noqa: PLC0415 - see above

        return await self._place.send(StepResult, "threads", thread_id, "step")

    async def prompt(self, thread_id: str, *, budget: int) -> "Prompt":
        """Return the current state as messages within a token budget, with a report on every chunk."""
        from bethink.working.prompt import Prompt  # noqa: PLC0415 - see above

        return await self._place.get(Prompt, "threads", thread_id, "prompt", budget=budget)

    async def has_pending_compaction(self, thread_id: str) -> bool:
        """Say whether a compaction is due."""
        return (await self.get_thread(thread_id)).pending_compaction

    async def has_pending_truncation(self, thread_id: str) -> bool:
        """Say whether a truncation is due."""
        return (await self.get_thread(thread_id)).pending_truncation

    async def current_state(self, thread_id: str) -> State:
        """Return the current state with its chunks."""
        return await self.state_at(thread_id, (await self.get_thread(thread_id)).state_number)

    async def history(self, thread_id: str) -> list[StateInfo]:
        """Return every state a thread has had, without the chunks."""
        return await self._place.items(StateInfo, "threads", thread_id, "states")

    async def state_at(self, thread_id: str, number: int) -> State:
        """Return one state of a thread with its chunks."""
        return await self._place.get(State, "threads", thread_id, "states", str(number))

    async def diff(self, thread_id: str, before: int, after: int) -> "StateDiff":
        """Compare two states of a thread."""
        from bethink.working.travel import StateDiff  # noqa: PLC0415 - see above

        return await self._place.get(StateDiff, "threads", thread_id, "diff", before=before, after=after)

    async def fork(self, thread_id: str, *, at: int, into: str | None = None, mode: Mode | None = None) -> Thread:
        """Open a new thread that begins where this one was at a state."""
        return await self._place.send(Thread, "threads", thread_id, "fork", at=at, into=into, mode=mode)
