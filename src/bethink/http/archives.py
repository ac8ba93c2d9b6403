"""The download of a space as one file. It is not an operation, because it returns bytes and not a record."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from anyio import to_thread
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

from bethink.http.auth import require
from bethink.http.context import Context, identify
from bethink.http.middleware import HANDLED
from bethink.http.problems import error_responses
from bethink.http.slashes import restore_slashes
from bethink.model.access import Scope
from bethink.model.records import checked_name

PATH = "/v1/spaces/{space}/archive"
_CHUNK = 1 << 18
_DOCUMENTED: dict[str, Any] = {
    "operation_id": "space_archive",
    "summary": "Download everything in the space as one file.",
    "tags": ["space"],
    "response_model": None,
    "response_class": StreamingResponse,
    "openapi_extra": {
        "security": [{"key": ["read"]}],
        "parameters": [
            {
                "name": "space",
                "in": "path",
                "required": True,
                "description": "The name of the space.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[^\x00-\x1f\x7f]*$"},
            },
        ],
    },
    "responses": {
        200: {
            "description": "A zip of JSON Lines with a manifest, as `bethink data export --format archive` writes it.",
            "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
        },
        **error_responses(400, 401, 403, 404, 421, 422, 429, 503),
    },
}


def add_archives(app: FastAPI, context: Context) -> None:
    """Add the route of the download."""

    async def download(request: Request) -> StreamingResponse:
        handled: dict[str, Any] = request.scope[HANDLED]
        handled.update(route=PATH, operation="space.admin.export_archive")
        space = restore_slashes(request.path_params["space"])
        key = await identify(request, context)
        require(key, (Scope.READ,), space=space)
        handled["space"] = checked_name(space, "a space")
        # Written first and then sent: a slow reader keeps a file open, and no database transaction.
        folder = await to_thread.run_sync(lambda: tempfile.TemporaryDirectory(prefix="bethink-"))
        try:
            path = Path(folder.name) / "archive.zip"
            await context.backend.export_archive(space, path)
            file = await to_thread.run_sync(lambda: path.open("rb"))
            size = await to_thread.run_sync(lambda: path.stat().st_size)
        finally:
            await to_thread.run_sync(folder.cleanup)  # the open file stays readable until it is closed
        headers = {
            "cache-control": "no-store",
            "content-length": str(size),
            "content-disposition": 'attachment; filename="archive.zip"',
        }
        return StreamingResponse(_chunks(file), media_type="application/zip", headers=headers)

    app.add_api_route(PATH, download, methods=["GET"], **_DOCUMENTED)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
