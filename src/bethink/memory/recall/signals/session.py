"""The share of the question's words that the session of a candidate has."""

from collections import defaultdict
from collections.abc import Sequence

from bethink.memory.recall.candidates import Candidates, SessionKey
from bethink.memory.recall.question import ParsedQuestion
from bethink.memory.recall.tuning import Tuning
from bethink.model.refs import RefKind


class SessionSignal:
    """A message is more likely the answer if its session is about the question. Other kinds are their own session."""

    name = "session"

    def __init__(self, tuning: Tuning) -> None:
        self.weight = tuning.session
        self._saturation = tuning.session_saturation
        self._full_share = tuning.session_full

    def score(self, question: ParsedQuestion, candidates: Candidates) -> list[float]:
        """Return the worth of the words of its session."""
        del question  # its words are counted
        sessions: dict[SessionKey, float] = defaultdict(float)
        for word in candidates.counts:
            worth = word.session_worth
            for session, share in word.sessions.items():
                sessions[session] += worth * share / (share + self._saturation)
        message = RefKind.MESSAGE
        return [sessions.get(key[1] if key[0] is message else index, 0.0) for index, key in enumerate(candidates.keys)]

    def scale(self, values: Sequence[float], candidates: Candidates) -> list[float]:
        """Return 1 for a session in which the words of the question make up `session_full` of their worth."""
        full_worth = self._full_share * candidates.worth
        return [min(1.0, value / full_worth) if full_worth > 0 else 0.0 for value in values]
