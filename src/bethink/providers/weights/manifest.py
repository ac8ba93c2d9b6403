"""The manifest beside a model: how the model was trained to be run, its licence, and the hashes of its files."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, field, fields
from pathlib import Path
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.errors import Misconfigured

MANIFEST = "bethink-model.json"
_TASKS = ("embedder", "reranker")
_POOLINGS = ("mean", "cls")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CHUNK = 1 << 20


@frozen
class ModelManifest:
    """How to run a model. The defaults are those of a model without a manifest."""

    task: str = "embedder"
    """`embedder`, or `reranker` for a cross-encoder that reads a question and a text together."""
    pooling: str = "mean"
    """What a text's vector is: the `mean` of its tokens, or the vector of the first one, `cls`."""
    question_prefix: str = ""
    """What is put in front of a question."""
    message_prefix: str = ""
    """What is put in front of a stored text."""
    max_tokens: int = 256
    """How many tokens of a text are read."""
    one_at_a_time: bool = False
    """Run each text alone: a model that quantises activations gives a text another vector in every batch."""
    weight: float = 1.0
    """How much a reranker counts beside the other signals, whose sum is at most 1."""
    unrelated: float = 0.0
    """The usual cosine of a question and a text that has nothing to do with it."""
    related: float = 0.0
    """The usual cosine of a question and its answer. If both are 0, recall estimates them."""
    languages: tuple[str, ...] = ()
    """The languages that it was trained on, as ISO 639-1; `mul` for a hundred."""
    licence: str = ""
    """Its licence, as SPDX names it."""
    repository: str = ""
    """Where it comes from: a repository of the model hub."""
    revision: str = ""
    """The commit there."""
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
        """What makes the vectors besides the files: part of an embedder's name, so that it must not change."""
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
        """Raise `Misconfigured` if a file in the folder is missing or has another hash than the manifest says."""
        for name, digest in self.files.items():
            file = folder / name
            if not file.is_file() or sha256_of(file) != digest:
                what = "is not the file" if file.is_file() else "is missing, a file"
                raise Misconfigured(
                    f"{name} in {folder.name!r} {what} that {MANIFEST} describes.",
                    hint=f"Remove the folder, and run 'bethink models pull {folder.name}' again.",
                )


def read_manifest(folder: Path) -> ModelManifest | None:
    """Return the manifest in a folder, if there is one. Raises `Misconfigured` if it cannot be used."""
    file = folder / MANIFEST
    if not file.is_file():
        return None
    try:
        return manifest_from(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise Misconfigured(
            f"cannot use {MANIFEST} in {folder.name!r}: {error}.", hint="docs/howto/vectors.md describes its fields."
        ) from error


def manifest_from(values: object) -> ModelManifest:
    """Return the manifest that a JSON object describes. Raises `ValueError` for an unknown field or a wrong type."""
    if not isinstance(values, dict):
        raise ValueError("it is not an object")  # noqa: TRY004 - as every other wrong value
    known = {each.name for each in fields(ModelManifest)}
    plain: Any = ModelManifest()
    found: dict[str, Any] = {}
    for name, value in cast("dict[str, Any]", values).items():
        if name not in known:
            raise ValueError(f"unknown field {name!r}")
        found[name] = _typed(name, value, getattr(plain, name))
    return ModelManifest(**found)


def _typed(name: str, value: object, like: object) -> object:
    found = value
    if isinstance(value, list):
        found = tuple(cast("list[object]", value))
    elif type(value) is int and isinstance(like, float):
        found = float(value)
    if type(found) is not type(like) or not all(isinstance(each, str) for each in _parts(found)):
        raise ValueError(f"{name} is not of the right type")
    return found


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
