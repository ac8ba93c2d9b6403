"""An edit of a page replaces exactly the part that it quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bethink.memory.learning.documents.edits import count_parts, replace_part

PAGE = "## Home\nMia lives in Oslo.\nShe has a cat.\n\n## School\n\n- Mia is seven.\n- She can swim.\n- She sings."


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("Mia lives in Oslo.\nShe has a cat.", "Mia lives in Bergen.", "## Home\nMia lives in Bergen."),
        ("Mia lives in  Oslo. She has a cat. [f1]", "Mia lives in Bergen.", "## Home\nMia lives in Bergen."),
        ("Mia lives in Oslo. She has a cat.", "## Home\nMia lives in Bergen.", "## Home\nMia lives in Bergen."),
        ("## Home\nMia lives in Oslo. She has a cat.", "## Flat\nMia has one.", "## Flat\nMia has one."),
        ("## Home\n\nMia lives in Oslo. She has a cat.", "Mia has a flat.", "Mia has a flat."),
        ("- She can swim.", "- She can dive.", "- Mia is seven.\n- She can dive.\n- She sings."),
        ("She can swim.", "She can dive.", "- Mia is seven.\n- She can dive.\n- She sings."),
        ("- She can swim.\n- She sings.", "- She dives.\n- She hums.", "- Mia is seven.\n- She dives.\n- She hums."),
        ("- She can swim.", "", "- Mia is seven.\n- She sings."),
        ("## School\n\n- Mia is seven.", "- Mia is eight.", "She has a cat.\n\n- Mia is eight.\n- She can swim."),
    ],
)
def test_edit_replaces_a_paragraph_or_a_point(old: str, new: str, expected: str) -> None:
    assert count_parts(PAGE, old) == 1
    assert expected in replace_part(PAGE, old, new)


def test_removing_the_text_below_a_heading_removes_the_heading() -> None:
    assert replace_part(PAGE, "Mia lives in Oslo. She has a cat.", "").startswith("## School")
    assert replace_part(PAGE, "- She sings.", "").endswith("- She can swim.")


@pytest.mark.parametrize("old", ["", "Mia", "Mia lives in Oslo.", "- She can", "She sings.\n\nMia is seven."])
def test_a_text_that_is_no_whole_part_is_not_found(old: str) -> None:
    assert count_parts(PAGE, old) == 0


def test_a_part_that_occurs_twice_is_counted_twice() -> None:
    assert count_parts("Tea.\n\nTea.", "Tea.") == 2


@given(st.lists(st.sampled_from(["## A", "- b", "c", "", "d e"]), max_size=8), st.data())
def test_editing_a_line_changes_no_other(lines: list[str], data: st.DataObject) -> None:
    body = "\n".join(lines)
    old = data.draw(st.sampled_from(["## A", "- b", "c", "d e"]))

    if count_parts(body, old) == 1:
        edited = replace_part(body, old, "new")
        assert "new" in edited
        assert [line for line in edited.split() if line in ("A", "b", "c")] == [
            line for line in body.split() if line in ("A", "b", "c") and line not in old.split()
        ]  # fmt: skip
