"""Download a model of the catalog: verify each file, then move the complete folder into place."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bethink.base.installed import install_hint
from bethink.errors import ConfigurationError, ModelResponseError, ModelUnavailableError
from bethink.providers.weights.catalog import CatalogEntry
from bethink.providers.weights.manifest import read_manifest

if TYPE_CHECKING:
    import httpx2

_OK = 200
_TIMEOUT = 60.0
_AGAIN = "Run the command again. Nothing was changed."


async def pull(entry: CatalogEntry, folder: Path, *, base: str, progress: Callable[[int], None] | None = None) -> bool:
    """Download a model into `folder / entry.name`, and return whether a download was needed.

    `progress` is called with the number of bytes of each part. A model with the same files only gets the manifest of
    the catalog; any other is replaced. Raises `ModelUnavailableError` if a file cannot be
    downloaded, `ModelResponseError` if it differs from the catalog, and `ConfigurationError` without the client
    or a usable address.
    """
    if _has_files(entry, folder):
        entry.manifest.write(folder / entry.name)
        return False
    http = _client(base)
    staging = _make_staging_folder(entry, folder)
    try:
        async with http:
            for name in entry.sources:
                await _fetch(http, entry, name, staging / name, base=base, progress=progress)
        entry.manifest.write(staging)
        _move(staging, folder / entry.name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return True


def is_downloaded(entry: CatalogEntry, folder: Path) -> bool:
    """Return whether a model was downloaded with the files and the manifest of the catalog."""
    try:
        return read_manifest(folder / entry.name) == entry.manifest and _has_files(entry, folder)
    except ConfigurationError:
        return False


def _has_files(entry: CatalogEntry, folder: Path) -> bool:
    try:
        entry.manifest.check_files(folder / entry.name)
    except ConfigurationError:
        return False
    return True


def _client(base: str) -> "httpx2.AsyncClient":
    try:
        import httpx2  # noqa: PLC0415 - only downloads need it
    except ImportError as error:
        raise ConfigurationError("Downloads need httpx2, which is not installed.", hint=install_hint("onnx")) from error
    if urlsplit(base).scheme not in ("http", "https") or not urlsplit(base).netloc:
        raise ConfigurationError(
            f"models_url = {base!r} is not an http:// or https:// URL.", hint="Correct models_url."
        )
    return httpx2.AsyncClient(follow_redirects=True, timeout=_TIMEOUT, headers={"User-Agent": "bethink"})


def _make_staging_folder(entry: CatalogEntry, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f".{entry.name}-", dir=folder))


async def _fetch(
    http: "httpx2.AsyncClient",
    entry: CatalogEntry,
    name: str,
    target: Path,
    *,
    base: str,
    progress: Callable[[int], None] | None,
) -> None:
    import httpx2  # noqa: PLC0415 - see above

    digest = hashlib.sha256()
    try:
        async with http.stream("GET", entry.address(base, name)) as response:
            if response.status_code != _OK:
                raise ModelUnavailableError(
                    f"{name} of {entry.name} cannot be downloaded: {base} returned status {response.status_code}.",
                    hint="Check `models_url`, or try again later.",
                )
            with target.open("wb") as opened:
                async for part in response.aiter_bytes():
                    opened.write(part)
                    digest.update(part)
                    if progress is not None:
                        progress(len(part))
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise ModelUnavailableError(
            f"The download of {name} of {entry.name} was interrupted: {type(error).__name__}.", hint=_AGAIN
        ) from error
    actual = digest.hexdigest()
    if actual != entry.manifest.files[name]:
        raise ModelResponseError(
            f"{name} of {entry.name} does not match the catalog: its SHA-256 is {actual}.",
            hint="Nothing was changed. If this happens again, the server at `models_url` is broken or compromised.",
        )


def _move(staging: Path, home: Path) -> None:
    """Replace a folder. The old one is deleted after the new one is in place."""
    staging.chmod(0o755)
    old = staging.with_name(f"{staging.name}.old")
    with suppress(FileNotFoundError):
        home.replace(old)
    try:
        staging.replace(home)
    except OSError:
        with suppress(FileNotFoundError):
            old.replace(home)
        raise
    shutil.rmtree(old, ignore_errors=True)
