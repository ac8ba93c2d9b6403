"""What a session is shown when it starts: the memory of its project and of its person, within one budget."""

from bethink.agents.scopes import ProjectScope
from bethink.api.connect import Memory
from bethink.base.logs import logger
from bethink.errors import BethinkError
from bethink.model.records import conversation_key

BUDGET = 1_900
"""Tokens of the whole. Above about 2,500, Codex shows a preview instead of the text."""
_log = logger("agents")


async def start_context(memory: Memory, scope: ProjectScope, *, agent: str, session: str) -> str:
    """Return the block to begin a session with; empty if there is nothing to show. What is shown goes into the ledger.

    Each space may use an equal share; what the project leaves is the person's.
    """
    left, blocks = BUDGET, list[str]()
    for place, name in enumerate(scope.spaces):
        share = left // (len(scope.spaces) - place)
        try:
            space = memory.space(name)
            if not await space.context(budget=share):
                continue  # an empty space gets no session only to say so
            asking = await space.session(conversation_key(agent, session), agent=agent)
            block = await space.context(budget=share, session_id=asking.id)
        except BethinkError as error:
            _log.warning("no context: %s", type(error).__name__)
            continue
        left -= block.tokens
        blocks.append(block.text)
    return "\n\n".join(blocks)
