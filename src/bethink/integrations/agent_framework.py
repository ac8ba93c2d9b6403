"""The Microsoft Agent Framework: a context provider that recalls memory before a run and stores its messages.

agent = Agent(client=client, context_providers=[history, BethinkContextProvider(memory.space("mira"))])
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import agent_framework as framework
from agent_framework import AgentSession, ContextProvider, SessionContext, SupportsAgentRun
from typing_extensions import override

from bethink import Message, Space
from bethink.integrations.turns import Turns
from bethink.types import Role

_ADDED = "_attribution"
"""Property of a message that a provider added in the role of the user."""


class BethinkContextProvider(ContextProvider):
    """Memory for each run of an agent. Several agents and sessions can share one provider.

    Recalled memory is added to the messages of the run in the order of the providers, and never to the history. After
    the run, its messages and tool results are stored in one transaction. Only messages that the caller passed in the
    role of the user count as the user's statements.
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
            space: The space of the end user, or a function that returns it, for example from `session.state`.
            source_id: The name of this provider among the others.
            conversation: The name of the conversation (default: the session ID).
            agent: The name of the agent, for spaces that several agents share.
            tokens: Maximum tokens of memory per run (default 2,000).
            prompted_by_user: False for an agent that other agents call: its prompts then count as a model's statements.
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
        """Add the memory block for the new user messages."""
        questions = [message.text for message in _new_messages(context.input_messages) if _is_typed(message)]
        block = await self._turns(session, context).recall("\n".join(questions))
        if block:
            context.extend_messages(self, [framework.Message("user", [block.text])])

    @override
    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Store the messages of the run, without those that providers added."""
        answered = context.response.messages if context.response is not None else []
        origin = None if self._prompted_by_user else "assistant"
        prompts = [
            Message(role=Role.USER, content=message.text, origin=origin)
            for message in _new_messages(context.input_messages)
            if _is_typed(message) and message.text
        ]
        await self._turns(session, context).store([*prompts, *_convert_messages(answered)])

    def _turns(self, session: AgentSession, context: SessionContext) -> Turns:
        space = self._space if isinstance(self._space, Space) else self._space(session)
        conversation = self._conversation or context.session_id or session.session_id
        return Turns(space, conversation, agent=self._agent, tokens=self._tokens)


def _new_messages(messages: Sequence[framework.Message]) -> Sequence[framework.Message]:
    """Return the messages after the last answer. A caller without a session passes the whole history each time."""
    answered = [index for index, message in enumerate(messages, 1) if message.role in ("assistant", "tool")]
    return messages[answered[-1] :] if answered else messages


def _is_typed(message: framework.Message) -> bool:
    return message.role == "user" and _ADDED not in message.additional_properties


def _convert_messages(messages: Sequence[framework.Message]) -> Iterator[Message]:
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
