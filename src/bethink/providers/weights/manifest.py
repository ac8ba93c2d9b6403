"""The manifest of a model: how to run it, its license, and the hashes of its files."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError

MANIFEST = "bethink-model.json"
_TASKS = ("embedder", "reranker")
_POOLINGS = ("mean", "cls")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


@frozen
class ModelManifest:
    """Instructions to run a model. The defaults apply to a model without a manifest."""

    task: str = "embedder"
    """`embedder`, or `reranker` for a cross-encoder that reads a question and a text together."""
    pooling: str = "mean"
    """Vector of a text: the `mean` of its tokens, or the vector of the first token, `cls`."""
    question_prefix: str = ""
    """Text put before a question."""
    message_prefix: str = ""
    """Text put before a stored text."""
    max_tokens: int = 256
    """Maximum tokens of a text that the model reads."""
    one_at_a_time: bool = False
    """Run each text alone: a model with quantized activations returns different vectors in different batches."""
    weight: float = 0.2
    """Weight of a reranker: the largest share by which it raises a score."""
    unrelated: float = 0.0
    """Typical cosine of a question and an unrelated text."""
    related: float = 0.0
    """Typical cosine of a question and its answer. If both are 0, recall estimates them."""
    languages: tuple[str, ...] = ()
    """Training languages as ISO 639-1 codes; `mul` for a hundred."""
    license: str = ""
    """SPDX license identifier."""
    repository: str = ""
    """Repository on the model hub."""
    revision: str = ""
    """Commit in the repository."""
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    """The SHA-256 of each file in the folder, by name."""

    def __post_init__(self) -> None:
        for name, allowed in (("task", _TASKS), ("pooling", _POOLINGS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} is not one of {', '.join(allowed)}")
        if not 0 < self.max_tokens <= 1_000_000:
            raise ValueError("max_tokens is out of range")
        for name, digest in self.files.items():
            if not _SHA256.fullmatch(digest):
                raise ValueError(f"the SHA-256 of {name} is not 64 hexadecimal digits")

    @property
    def recipe(self) -> str:
        """Settings that affect the vectors. They are part of an embedder's name, so this text must not change."""
        parts = [f"{self.pooling} {self.max_tokens} 1"]
        if self.question_prefix or self.message_prefix:
            parts.append(json.dumps([self.question_prefix, self.message_prefix]))
        if self.one_at_a_time:
            parts.append("alone")
        return " ".join(parts)

    def write(self, folder: Path) -> None:
        """Write the manifest into a folder."""
        text = json.dumps(asdict(self), indent=2, ensure_ascii=False)
        (folder / MANIFEST).write_text(f"{text}\n", encoding="utf-8")

    def check_files(self, folder: Path) -> None:
        """Raise `ConfigurationError` if a file in the folder is missing or has another hash than the manifest says."""
        for name, digest in self.files.items():
            file = folder / name
            if not file.is_file() or sha256_of(file) != digest:
                problem = "is not the file" if file.is_file() else "is missing; it is a file"
                raise ConfigurationError(
                    f"{name} in {folder.name!r} {problem} that {MANIFEST} describes.",
                    hint=f"Delete the folder, then run 'bethink data models pull {folder.name}' again.",
                )


def read_manifest(folder: Path) -> ModelManifest | None:
    """Return the manifest in a folder, if there is one. Raises `ConfigurationError` if it cannot be used."""
    file = folder / MANIFEST
    if not file.is_file():
        return None
    try:
        return manifest_from(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"Cannot use {MANIFEST} in {folder.name!r}: {error}.", hint="docs/howto/vectors.md describes its fields."
        ) from error


def manifest_from(values: object) -> ModelManifest:
    """Return the manifest that a JSON object describes. Raises `ValueError` for an unknown field or a wrong type."""
    if not isinstance(values, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - like other invalid values
    field_names = {attribute.name for attribute in fields(ModelManifest)}
    plain: Any = ModelManifest()
    arguments: dict[str, Any] = {}
    for name, value in cast("dict[str, Any]", values).items():
        if name not in field_names:
            raise ValueError(f"unknown field {name!r}")
        arguments[name] = _convert(name, value, getattr(plain, name))
    return ModelManifest(**arguments)


def _convert(name: str, value: object, like: object) -> object:
    converted = value
    if isinstance(value, list):
        converted = tuple(cast("list[object]", value))
    elif type(value) is int and isinstance(like, float):
        converted = float(value)
    if type(converted) is not type(like) or not all(isinstance(part, str) for part in _parts(converted)):
        raise ValueError(f"{name} has the wrong type")
    return converted


def _parts(value: object) -> list[object]:
    if isinstance(value, dict):
        return [*cast("dict[object, object]", value).values()]
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else []


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
