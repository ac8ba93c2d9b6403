"""The linear model that decides whether a value is a secret. `benchmarks.redaction_training` makes its table."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, cast

from bethink.providers.redaction.features import FEATURES

_FILE = Path(__file__).with_name("weights.json")


class LinearModel(NamedTuple):
    """Weights by feature, and what a value needs in a line of prose or code, and plain words in addition."""

    bias: float
    prose: float
    code: float
    plain: float
    tables: tuple[dict[str, float], ...]

    def score(self, atoms: Iterable[str]) -> float:
        """Return the sum of the weights: above zero, a value is more likely a secret than not."""
        return sum(filter(None, map(dict[str, float].get, self.tables, atoms)), self.bias)  # the loop runs in C


def load(path: Path = _FILE) -> LinearModel:
    """Return the model of a table: a JSON object of weights by feature."""
    data = cast("dict[str, dict[str, float]]", json.loads(path.read_text("utf-8")))
    rule = data["model"]
    tables = tuple(data.get(feature, {}) for feature in FEATURES)
    return LinearModel(rule["bias"], rule["prose"], rule["code"], rule["plain"], tables)
