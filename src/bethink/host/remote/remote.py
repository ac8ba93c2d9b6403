"""Remote: runs requests on a server."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bethink.errors import OutcomeUnknownError
from bethink.host import codec
from bethink.host.backend import Backend
from bethink.host.remote.calls import Calls, HttpCall, path_of, to_query_string
from bethink.host.remote.problems import error_for
from bethink.model.answers import AnswerSentence, listener
from bethink.model.operations.base import Operation, RequestT, ResultT, Retry

if TYPE_CHECKING:
    from bethink.memory.archive.format import ArchiveManifest

_ASK = "space.ask"
_WITHOUT_BODY = ("GET", "DELETE")


class Remote(Backend):
    """A memory on a server. Safe to share between tasks.

    Requests are retried where that is safe. Messages get idempotency keys for that.
    """

    def __init__(self, url: str, *, key: str, timeout: float = 30.0, retries: int = 5) -> None:
        self._calls = Calls(url, key=key, timeout=timeout, retries=retries)

    async def open(self) -> None:
        """Prepare the client, without sending anything."""
        await self._calls.open()

    async def close(self) -> None:
        """Close every connection."""
        await self._calls.close()

    async def run(self, operation: Operation[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Send a request and decode its result."""
        request = request.repeatable()
        names, fields = codec.encode_request(operation, request)
        path = path_of(operation.path, {"space": space, **names})
        retry = request.retry(operation.retry)
        bodiless = operation.http_method in _WITHOUT_BODY
        call = HttpCall(
            method=operation.http_method,
            path=path + to_query_string(fields) if bodiless else path,
            body=None if bodiless else fields,
            read_only=retry is Retry.SAFE,
            repeatable=retry is Retry.IDEMPOTENT,
            has_timeout=operation.timed,
            extra_wait=request.wait_seconds(),
        )
        on_sentence = listener.get()
        if operation.name == _ASK and on_sentence is not None:
            return codec.decode_result(operation, await self._stream_answer(call, on_sentence))
        return codec.decode_result(operation, await self._calls.send(call))

    async def _stream_answer(self, call: HttpCall, on_sentence: Callable[[AnswerSentence], None]) -> bytes:
        """Call `on_sentence` for each sentence of an answer, and return the encoded answer."""
        async for name, data in self._calls.events(replace(call, path=f"{call.path}/stream")):
            if name == "answer":
                return data
            if name == "problem":
                raise error_for(502, data, read_only=False)[0]
            if name == "sentence":
                on_sentence(codec.adapter(AnswerSentence).validate_json(data))
        raise OutcomeUnknownError(
            "The answer is incomplete: the server closed the connection.", hint="Call `ask` again."
        )

    async def export_archive(self, space: str, path: Path) -> "ArchiveManifest":
        """Download the archive of a space and verify that it is complete."""
        from bethink.memory.archive.reading import download  # noqa: PLC0415 - few programs export

        async def fetch(sink: BinaryIO) -> None:
            await self._calls.download(path_of("/spaces/{space}/archive", {"space": space}), sink)

        return await download(path, fetch)
