"""What the person who answers for a memory decides about learning: what to learn, and what to look at first."""

from collections.abc import Collection, Mapping
from dataclasses import field
from typing import Annotated

from bethink.base.frozen import frozen
from bethink.model.checks import Between, Cleaned, InvalidField, Length, Printable, tuple_from
from bethink.model.kinds import FactKind, Kind, OwnKind, kind_of
from bethink.model.rules import CLAIM_FLAGS

_SHORT = Annotated[str, Length(1, 100), Printable()]
Instructions = Annotated[str, Length(0, 4_000), Cleaned()]


@frozen
class LearningRules:
    """How a space, or one agent in it, learns. What is not set is left to the settings.

    They are given to the model that learns. They cannot make it believed: its claims are checked all the same.
    """

    instructions: Instructions = ""
    """What to learn, what never, and in which language, in plain words."""
    owner: _SHORT | None = None
    """The name of the person whose memory it is."""
    time_zone: _SHORT | None = None
    """The time zone in which times are told to the model, such as Europe/Berlin."""
    slots: Annotated[Mapping[str, _SHORT], Length(0, 50)] = field(default_factory=dict[str, str])
    """Attributes of your own that have one value at a time, each with a short description."""
    kinds: Annotated[Mapping[str, _SHORT], Length(0, 20)] = field(default_factory=dict[str, str])
    """Kinds of facts of your own, such as `recipe`, each with a short description. They tell an agent nothing to do."""
    hold_kinds: tuple[Kind, ...] = ()
    """Kinds of facts that a person approves first."""
    expires_after: Annotated[Mapping[str, Annotated[int, Between(1, 36_500)]], Length(0, 30)] = field(
        default_factory=dict[str, int]
    )
    """After how many days facts of a kind are no longer recalled, counted from when they were last said. An event
    never expires."""
    held_flags: tuple[_SHORT, ...] | None = None
    """Marks that hold a claim, such as `health`; None for those of the settings."""

    def __post_init__(self) -> None:
        for name in self.kinds:
            OwnKind(name)
        found = tuple(dict.fromkeys(map(kind_of, tuple_from("hold_kinds", self.hold_kinds))))
        _check_known("hold_kinds", found, self.kinds)
        object.__setattr__(self, "hold_kinds", found)
        _check_known("expires_after", tuple(map(kind_of, self.expires_after)), self.kinds)
        if FactKind.EVENT in self.expires_after:
            raise InvalidField("expires_after", "cannot be set for events.", hint="It remains true that they happened.")
        if self.held_flags is not None:
            object.__setattr__(self, "held_flags", tuple_from("held_flags", self.held_flags))
            for flag in self.held_flags:
                if flag not in CLAIM_FLAGS:
                    raise InvalidField("held_flags", f"cannot be {flag!r}.", hint=f"Use {', '.join(CLAIM_FLAGS)}.")


def _check_known(name: str, kinds: Collection[Kind], own: Mapping[str, str]) -> None:
    for kind in kinds:
        if isinstance(kind, OwnKind) and kind not in own:
            hint = f"Use {', '.join(FactKind)}, or one that `kinds` names."
            raise InvalidField(name, f"cannot be {kind!r}.", hint=hint)
