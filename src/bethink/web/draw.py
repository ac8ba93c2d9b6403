"""Drawings as SVG. No inline style: what has a colour has a class, so that a strict CSP holds and both themes fit."""

from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup

from bethink.model.working import StateInfo

_SVG = Markup('<svg class="{}" viewBox="0 0 {} {}" preserveAspectRatio="none" {}>{}</svg>')
_SWATCH = Markup(
    '<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class="{}" width="10" height="10"/></svg>'
)
_IMAGE = Markup('role="img" aria-label="{}"')
_WIDE = 1_000
_THIN = 12
"""The least that a bar is long, so that it can be seen."""


def rect(kind: str, x: float, y: float, width: float, height: float) -> Markup:
    """Return one rectangle."""
    return Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
        kind, x, y, max(width, 0.0), max(height, 0.0)
    )


def drawing(kind: str, height: int, parts: Iterable[Markup], label: str) -> Markup:
    """Return a drawing that is 1,000 wide, with a sentence for those who do not see it."""
    return _SVG.format(kind, _WIDE, height, _IMAGE.format(label), Markup("").join(parts))


def stacked(parts: Sequence[tuple[str, float]], most: float, label: str) -> Markup:
    """Draw a bar of parts, each a class and a value. `most` is the value at the right end."""
    x, found = 0.0, [rect("track", 0, 0, _WIDE, 10)]
    for name, value in parts:
        width = _WIDE * max(value, 0.0) / most
        if width >= 1:
            found.append(rect(f"sig-{name}", x, 0, max(width - 4, 1), 10))
        x += width
    return drawing("bar", 10, found, label)


def strip(counts: Sequence[int], ticks: Sequence[float], here: float, label: str) -> Markup:
    """Draw how much happened over time, what was learnt as ticks, and the moment looked from. Places are 0 to 1."""
    most, width = max([*counts, 1]), _WIDE / max(len(counts), 1)
    found: list[Markup] = []
    for place, count in enumerate(counts):
        height = 34 * count / most
        kind = "past" if (place + 0.5) * width <= here * _WIDE else "future"
        if count:
            found.append(rect(kind, place * width + width * 0.12, 40 - height, max(width * 0.76, 1.5), height))
    found.append(rect("base", 0, 40, _WIDE, 1))
    found += [rect("tick", place * _WIDE - 1.5, 42, 3, 6) for place in ticks]
    found.append(rect("here", min(max(here * _WIDE - 1.5, 0), _WIDE - 3), 0, 3, 48))
    return drawing("strip", 48, found, label)


def held(begin: float, end: float, learnt: float, *, ended: bool, label: str) -> Markup:
    """Draw when one fact held, on the axis that all rows share; the notch is when it was learnt. Places are 0 to 1."""
    bar = rect("was" if ended else "is", min(begin * _WIDE, _WIDE - _THIN), 5, max((end - begin) * _WIDE, _THIN), 10)
    notch = rect("notch", min(max(learnt * _WIDE - 1.5, 0), _WIDE - 3), 1, 3, 18)
    return drawing("held", 20, [rect("base", 0, 10, _WIDE, 1), bar, notch], label)


def axis(marks: Sequence[tuple[str, float]]) -> Markup:
    """Draw words at places between 0 and 1. Places are percentages, so that the letters keep their shape."""
    words = [Markup('<text x="{:.1f}%" y="13">{}</text>').format(100 * place, word) for word, place in marks]
    return Markup('<svg class="months" width="100%" height="18">{}</svg>').format(Markup("").join(words))


def ribbon(places: Sequence[tuple[float, float, str]]) -> Markup:
    """Draw versions side by side, each as long as it held, with a class for those that are compared."""
    parts = [
        rect(f"span {kind}", begin * _WIDE + 1, 0, max((end - begin) * _WIDE - 2, 6), 8) for begin, end, kind in places
    ]
    return _SVG.format("ribbon", _WIDE, 8, Markup('aria-hidden="true"'), Markup("").join(parts))


def token_bar(parts: Sequence[tuple[str, int]], room: int, marks: Sequence[tuple[str, int]], label: str) -> Markup:
    """Draw a state as a bar, one part for each chunk, against the room there is; marks are thresholds."""
    x, found = 0.0, [rect("track", 0, 0, _WIDE, 22)]
    for kind, tokens in parts:
        width = _WIDE * tokens / max(room, 1)
        found.append(rect(f"k-{kind}", x + 0.8, 0, max(width - 1.6, 0.6), 22))
        x += width
    found += [rect(f"limit limit-{name}", min(_WIDE * at / max(room, 1), _WIDE - 2), 0, 2, 22) for name, at in marks]
    return drawing("tokens", 22, found, label)


def columns(
    states: Sequence[tuple[StateInfo, str]],
    here: int,
    link: Callable[[int], str],
    *,
    top: float,
    limits: Sequence[tuple[str, int]] = (),
) -> Markup:
    """Draw the tokens after every state as columns. Each is a link; the foot shows the kind of event."""
    width = _WIDE / max(len(states), 1)
    parts = [rect(f"limit limit-{name}", 0, 120 - 120 * at / top, _WIDE, 1) for name, at in limits]
    for place, (state, kind) in enumerate(states):
        height, x = max(120 * state.total_tokens / top, 1.5), place * width
        now = "here" if state.number == here else "later" if state.number > here else ""
        what = (state.event_type or str(state.source)).replace("_", " ").lower()
        marks = (
            rect("target", x, 0, width, 134),
            rect(f"foot k-{kind}", x + width * 0.12, 125, width * 0.76, 5),
            rect(f"column {state.source} {now}", x + width * 0.12, 120 - height, width * 0.76, height),
        )
        current = Markup(' aria-current="step"') if state.number == here else ""
        parts.append(
            Markup('<a href="{}" aria-label="State {}: {}, {} tokens"{}>{}</a>').format(
                link(state.number), state.number, what, state.total_tokens, current, Markup("").join(marks)
            )
        )
    return _SVG.format(
        "climb", _WIDE, 134, Markup('role="group" aria-label="Tokens after each state"'), Markup("").join(parts)
    )


def swatch(kind: str) -> Markup:
    """Return a small square in the colour of a class. A word always stands beside it."""
    return _SWATCH.format(kind)
