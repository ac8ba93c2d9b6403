"""The Microsoft Agent Framework: a context provider that recalls before a run and captures what was said in it.

agent = Agent(client=client, context_providers=[history, BethinkContextProvider(memory.space("mira"))])
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import agent_framework as framework
from agent_framework import AgentSession, ContextProvider, SessionContext, SupportsAgentRun
from typing_extensions import override

from bethink import Message, Role, Space
from bethink.integrations.turns import Turns

_ADDED = "_attribution"
"""How the framework marks a message that a provider added in the role of the user."""


class BethinkContextProvider(ContextProvider):
    """Memory for each run of an agent. Give one to as many agents and sessions as you like.

    What is recalled stands among the messages of the run where this provider stands among the others, and in no
    history. When the run has ended, what was said and what tools returned is stored in one transaction. Only what the
    caller passed in the role of the user is the user's word.
    """

    def __init__(
        self,
        space: Space | Callable[[AgentSession], Space],
        *,
        source_id: str = "bethink",
        conversation: str | None = None,
        agent: str = "assistant",
        tokens: int = 2_000,
        prompted_by_user: bool = True,
    ) -> None:
        """Use a space.

        Args:
            space: The space of the end user, or a function that finds it, say from `session.state`.
            source_id: The name of this provider among the others.
            conversation: The name of the conversation; the id of the session, if left out.
            agent: The name of the agent, for spaces that several agents share.
            tokens: How much memory a run may be shown.
            prompted_by_user: False for an agent that other agents call: its prompts are the words of a model.
        """
        super().__init__(source_id)
        self._space = space
        self._conversation = conversation
        self._agent = agent
        self._tokens = tokens
        self._prompted_by_user = prompted_by_user

    @override
    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Show what memory knows about what the run is asked."""
        asked = [message.text for message in _new(context.input_messages) if _typed(message)]
        block = await self._turns(session, context).recalled("\n".join(asked))
        if block:
            context.extend_messages(self, [framework.Message("user", [block.text])])

    @override
    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Store what was said. What a provider added, this one or another, is left out."""
        answered = context.response.messages if context.response is not None else []
        origin = None if self._prompted_by_user else "assistant"
        asked = [
            Message(role=Role.USER, content=message.text, origin=origin)
            for message in _new(context.input_messages)
            if _typed(message) and message.text
        ]
        await self._turns(session, context).keep([*asked, *_told(answered)])

    def _turns(self, session: AgentSession, context: SessionContext) -> Turns:
        space = self._space if isinstance(self._space, Space) else self._space(session)
        named = self._conversation or context.session_id or session.session_id
        return Turns(space, named, agent=self._agent, tokens=self._tokens)


def _new(messages: Sequence[framework.Message]) -> Sequence[framework.Message]:
    """Return what follows the last answer: a caller without a session hands over the whole history each time."""
    answered = [place for place, message in enumerate(messages, 1) if message.role in ("assistant", "tool")]
    return messages[answered[-1] :] if answered else messages


def _typed(message: framework.Message) -> bool:
    return message.role == "user" and _ADDED not in message.additional_properties


def _told(messages: Sequence[framework.Message]) -> Iterator[Message]:
    tools: dict[str, str] = {}
    for message in messages:
        called = [part for part in message.contents if part.type == "function_call"]
        tools |= {str(part.call_id): str(part.name) for part in called}
        if message.role == "assistant" and (message.text or called):
            calls = [
                {"type": "tool_use", "id": part.call_id, "name": part.name, "input": part.parse_arguments() or {}}
                for part in called
            ]
            yield Message(role=Role.ASSISTANT, content=message.text, tool_calls=calls)
        for part in message.contents:
            if part.type == "function_result":
                yield Message(
                    role=Role.TOOL,
                    content=str(part.exception or part.result or ""),
                    name=tools.get(str(part.call_id), "tool"),
                    tool_call_id=part.call_id,
                    is_error=part.exception is not None,
                )
