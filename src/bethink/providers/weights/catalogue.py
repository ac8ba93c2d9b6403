"""The catalogue: models that can be downloaded by name, each pinned to a revision and to the hashes of its files."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.errors import Misconfigured
from bethink.providers.weights.manifest import ModelManifest, manifest_from

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_REVISION = re.compile(r"[0-9a-f]{40}")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_FIELDS = {"about", "megabytes", "repository", "revision", "files", "manifest"}


@frozen
class CatalogueEntry:
    """A model that can be downloaded. `sources` are the paths of its files in the repository, by their local names."""

    name: str
    about: str
    megabytes: int
    sources: Mapping[str, str]
    manifest: ModelManifest

    def address(self, base: str, file: str) -> str:
        """Return where a file is downloaded from."""
        manifest = self.manifest
        return f"{base.rstrip('/')}/{manifest.repository}/resolve/{manifest.revision}/{self.sources[file]}"


def is_model_name(name: str) -> bool:
    """Return whether a text may be the name of a model, and with that of a folder."""
    return _NAME.fullmatch(name) is not None


def read_catalogue(file: Path | None = None) -> dict[str, CatalogueEntry]:
    """Return the models of our catalogue, or of a JSON file, by name. Raises `Misconfigured` if it is unusable."""
    try:
        source = files("bethink.providers.weights") / "catalogue.json" if file is None else file
        written = json.loads(source.read_text(encoding="utf-8"))
        return {name: _entry(name, values) for name, values in written.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise Misconfigured(
            f"cannot use the catalogue {file or 'catalogue.json'}: {error}.",
            hint="docs/howto/vectors.md describes its fields.",
        ) from error


def _entry(name: str, values: Any) -> CatalogueEntry:
    try:
        return _checked(name, values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{name}: {error} is missing or wrong") from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _checked(name: str, values: Any) -> CatalogueEntry:
    unknown = set(values) - _FIELDS
    if unknown:
        raise ValueError(f"unknown field {min(unknown)!r}")
    if not is_model_name(name):
        raise ValueError("its name cannot be that of a folder")
    described = cast("dict[str, dict[str, str]]", values["files"])
    hashes = {local: each["sha256"] for local, each in described.items()}
    manifest = replace(
        manifest_from(values["manifest"]), repository=values["repository"], revision=values["revision"], files=hashes
    )
    if not _REVISION.fullmatch(manifest.revision):
        raise ValueError("the revision is not a commit of 40 hexadecimal digits")
    if not _REPOSITORY.fullmatch(manifest.repository):
        raise ValueError("the repository is not OWNER/NAME")
    if not manifest.licence.strip():
        raise ValueError("it has no licence")
    sources = {local: each["path"] for local, each in described.items()}
    if not all(is_model_name(local) for local in sources) or any(".." in path for path in sources.values()):
        raise ValueError("a file has a name that cannot be used")
    return CatalogueEntry(
        name=name, about=values["about"], megabytes=values["megabytes"], sources=sources, manifest=manifest
    )  # fmt: skip
