"""`frozen` makes what `dataclass` makes, with less to compile."""

from dataclasses import FrozenInstanceError, dataclass, field, replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.base.frozen import frozen


def _point() -> type:
    class Point:
        x: int
        name: str = "a"
        seen: tuple[int, ...] = field(default=(), compare=False)
        secret: str = field(default="", repr=False)

    return Point


_OURS: Any = frozen(cast("Any", _point()))
_THEIRS: Any = cast("Any", dataclass(frozen=True, slots=True, kw_only=True))(_point())
_VALUES = st.fixed_dictionaries(
    {"x": st.integers(0, 2)},
    optional={
        "name": st.text("ab'", max_size=2),
        "seen": st.tuples(st.integers(0, 1)),
        "secret": st.sampled_from(["", "s"]),
    },
)


@given(_VALUES, _VALUES)
def test_a_record_compares_hashes_and_reads_like_a_dataclass(one: dict[str, Any], other: dict[str, Any]) -> None:
    ours, theirs = (_OURS(**one), _OURS(**other)), (_THEIRS(**one), _THEIRS(**other))
    assert (ours[0] == ours[1]) == (theirs[0] == theirs[1])
    assert [hash(each) for each in ours] == [hash(each) for each in theirs]
    assert [repr(each) for each in ours] == [repr(each) for each in theirs]
    assert replace(ours[0], **other) == _OURS(**one | other)


@frozen
class _Pair:
    left: int
    right: int


@frozen(kw_only=False)
class _Same:
    left: int
    right: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.left == other.left

    def __hash__(self) -> int:
        return self.left


@frozen
class _Alike:  # noqa: PLW1641 - the decorator gives it one
    left: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Alike) and self.left % 2 == other.left % 2


@frozen
class _Nothing:
    pass


def test_a_record_of_another_class_with_the_same_values_is_not_equal() -> None:
    assert _Pair(left=1, right=2) != _Same(1, 2)


def test_methods_defined_by_a_class_are_kept() -> None:
    assert _Same(1, 2) == _Same(1, 3)
    assert hash(_Same(7)) == 7
    assert repr(_Same(1)) == "_Same(left=1, right=0)"
    assert _Alike(left=1) == _Alike(left=3)
    assert hash(_Alike(left=1)) == hash(_Alike(left=1))


def test_records_without_fields_are_all_equal() -> None:
    assert _Nothing() == _Nothing()
    assert hash(_Nothing()) == hash(_Nothing())


def test_a_record_cannot_be_changed_and_takes_no_positions() -> None:
    pair: Any = _Pair(left=1, right=2)
    with pytest.raises(FrozenInstanceError):
        pair.left = 3
    with pytest.raises((AttributeError, TypeError)):
        pair.other = 3
    make: Any = _Pair
    with pytest.raises(TypeError):
        make(1, 2)
