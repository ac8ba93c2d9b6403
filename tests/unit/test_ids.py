import uuid

from hypothesis import given
from hypothesis import strategies as st

from bethink.model.ids import new_id, shard_for, uuid7_int


def test_ids_carry_their_prefix_and_never_repeat() -> None:
    ids = {new_id("ses") for _ in range(1000)}

    assert len(ids) == 1000
    assert all(each.startswith("ses_") and len(each) == 30 for each in ids)


@given(st.integers(0, 2**48 - 1), st.integers(0, 2**80 - 1))
def test_the_layout_is_that_of_a_version_7_uuid(milliseconds: int, random: int) -> None:
    made = uuid.UUID(int=uuid7_int(milliseconds, random))

    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert made.int >> 80 == milliseconds


@given(st.integers(0, 2**47), st.integers(0, 2**80 - 1), st.integers(0, 2**80 - 1))
def test_a_later_id_sorts_after_an_earlier_one(milliseconds: int, early: int, late: int) -> None:
    assert uuid7_int(milliseconds, early) < uuid7_int(milliseconds + 1, late)


def test_every_space_has_a_shard() -> None:
    assert shard_for("alice") == 0
