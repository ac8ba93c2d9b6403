"""Several spaces, searched together: one ranking, one budget.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from bethink.api.handles import SpacesHandle, tuple_of
from bethink.model.moments import When, beginning, moment
from bethink.model.operations.memory import CONTEXT, RECALL, ContextRequest, RecallRequest
from bethink.model.recall import Block, Level, Recall, RefKind


class Spaces(SpacesHandle):
    """Several spaces, searched together: one ranking, one budget."""

    async def recall(
        self,
        question: str,
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
        limit: int = 10,
        kinds: Iterable[RefKind] = tuple(RefKind),
        least: Level | None = None,
        explain: bool = False,
    ) -> Recall:
        """Find what answers a question, the best first.

        If nothing answers it, `missing` says why.

        Args:
            question: What to look for, in plain words.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
            limit: How many results to return at most.
            kinds: Which kinds of memory to search.
            least: Only answers that are at least this certain: high, fair or weak. Without it weak ones are
                returned, too.
            explain: Also return every candidate, with its signals and what became of it.
        """
        return await self._run(
            RECALL,
            RecallRequest(
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                budget=budget,
                as_of=None if as_of is None else moment(as_of),
                question=question,
                limit=limit,
                kinds=tuple_of(kinds),
                least=least,
                explain=explain,
            ),
        )

    async def context(
        self,
        question: str = "",
        *,
        origins: Iterable[str] | None = None,
        tags: Iterable[str] = (),
        agent: str | None = None,
        conversation: str | None = None,
        speaker: str | None = None,
        since: When | None = None,
        until: When | None = None,
        where: Mapping[str, Any] | None = None,
        budget: int | None = None,
        as_of: When | None = None,
    ) -> Block:
        """Return a block of memory to begin a prompt with.

        It stays the same, byte for byte, until memory changes. Make one when a session starts or was compacted.

        Args:
            question: What the prompt is about, if that is known. What answers it is added to the block.
            origins: Only what came from one of these: user, assistant, document, import, memory, tool or tool:NAME.
            tags: Only what has all of these tags.
            agent: Only what comes from sessions with this agent.
            conversation: Only what comes from this conversation.
            speaker: Only what the speaker with this name said, and facts that rest on it.
            since: Only what was said or written at this time or later. A day means its beginning.
            until: Only what was said or written by this time. A day means its end.
            where: Only what has such metadata: `{"key": value}`, `{"key": [values]}`, or `{"key": {"gte": 3, "lt":
                9}}`.
            budget: How many tokens the result may take.
            as_of: Answer from what had been said, and was believed, at this time. A day means its end.
        """
        return await self._run(
            CONTEXT,
            ContextRequest(
                origins=None if origins is None else tuple_of(origins),
                tags=tuple_of(tags),
                agent=agent,
                conversation=conversation,
                speaker=speaker,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                where=where,
                budget=budget,
                as_of=None if as_of is None else moment(as_of),
                question=question,
            ),
        )
