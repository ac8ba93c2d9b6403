"""The catalog: models that can be downloaded by name, each pinned to a revision and to the hashes of its files."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any, cast

from bethink.base.frozen import frozen
from bethink.errors import ConfigurationError
from bethink.providers.weights.manifest import ModelManifest, manifest_from

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_REVISION = re.compile(r"[0-9a-f]{40}")
_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_FIELDS = {"about", "megabytes", "repository", "revision", "files", "manifest"}


@frozen
class CatalogEntry:
    """A model that can be downloaded. `sources` are the paths of its files in the repository, by their local names."""

    name: str
    about: str
    megabytes: int
    sources: Mapping[str, str]
    manifest: ModelManifest

    def address(self, base: str, file: str) -> str:
        """Return the download URL of a file."""
        manifest = self.manifest
        return f"{base.rstrip('/')}/{manifest.repository}/resolve/{manifest.revision}/{self.sources[file]}"


def is_model_name(name: str) -> bool:
    """Return whether a text is a valid name of a model and its folder."""
    return _NAME.fullmatch(name) is not None


def read_catalog(file: Path | None = None) -> dict[str, CatalogEntry]:
    """Return the models of our catalog, or of a JSON file, by name. Raises `ConfigurationError` if it is unusable."""
    try:
        source = files("bethink.providers.weights") / "catalog.json" if file is None else file
        entries = json.loads(source.read_text(encoding="utf-8"))
        return {name: _entry(name, values) for name, values in entries.items()}
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigurationError(
            f"Cannot use the catalog {file or 'catalog.json'}: {error}.",
            hint="docs/howto/vectors.md describes its fields.",
        ) from error


def _entry(name: str, values: Any) -> CatalogEntry:
    try:
        return _parse_entry(name, values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{name}: {error} is missing or invalid") from error
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _parse_entry(name: str, values: Any) -> CatalogEntry:
    unknown = set(values) - _FIELDS
    if unknown:
        raise ValueError(f"unknown field {min(unknown)!r}")
    if not is_model_name(name):
        raise ValueError("the name is not a valid folder name")
    file_entries = cast("dict[str, dict[str, str]]", values["files"])
    hashes = {local: file_entry["sha256"] for local, file_entry in file_entries.items()}
    manifest = replace(
        manifest_from(values["manifest"]), repository=values["repository"], revision=values["revision"], files=hashes
    )
    if not _REVISION.fullmatch(manifest.revision):
        raise ValueError("the revision is not a commit of 40 hexadecimal digits")
    if not _REPOSITORY.fullmatch(manifest.repository):
        raise ValueError("the repository is not OWNER/NAME")
    if not manifest.license.strip():
        raise ValueError("the license is missing")
    sources = {local: file_entry["path"] for local, file_entry in file_entries.items()}
    if not all(is_model_name(local) for local in sources) or any(".." in path for path in sources.values()):
        raise ValueError("a file name is invalid")
    return CatalogEntry(
        name=name, about=values["about"], megabytes=values["megabytes"], sources=sources, manifest=manifest
    )  # fmt: skip
