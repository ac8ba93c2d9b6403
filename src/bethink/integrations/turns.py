"""Conversations of a framework: recall memory for the prompt, and store the messages."""

from collections.abc import Sequence

from anyio import CancelScope

from bethink import ContextBlock, Message, Session, Space


class Turns:
    """One conversation of one agent in a space. The first message creates it."""

    def __init__(self, space: Space, conversation: str, *, agent: str = "assistant", tokens: int = 2_000) -> None:
        """Name a conversation.

        Args:
            space: The space of the end user.
            conversation: The name of the conversation.
            agent: The name of the agent, for spaces that several agents share.
            tokens: Maximum tokens of memory in a prompt (default 2,000).
        """
        self._space = space
        self._conversation = conversation
        self._agent = agent
        self._tokens = tokens

    async def active(self) -> Session | None:
        """Return the open session, or None."""
        session = await self._space.sessions.find(self._conversation, agent=self._agent)
        return None if session is None or session.info.ended_at is not None else session

    async def recall(self, question: str) -> ContextBlock:
        """Build the memory block for a question. The block itself is not stored."""
        if not question.strip():
            return ContextBlock()
        session = await self.active()
        build_context = self._space.context if session is None else session.context
        # Frameworks show replies as they stream, before labels could be stripped.
        return await build_context(question, budget=self._tokens, citations=False)

    async def store(self, messages: Sequence[Message]) -> None:
        """Store messages in one transaction, even if the framework cancels the turn."""
        if not messages:
            return
        with CancelScope(shield=True):
            session = await self._space.session(self._conversation, agent=self._agent)
            await session.append(messages)
