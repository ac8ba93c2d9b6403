"""Random histories: what people say about a few subjects over a year, and the orders in which memory may meet it."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from tests.truth.script import Claim, Line, Talk

START = datetime(2026, 1, 5, 9, tzinfo=UTC)

SLOTS = {
    ("Nadia", "home"): ("lives in", ("Cork", "Graz", "Lund", "Porto", "Turku", "Vigo")),
    ("Nadia", "commute"): ("commutes by", ("tram", "bicycle", "ferry", "scooter", "train", "canoe")),
    ("Nadia", "alarm"): ("wakes up with", ("Beethoven", "Debussy", "Vivaldi", "Mahler", "Grieg", "Satie")),
    ("Tomas", "employer"): ("works for", ("Arvid", "Corvo", "Delmar", "Fenix", "Gallo", "Harpa")),
    ("workshop", "glue"): ("buys glue from", ("Kessler", "Lomax", "Marchetti", "Novak", "Oduya", "Petrov")),
}
"""What is said of a slot, and its values. No value is part of another slot's words."""
BASES = {("Nadia", "commute"): ("Nadia", "home"), ("Nadia", "alarm"): ("Nadia", "commute")}
"""Slots that rest on others."""


@dataclass(frozen=True)
class History:
    """Conversations with their claims, and the value that a person may use to correct one of them."""

    seed: int
    talks: tuple[Talk, ...]
    corrected_id: str | None = None
    """The claim that a person corrects once it was learned, if it is current then."""
    correction: str = ""

    @property
    def moments(self) -> list[datetime]:
        """The times at which something was said."""
        return sorted({talk.said_at(claim) for talk in self.talks for claim in talk.claims})

    @property
    def returns(self) -> bool:
        """Whether something is true again after something else was.

        Who does not know what was in between takes it for the same.
        """
        texts = [claim.text for talk in self.talks for claim in talk.claims if claim.op != "same"]
        return len(texts) != len(set(texts))


@dataclass(frozen=True)
class Step:
    """A step of an order: `store` talks and learn them, `correct`, `relearn`, `archive` or `sync`.

    With `other` the talks are stored on a second device, which `sync` brings together with the first.
    """

    do: str
    talks: tuple[str, ...] = ()
    at: datetime | None = None
    other: bool = False

    def __str__(self) -> str:
        names = "+".join(self.talks)
        where = " elsewhere" if self.other else ""
        return " ".join(filter(None, (self.do, names + where, f"{self.at:%Y-%m-%d}" if self.at else "")))


@dataclass
class _Slot:
    """What is current in a slot as far as it was said."""

    current: Claim | None = None
    plan: Claim | None = None
    plan_begins: datetime | None = None
    until: datetime | None = None
    texts: list[str] = field(default_factory=list[str])


class _Writer:
    """Writes the claims of a history, one after the other, as they are said."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.slots = {key: _Slot() for key in SLOTS}
        self.keys = rng.sample(list(SLOTS), rng.randint(2, 3))
        self.claims: list[tuple[datetime, Claim]] = []

    def say(self, at: datetime) -> None:
        """Say something at a time: something new, or about what is current in a slot."""
        key = self.rng.choice(self.keys)
        slot = self.slots[key]
        for other in self.slots.values():
            if other.plan is not None and other.plan_begins is not None and other.plan_begins <= at:
                other.current, other.plan = other.plan, None
        if slot.until is not None and slot.until <= at:
            slot.current = slot.until = None
        if slot.plan is not None:
            self._speak_of_plan(at, key, slot)
        elif slot.current is None:
            self._state(at, key, slot, "new", ())
        else:
            self._speak_of(at, key, slot, slot.current)

    def _speak_of(self, at: datetime, key: tuple[str, str], slot: _Slot, current: Claim) -> None:
        op = self.rng.choices(("replaces", "corrects", "same", "ends"), (5, 3, 3, 1))[0]
        if current.op == "ends" or (slot.until is not None and op == "same"):
            op = "replaces"
        if op == "same":
            slot.current = self._claim(at, key, current.text, "same", (current.id,))
        elif op == "ends":
            subject, verb = key[0], SLOTS[key][0]
            self._claim(at, key, f"{subject} no longer {verb} {current.text.split()[-1]}", "ends", (current.id,))
            slot.current, slot.until = self.claims[-1][1], None
        else:
            self._state(at, key, slot, op, (current.id,))

    def _speak_of_plan(self, at: datetime, key: tuple[str, str], slot: _Slot) -> None:
        """A plan that has not begun is dropped, or something else replaces it and what it was to replace."""
        assert slot.plan is not None
        if self.rng.random() < 0.5:
            subject, value = key[0], slot.plan.text.split()[-1]
            plan, slot.plan = slot.plan, None
            claim = self._claim(at, key, f"{subject} dropped the plan about {value}", "ends", (plan.id,))
            self.claims[-1] = (at, replace(claim, slot=None))
            return
        targets = (slot.plan.id, *([slot.current.id] if slot.current else []))
        slot.plan = None
        self._state(at, key, slot, "replaces", targets, dated=False)

    def _state(
        self, at: datetime, key: tuple[str, str], slot: _Slot, op: str, of: tuple[str, ...], *, dated: bool = True
    ) -> None:
        subject, (verb, values) = key[0], SLOTS[key]
        # A correction to what was said before would be the same text for two periods that touch.
        avoided = slot.texts if op == "corrects" else [*slot.texts[-1:], *([slot.current.text] if slot.current else [])]
        texts = [text for value in values if (text := f"{subject} {verb} {value}") not in avoided]
        text = self.rng.choice(texts) if texts else f"{subject} {verb} Quito"
        since = until = None
        chance = self.rng.random()
        if dated and op == "replaces" and chance < 0.15:
            since = (at - timedelta(days=2)).date().isoformat()
        elif dated and op in ("new", "replaces") and chance > 0.85:
            since = (at + timedelta(days=self.rng.randint(5, 40))).date().isoformat()
        elif dated and key not in BASES.values() and 0.4 < chance < 0.5:
            until = (at + timedelta(days=self.rng.randint(5, 60))).date().isoformat()
        claim = self._claim(at, key, text, op, of, since=since, until=until)
        slot.texts.append(text)
        if since is not None and datetime.fromisoformat(since).replace(tzinfo=UTC) > at:
            slot.plan, slot.plan_begins = claim, datetime.fromisoformat(since).replace(tzinfo=UTC)
            return
        slot.current = claim
        slot.until = None if until is None else datetime.fromisoformat(until).replace(tzinfo=UTC) + timedelta(days=1)

    def _claim(
        self,
        at: datetime,
        key: tuple[str, str],
        text: str,
        op: str,
        of: tuple[str, ...],
        *,
        since: str | None = None,
        until: str | None = None,
    ) -> Claim:
        base = self.slots[BASES[key]].current if key in BASES and op in ("new", "replaces", "same") else None
        rests_on = (base.id,) if base is not None and base.op != "ends" else ()
        claim = Claim(
            id=f"n{len(self.claims)}", text=text, quote=text, subject=key[0], slot=key[1], op=op, of=of,
            rests_on=rests_on, since=since, until=until, stance="reported",
        )  # fmt: skip
        self.claims.append((at, claim))
        return claim


def random_history(seed: int) -> History:
    """Return the history of a seed: 3 to 9 statements in 2 to 4 talks, some of which last for weeks."""
    rng = random.Random(seed)
    writer, at = _Writer(rng), START
    for _ in range(rng.randint(3, 9)):
        writer.say(at)
        at += timedelta(days=rng.randint(3, 35), minutes=rng.randint(0, 300))
    talks: list[list[tuple[datetime, Claim]]] = [[] for _ in range(rng.randint(2, 4))]
    position = 0
    for saying in writer.claims:
        if rng.random() < 0.3:  # somebody comes back to an older conversation
            talks[rng.randrange(len(talks))].append(saying)
        else:
            position = min(position + rng.randint(0, 1), len(talks) - 1)
            talks[position].append(saying)
    corrected = _correctable(rng, [claim for _, claim in writer.claims])
    return History(
        seed=seed,
        talks=tuple(_talk(f"talk-{number}", sayings) for number, sayings in enumerate(talks) if sayings),
        corrected_id=corrected and corrected.id,
        correction=f"{' '.join(corrected.text.split()[:-1])} Zagreb" if corrected else "",
    )


def _talk(name: str, sayings: Sequence[tuple[datetime, Claim]]) -> Talk:
    """Return a talk. A claim rests on claims of its own talk only: no reader can name a base that is learned later."""
    lines = tuple(Line("user", f"{claim.quote}.", at) for at, claim in sayings)
    ids = {claim.id for _, claim in sayings}
    claims = tuple(
        replace(claim, message=number, rests_on=tuple(base for base in claim.rests_on if base in ids))
        for number, (_, claim) in enumerate(sayings, 1)
    )
    return Talk(name, lines, claims)


def _correctable(rng: random.Random, claims: Sequence[Claim]) -> Claim | None:
    """Return a claim that a person may correct: said once, and nothing rests on it."""
    others = [name for claim in claims for name in (*claim.rests_on, *(claim.of if claim.op != "replaces" else ()))]
    texts = [claim.text for claim in claims]
    candidates = [
        claim
        for claim in claims
        if claim.op in ("new", "replaces") and claim.id not in others and texts.count(claim.text) == 1
    ]
    return rng.choice(candidates) if candidates and rng.random() < 0.5 else None


def live(history: History) -> list[Step]:
    """Return the order in which it happened: each talk is stored and learned when its last message was said."""
    talks = sorted(history.talks, key=lambda talk: talk.ends_at)
    return [Step("store", (talk.id,), talk.ends_at + timedelta(hours=1)) for talk in talks]


def _is_divided(history: History, elsewhere: set[str]) -> bool:
    """Return whether a claim names one of another device by nothing but its id: no model sees both of them.

    What both say of a slot is linked by the slot when the devices meet.
    """
    talk_of = {claim.id: talk.id for talk in history.talks for claim in talk.claims}
    slot_of = {claim.id: (claim.subject, claim.slot) for talk in history.talks for claim in talk.claims}
    return any(
        (talk_of[name] in elsewhere) != (talk.id in elsewhere)
        and (claim.slot is None or slot_of[name] != (claim.subject, claim.slot))
        for talk in history.talks
        for claim in talk.claims
        for name in (*claim.of, *claim.rests_on)
        if name in talk_of
    )


def random_order(history: History, rng: random.Random) -> list[Step]:
    """Return an order: live up to some day, the rest imported later one by one or together, then more or nothing."""
    steps = live(history)
    at_once = rng.randint(0, len(steps))
    late = [name for step in steps[at_once:] for name in step.talks]
    rng.shuffle(late)
    after = max(talk.ends_at for talk in history.talks) + timedelta(days=rng.randint(40, 80))
    elsewhere = {name for name in late if rng.random() < 0.5}
    synced = len(late) > 1 and rng.random() < 0.25 and not _is_divided(history, elsewhere)
    steps = steps[:at_once]
    if late and not synced and rng.random() < 0.3:
        steps.append(Step("store", tuple(late), after))
    else:
        steps += [Step("store", (name,), after, other=synced and name in elsewhere) for name in late]
    steps += [Step("sync")] if synced else []
    steps += [Step("correct")] if history.corrected_id is not None else []
    steps += [Step("relearn")] if rng.random() < 0.4 else []
    steps += [Step("archive")] if rng.random() < 0.2 else []
    return steps
