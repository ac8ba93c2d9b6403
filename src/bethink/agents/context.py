"""Context at session start: memory of the project and the user, within one budget."""

from bethink.agents.scopes import ProjectScope
from bethink.api.connect import Memory
from bethink.base.logs import logger
from bethink.errors import BethinkError
from bethink.model.records import conversation_key

BUDGET = 1_900
"""Total tokens. Above about 2,500, Codex shows a preview instead of the text."""
_log = logger("agents")


async def start_context(memory: Memory, scope: ProjectScope, *, agent: str, session: str) -> str:
    """Return the context block for a session start, or an empty string. The block is recorded in the context log.

    Each space gets an equal share. Tokens the project does not use go to the user's space.
    """
    remaining, blocks = BUDGET, list[str]()
    for index, name in enumerate(scope.spaces):
        share = remaining // (len(scope.spaces) - index)
        try:
            space = memory.space(name)
            if not await space.context(budget=share, citations=False):
                continue  # do not open a session in an empty space
            agent_session = await space.session(conversation_key(agent, session), agent=agent)
            block = await space.context(budget=share, session_id=agent_session.id, citations=False)
        except BethinkError as error:
            _log.warning("Could not build the context: %s", type(error).__name__)
            continue
        remaining -= block.tokens
        blocks.append(block.text)
    return "\n\n".join(blocks)
