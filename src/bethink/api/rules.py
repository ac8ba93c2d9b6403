"""The rules by which a space learns.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from bethink.api.handles import Handle
from bethink.model.operations.rules import GET_RULES, SET_RULES, GetRulesRequest, SetRulesRequest
from bethink.model.steering import LearningRules


class Rules(Handle):
    """The rules by which a space learns."""

    async def get(self, agent: str | None = None) -> LearningRules:
        """Return the rules by which the space, or an agent in it, learns.

        Args:
            agent: The agent; without rules of its own it has those of the space.
        """
        return await self._run(GET_RULES, GetRulesRequest(agent=agent))

    async def set(self, rules: LearningRules, *, agent: str | None = None) -> LearningRules:
        """Set the rules by which the space, or an agent in it, learns from now on, and return them as stored.

        The model that learns follows them. They never make it believed without proof.

        Args:
            rules: The rules, in place of all that were set before.
            agent: The agent that they are for; the whole space, if left out.
        """
        return await self._run(SET_RULES, SetRulesRequest(rules=rules, agent=agent))
