"""The verbs of learning rules: read and set what a space learns."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.operations.base import Name, Request, Retry, Verb, served_by
from bethink.model.steering import LearningRules


@frozen
class GetRulesRequest(Request):
    """Whose rules to read."""

    agent: Name | None = None
    """The agent; without rules of its own it has those of the space."""


@frozen
class SetRulesRequest(Request):
    """Rules to set."""

    rules: LearningRules
    """The rules, in place of all that were set before."""
    agent: Name | None = None
    """The agent that they are for; the whole space, if left out."""


_RULES = "/spaces/{space}/rules"

GET_RULES: Verb[GetRulesRequest, LearningRules] = Verb(
    "rules.get", GetRulesRequest, LearningRules, f"GET {_RULES}", Scope.READ, Retry.SAFE,
    "Return the rules by which the space, or an agent in it, learns.",
    positional=("agent",),
)  # fmt: skip
SET_RULES: Verb[SetRulesRequest, LearningRules] = Verb(
    "rules.set", SetRulesRequest, LearningRules, f"PUT {_RULES}", Scope.STEER, Retry.IDEMPOTENT,
    "Set the rules by which the space, or an agent in it, learns from now on, and return them as stored.",
    details="The model that learns follows them. They never make it believed without proof.",
)  # fmt: skip

VERBS = served_by("bethink.memory.learning.steering", GET_RULES, SET_RULES)
