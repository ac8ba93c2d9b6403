"""Learning rules of a space or an agent: what to learn, and which facts need approval."""

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Annotated

from bethink.base.frozen import frozen
from bethink.errors import InvalidFieldError
from bethink.model.checks import Between, Cleaned, Length, Printable, any_of, tuple_from
from bethink.model.forgetting import ForgetPolicy
from bethink.model.kinds import FactKind, Kind, OwnKind, kind_of
from bethink.model.rules import CLAIM_FLAGS

_SHORT = Annotated[str, Length(1, 100), Printable()]
Instructions = Annotated[str, Length(0, 4_000), Cleaned()]


@frozen
class LearningRules:
    """Learning rules of a space, or of one agent in it. Unset fields use the settings.

    The rules are passed to the learning model. Its claims are still checked as usual.
    """

    instructions: Instructions = ""
    """Instructions in plain words: what to learn, what to ignore, and in which language."""
    owner: _SHORT | None = None
    """Name of the person the memory belongs to."""
    time_zone: _SHORT | None = None
    """Time zone of the dates shown to the model, such as Europe/Berlin."""
    slots: Annotated[Mapping[str, _SHORT], Length(0, 50)] = field(default_factory=dict[str, str])
    """Custom attributes with one value at a time, each with a short description."""
    kinds: Annotated[Mapping[str, _SHORT], Length(0, 20)] = field(default_factory=dict[str, str])
    """Custom kinds of facts, such as `recipe`, each with a short description. They are never instructions."""
    review_kinds: tuple[Kind, ...] = ()
    """Kinds of facts that require a person's approval."""
    expires_after: Annotated[Mapping[str, Annotated[int, Between(1, 36_500)]], Length(0, 30)] = field(
        default_factory=dict[str, int]
    )
    """Days until facts of a kind expire, counted from the last message that states them. Events never expire."""
    review_flags: tuple[_SHORT, ...] | None = None
    """Claim flags that require review, such as `health`. None uses the settings."""
    forget_requests: ForgetPolicy = ForgetPolicy.ASK
    """What happens when a person says that something should be forgotten: `ask`, `delete` or `ignore`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "forget_requests", any_of("forget_requests", (self.forget_requests,), ForgetPolicy)[0])
        for name in self.kinds:
            OwnKind(name)
        kinds = tuple(dict.fromkeys(map(kind_of, tuple_from("review_kinds", self.review_kinds))))
        _check_known("review_kinds", kinds, self.kinds)
        object.__setattr__(self, "review_kinds", kinds)
        _check_known("expires_after", tuple(map(kind_of, self.expires_after)), self.kinds)
        if FactKind.EVENT in self.expires_after:
            raise InvalidFieldError("expires_after", "cannot be set for events.", hint="Past events stay true.")
        if self.review_flags is not None:
            object.__setattr__(self, "review_flags", tuple_from("review_flags", self.review_flags))
            for flag in self.review_flags:
                if flag not in CLAIM_FLAGS:
                    raise InvalidFieldError(
                        "review_flags", f"cannot be {flag!r}.", hint=f"Use {', '.join(CLAIM_FLAGS)}."
                    )


def _check_known(name: str, kinds: Collection[Kind], own: Mapping[str, str]) -> None:
    for kind in kinds:
        if isinstance(kind, OwnKind) and kind not in own:
            hint = f"Use {', '.join(FactKind)}, or a kind defined in `kinds`."
            raise InvalidFieldError(name, f"cannot be {kind!r}.", hint=hint)
