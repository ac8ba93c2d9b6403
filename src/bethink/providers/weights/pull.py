"""Downloads a model of the catalogue: checked file by file, and moved into place when it is whole."""

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bethink.errors import BadAnswer, Misconfigured, ModelUnavailable
from bethink.providers.weights.catalogue import CatalogueEntry
from bethink.providers.weights.manifest import read_manifest

if TYPE_CHECKING:
    import httpx2

_OK = 200
_TIMEOUT = 60.0
_AGAIN = "Run the command again. Nothing was changed."


async def pull(
    entry: CatalogueEntry, folder: Path, *, base: str, progress: Callable[[int], None] | None = None
) -> bool:
    """Download a model into `folder / entry.name`, and return whether that was needed.

    `progress` is called with the number of bytes of each part. A model of the same files is left as it is, except
    that it gets the manifest of the catalogue; any other is replaced. Raises `ModelUnavailable` if a file cannot be
    downloaded, `BadAnswer` if it is not the one that the catalogue describes, and `Misconfigured` without the client
    or a usable address.
    """
    if _has_files(entry, folder):
        entry.manifest.write(folder / entry.name)
        return False
    http = _client(base)
    beside = _beside(entry, folder)
    try:
        async with http:
            for name in entry.sources:
                await _fetch(http, entry, name, beside / name, base=base, progress=progress)
        entry.manifest.write(beside)
        _move(beside, folder / entry.name)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return True


def is_whole(entry: CatalogueEntry, folder: Path) -> bool:
    """Return whether a model was downloaded, with the files and the manifest that the catalogue describes."""
    try:
        return read_manifest(folder / entry.name) == entry.manifest and _has_files(entry, folder)
    except Misconfigured:
        return False


def _has_files(entry: CatalogueEntry, folder: Path) -> bool:
    try:
        entry.manifest.check_files(folder / entry.name)
    except Misconfigured:
        return False
    return True


def _client(base: str) -> "httpx2.AsyncClient":
    try:
        import httpx2  # noqa: PLC0415 - only those who download need it
    except ImportError as error:
        raise Misconfigured(
            "downloading needs httpx2, which is not installed.", hint="pip install 'bethink[onnx]'."
        ) from error
    if urlsplit(base).scheme not in ("http", "https") or not urlsplit(base).netloc:
        raise Misconfigured(f"models_url = {base!r} is not an http:// or https:// address.", hint="Correct models_url.")
    return httpx2.AsyncClient(follow_redirects=True, timeout=_TIMEOUT, headers={"User-Agent": "bethink"})


def _beside(entry: CatalogueEntry, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=f".{entry.name}-", dir=folder))


async def _fetch(
    http: "httpx2.AsyncClient",
    entry: CatalogueEntry,
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
                raise ModelUnavailable(
                    f"{name} of {entry.name} cannot be downloaded: {base} answered {response.status_code}.",
                    hint="Check models_url, or try again later.",
                )
            with target.open("wb") as opened:
                async for part in response.aiter_bytes():
                    opened.write(part)
                    digest.update(part)
                    if progress is not None:
                        progress(len(part))
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise ModelUnavailable(
            f"the transfer of {name} of {entry.name} was cut: {type(error).__name__}.", hint=_AGAIN
        ) from error
    found = digest.hexdigest()
    if found != entry.manifest.files[name]:
        raise BadAnswer(
            f"{name} of {entry.name} is not the file that the catalogue describes: its SHA-256 is {found}.",
            hint="Nothing was changed. If it happens again, what models_url points to is broken or was tampered with.",
        )


def _move(beside: Path, home: Path) -> None:
    """Put a folder in place of another; what was there is gone only once the new one is there."""
    beside.chmod(0o755)
    old = beside.with_name(f"{beside.name}.old")
    with suppress(FileNotFoundError):
        home.replace(old)
    try:
        beside.replace(home)
    except OSError:
        with suppress(FileNotFoundError):
            old.replace(home)
        raise
    shutil.rmtree(old, ignore_errors=True)
