"""Operations on learning rules: get and set them."""

from bethink.base.frozen import frozen
from bethink.model.access import Scope
from bethink.model.operations.base import Name, Operation, Request, Retry, served_by
from bethink.model.steering import LearningRules


@frozen
class GetRulesRequest(Request):
    """Learning rules to read."""

    agent: Name | None = None
    """Agent (default: the whole space). An agent without own rules has those of the space."""


@frozen
class SetRulesRequest(Request):
    """Learning rules to set."""

    rules: LearningRules
    """Rules that replace all previous rules."""
    agent: Name | None = None
    """Agent that follows the rules (default: the whole space)."""


_RULES = "/spaces/{space}/rules"

GET_RULES: Operation[GetRulesRequest, LearningRules] = Operation(
    "space.admin.rules.get", GetRulesRequest, LearningRules, f"GET {_RULES}", Scope.READ, Retry.SAFE,
    "Return the learning rules of the space or of one agent.",
    positional=("agent",),
)  # fmt: skip
SET_RULES: Operation[SetRulesRequest, LearningRules] = Operation(
    "space.admin.rules.set", SetRulesRequest, LearningRules, f"PUT {_RULES}", Scope.STEER, Retry.IDEMPOTENT,
    "Set the learning rules of the space or of one agent, and return the stored rules.",
    details="Rules instruct the learning model from now on. Facts still need quotes.",
)  # fmt: skip

OPERATIONS = served_by("bethink.memory.learning.steering", GET_RULES, SET_RULES)
