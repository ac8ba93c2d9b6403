"""Turns of a conversation that a framework hands over: memory for the prompt, and what was said kept for good."""

from collections.abc import Sequence

from anyio import CancelScope

from bethink import Block, Message, Session, Space


class Turns:
    """One conversation of one agent in a space. Nothing is created before something is said."""

    def __init__(self, space: Space, conversation: str, *, agent: str = "assistant", tokens: int = 2_000) -> None:
        """Name a conversation.

        Args:
            space: The space of the end user.
            conversation: The name of the conversation.
            agent: The name of the agent, for spaces that several agents share.
            tokens: How much memory a prompt may be given.
        """
        self._space = space
        self._conversation = conversation
        self._agent = agent
        self._tokens = tokens

    async def active(self) -> Session | None:
        """Return the session that is open; None if there is none."""
        found = await self._space.find_session(self._conversation, agent=self._agent)
        return None if found is None or found.info.ended_at is not None else found

    async def recalled(self, question: str) -> Block:
        """Return what memory knows about a question, for a prompt. It is shown, and never stored."""
        if not question.strip():
            return Block()
        session = await self.active()
        ask = self._space.context if session is None else session.context
        return await ask(question, budget=self._tokens)

    async def keep(self, told: Sequence[Message]) -> None:
        """Store messages in one transaction, even if the framework cancels the turn meanwhile."""
        if not told:
            return
        with CancelScope(shield=True):
            session = await self._space.session(self._conversation, agent=self._agent)
            await session.append(told)
