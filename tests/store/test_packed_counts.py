"""Counts of long texts, packed until they are stored."""

from hypothesis import given
from hypothesis import strategies as st

from bethink.store.terms import PackedCounts, message_words, words_of


@given(st.dictionaries(st.text("abc123'-", min_size=1), st.integers(1, 10_000)))
def test_packed_counts_equal_the_dict(counts: dict[str, int]) -> None:
    packed = PackedCounts(counts)
    assert list(packed) == list(counts)
    assert packed.times() == list(counts.values())
    assert dict(packed) == counts
    assert len(packed) == len(counts)


def test_a_long_message_has_the_same_terms_packed() -> None:
    text = " ".join(f"word{number} 漢{chr(0x4E00 + number)}字" for number in range(3_000))
    packed, plain = message_words(text, None, by_user=False), words_of(text)
    assert isinstance(packed.counts, PackedCounts)
    assert dict(zip(packed.counts, packed.counts.times(), strict=True)) == plain.counts
    assert not any("\n" in term for term in plain.counts)
