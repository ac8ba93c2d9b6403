"""Parsing of metadata conditions on the command line."""

from typing import Any

import pytest

from bethink.cli.command import UsageError
from bethink.cli.narrowing import conditions


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("rank=3", {"rank": 3}),
        ("rank!= 3", {"rank": {"ne": 3}}),
        ("a.b=x y", {"a.b": "x y"}),
        ("k=[1,2]", {"k": [1, 2]}),
        ('k="3"', {"k": "3"}),
        ("k~part", {"k": {"contains": "part"}}),
    ],
)
def test_a_condition_is_a_key_an_operator_and_a_value(written: str, meant: dict[str, Any]) -> None:
    assert conditions([written]) == meant


@pytest.mark.parametrize(
    "written", ["rank!==3", "rank==3", "rank=>3", "rank<>3", "rank>>3", "rank=[1,", "rank!=[3", "x"]
)
def test_unknown_operator_is_rejected(written: str) -> None:
    with pytest.raises(UsageError, match="Cannot parse the condition"):
        conditions([written])
