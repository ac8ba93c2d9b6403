"""SVG drawings. Colors come from classes: the CSP forbids inline styles, and there are two themes."""

from collections.abc import Callable, Iterable, Sequence

from markupsafe import Markup

from bethink.model.working import StateInfo

_SVG = Markup('<svg class="{}" viewBox="0 0 {} {}" preserveAspectRatio="none" {}>{}</svg>')
_SWATCH = Markup(
    '<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true"><rect class="{}" width="10" height="10"/></svg>'
)
_IMAGE = Markup('role="img" aria-label="{}"')
_WIDTH = 1_000
_MIN_BAR = 12
"""Minimum length of a bar, so that it stays visible."""


def rect(kind: str, x: float, y: float, width: float, height: float) -> Markup:
    """Return one rectangle."""
    return Markup('<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
        kind, x, y, max(width, 0.0), max(height, 0.0)
    )


def drawing(kind: str, height: int, parts: Iterable[Markup], label: str) -> Markup:
    """Return a drawing of width 1,000 with a text alternative."""
    return _SVG.format(kind, _WIDTH, height, _IMAGE.format(label), Markup("").join(parts))


def stacked_bar(parts: Sequence[tuple[str, float]], max_value: float, label: str) -> Markup:
    """Draw a stacked bar. Each part is a class and a value; `max_value` is the value at the right end."""
    x, rects = 0.0, [rect("track", 0, 0, _WIDTH, 10)]
    for name, value in parts:
        width = _WIDTH * max(value, 0.0) / max_value
        if width >= 1:
            rects.append(rect(f"sig-{name}", x, 0, max(width - 4, 1), 10))
        x += width
    return drawing("bar", 10, rects, label)


def strip(counts: Sequence[int], ticks: Sequence[float], selected: float, label: str) -> Markup:
    """Draw activity over time, learned facts as ticks, and the selected time. Positions are 0 to 1."""
    max_count, width = max([*counts, 1]), _WIDTH / max(len(counts), 1)
    rects: list[Markup] = []
    for position, count in enumerate(counts):
        height = 34 * count / max_count
        kind = "past" if (position + 0.5) * width <= selected * _WIDTH else "future"
        if count:
            rects.append(rect(kind, position * width + width * 0.12, 40 - height, max(width * 0.76, 1.5), height))
    rects.append(rect("base", 0, 40, _WIDTH, 1))
    rects += [rect("tick", position * _WIDTH - 1.5, 42, 3, 6) for position in ticks]
    rects.append(rect("here", min(max(selected * _WIDTH - 1.5, 0), _WIDTH - 3), 0, 3, 48))
    return drawing("strip", 48, rects, label)


def validity_bar(begin: float, end: float, learned: float, *, ended: bool, label: str) -> Markup:
    """Draw when a fact was valid, on the shared axis; the notch is when it was learned. Positions are 0 to 1."""
    bar = rect(
        "was" if ended else "is", min(begin * _WIDTH, _WIDTH - _MIN_BAR), 5, max((end - begin) * _WIDTH, _MIN_BAR), 10
    )
    notch = rect("notch", min(max(learned * _WIDTH - 1.5, 0), _WIDTH - 3), 1, 3, 18)
    return drawing("held", 20, [rect("base", 0, 10, _WIDTH, 1), bar, notch], label)


def axis(marks: Sequence[tuple[str, float]]) -> Markup:
    """Draw words at positions between 0 and 1, as percentages, so that letters keep their shape."""
    words = [Markup('<text x="{:.1f}%" y="13">{}</text>').format(100 * position, word) for word, position in marks]
    return Markup('<svg class="months" width="100%" height="18">{}</svg>').format(Markup("").join(words))


def ribbon(spans: Sequence[tuple[float, float, str]]) -> Markup:
    """Draw versions side by side, each with start, end and class."""
    parts = [
        rect(f"span {kind}", begin * _WIDTH + 1, 0, max((end - begin) * _WIDTH - 2, 6), 8) for begin, end, kind in spans
    ]
    return _SVG.format("ribbon", _WIDTH, 8, Markup('aria-hidden="true"'), Markup("").join(parts))


def token_bar(parts: Sequence[tuple[str, int]], room: int, marks: Sequence[tuple[str, int]], label: str) -> Markup:
    """Draw a state as a bar, one part per chunk, on a scale of `room` tokens; marks are thresholds."""
    x, rects = 0.0, [rect("track", 0, 0, _WIDTH, 22)]
    for kind, tokens in parts:
        width = _WIDTH * tokens / max(room, 1)
        rects.append(rect(f"k-{kind}", x + 0.8, 0, max(width - 1.6, 0.6), 22))
        x += width
    rects += [rect(f"limit limit-{name}", min(_WIDTH * at / max(room, 1), _WIDTH - 2), 0, 2, 22) for name, at in marks]
    return drawing("tokens", 22, rects, label)


def columns(
    states: Sequence[tuple[StateInfo, str]],
    selected: int,
    link: Callable[[int], str],
    *,
    top: float,
    limits: Sequence[tuple[str, int]] = (),
) -> Markup:
    """Draw the tokens after every state as columns. Each is a link; the foot shows the kind of event."""
    width = _WIDTH / max(len(states), 1)
    parts = [rect(f"limit limit-{name}", 0, 120 - 120 * at / top, _WIDTH, 1) for name, at in limits]
    for index, (state, kind) in enumerate(states):
        height, x = max(120 * state.total_tokens / top, 1.5), index * width
        now = "here" if state.number == selected else "later" if state.number > selected else ""
        label = (state.event_type or str(state.source)).replace("_", " ").lower()
        marks = (
            rect("target", x, 0, width, 134),
            rect(f"foot k-{kind}", x + width * 0.12, 125, width * 0.76, 5),
            rect(f"column {state.source} {now}", x + width * 0.12, 120 - height, width * 0.76, height),
        )
        current = Markup(' aria-current="step"') if state.number == selected else ""
        parts.append(
            Markup('<a href="{}" aria-label="State {}: {}, {} tokens"{}>{}</a>').format(
                link(state.number), state.number, label, state.total_tokens, current, Markup("").join(marks)
            )
        )
    return _SVG.format(
        "climb", _WIDTH, 134, Markup('role="group" aria-label="Tokens after each state"'), Markup("").join(parts)
    )


def swatch(kind: str) -> Markup:
    """Return a small square in the color of a class, to be shown next to a word."""
    return _SWATCH.format(kind)
