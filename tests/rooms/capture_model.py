"""A plain Python model of capture: the behavior that both databases must match."""

from dataclasses import dataclass, field

THRESHOLD = 5


class Refused(Exception):
    """The call must fail and change nothing."""


@dataclass
class ModelSession:
    id: str
    key: tuple[str, str, str]
    learns: bool
    ended: bool = False
    last: int = 0
    messages: dict[int, str] = field(default_factory=dict[int, str])
    mark: int | None = None
    marked_at: int | None = None
    processed: int | None = None

    @property
    def max_number(self) -> int | None:
        return max(self.messages, default=None)

    def count_since(self, number: int) -> int:
        return sum(each > number for each in self.messages)


@dataclass
class Model:
    """Sessions by id, conversations by (space, agent, chat), and the moment as a count of marks set."""

    sessions: dict[str, ModelSession] = field(default_factory=dict[str, ModelSession])
    conversations: dict[tuple[str, str, str], list[str]] = field(default_factory=dict[tuple[str, str, str], list[str]])
    summaries: dict[tuple[str, str, str], str] = field(default_factory=dict[tuple[str, str, str], str])
    keys: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict[tuple[str, str], tuple[str, int]])
    erased: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Keys of messages that were purged: they stay refused."""
    moments: int = 0

    def active(self, key: tuple[str, str, str]) -> ModelSession | None:
        ids = self.conversations.get(key, [])
        return self.sessions[ids[-1]] if ids and not self.sessions[ids[-1]].ended else None

    def opened(self, key: tuple[str, str, str], session_id: str, *, learns: bool) -> None:
        self.sessions[session_id] = ModelSession(id=session_id, key=key, learns=learns)
        self.conversations.setdefault(key, []).append(session_id)

    def set_mark(self, session: ModelSession, number: int) -> bool:
        if not session.learns or (session.mark is not None and session.mark >= number):
            return False
        if session.mark is None:
            self.moments += 1
            session.marked_at = self.moments
        session.mark = number
        return True

    def mark_pending(self, session: ModelSession) -> bool:
        last = session.max_number
        return last is not None and last > (session.processed or 0) and self.set_mark(session, last)

    def append(self, session: ModelSession, batch: list[tuple[str, str | None]]) -> list[int]:
        space = session.key[0]
        known = {key: self.keys[space, key] for _, key in batch if key is not None and (space, key) in self.keys}
        for content, key in batch:
            if key in known:
                holder, number = self.sessions[known[key][0]], known[key][1]
                if holder.key != session.key or holder.messages[number] != content:
                    raise Refused
        if any(key is not None and (space, key) in self.erased for _, key in batch):
            raise Refused
        fresh = [each for each in batch if each[1] not in known]
        if fresh and session.ended:
            raise Refused
        numbers: list[int] = []
        for content, key in batch:
            if key in known:
                numbers.append(known[key][1])
                continue
            session.last += 1
            session.messages[session.last] = content
            numbers.append(session.last)
            if key is not None:
                self.keys[space, key] = (session.id, session.last)
        if fresh and session.count_since(session.processed or 0) > THRESHOLD:
            self.set_mark(session, session.last)
        return numbers

    def end(self, session: ModelSession) -> None:
        if not session.ended:
            session.ended = True
            self.mark_pending(session)

    def end_turn(self, session: ModelSession) -> bool:
        return session.count_since(session.processed or 0) > THRESHOLD and self.mark_pending(session)

    def mark_processed(self, session: ModelSession, until: int, expected: int) -> bool:
        if session.mark != expected:
            return False
        session.mark = session.marked_at = None
        until = min(until, session.last)
        session.processed = max(until, session.processed or until)
        return True

    def purge(self, key: tuple[str, str, str]) -> int:
        removed = 0
        for session_id in self.conversations.get(key, []):
            session = self.sessions[session_id]
            removed += len(session.messages)
            for name, (holder, _) in list(self.keys.items()):
                if holder == session_id:
                    del self.keys[name]
                    self.erased.add(name)
            session.messages.clear()
            session.mark = session.marked_at = None
            session.processed = session.last or session.processed
        self.summaries.pop(key, None)
        return removed

    def marked(self) -> list[str]:
        pending = [session for session in self.sessions.values() if session.mark is not None]
        return [session.id for session in sorted(pending, key=lambda session: session.marked_at or 0)]

    def history(self, key: tuple[str, str, str]) -> list[str]:
        ids = self.conversations.get(key, [])
        return [self.sessions[each].messages[number] for each in ids for number in sorted(self.sessions[each].messages)]
