"""Remote: carries out requests on a server."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from bethink.errors import OutcomeUnknown
from bethink.host import codec
from bethink.host.backend import Backend
from bethink.host.remote.calls import Calls, HttpCall, path_of, queried
from bethink.host.remote.problems import error_for
from bethink.model.answers import AnswerSentence, listener
from bethink.model.operations.base import RequestT, ResultT, Retry, Verb

if TYPE_CHECKING:
    from bethink.memory.archive.format import ArchiveManifest

_ASK = "space.ask"
_WITHOUT_BODY = ("GET", "DELETE")


class Remote(Backend):
    """A memory on a server. Safe to share between tasks.

    What is safe to send again after a lost answer is sent again; messages get idempotency keys for that.
    """

    def __init__(self, url: str, *, key: str, timeout: float = 30.0, retries: int = 5) -> None:
        self._calls = Calls(url, key=key, timeout=timeout, retries=retries)

    async def open(self) -> None:
        """Get ready to connect; nothing is sent yet."""
        await self._calls.open()

    async def close(self) -> None:
        """Close every connection."""
        await self._calls.close()

    async def run(self, verb: Verb[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        """Send a request and read its result."""
        request = request.repeatable()
        names, fields = codec.encode_request(verb, request)
        path = path_of(verb.path, {"space": space, **names})
        retry = request.retry(verb.retry)
        bodiless = verb.http_method in _WITHOUT_BODY
        asked = HttpCall(
            method=verb.http_method,
            path=path + queried(fields) if bodiless else path,
            body=None if bodiless else fields,
            reads=retry is Retry.SAFE,
            repeatable=retry is Retry.IDEMPOTENT,
            timed=verb.timed,
            waits=getattr(request, "wait", 0.0),
        )
        tell = listener.get()
        if verb.name == _ASK and tell is not None:
            return codec.decode_result(verb, await self._heard(asked, tell))
        return codec.decode_result(verb, await self._calls.answered(asked))

    async def _heard(self, asked: HttpCall, tell: Callable[[AnswerSentence], None]) -> bytes:
        """Tell each sentence of an answer as it comes, and return the answer as it was sent."""
        async for name, data in self._calls.events(replace(asked, path=f"{asked.path}/stream")):
            if name == "answer":
                return data
            if name == "problem":
                raise error_for(502, data, reads=False)[0]
            if name == "sentence":
                tell(codec.adapter(AnswerSentence).validate_json(data))
        raise OutcomeUnknown("the answer broke off.", hint="Ask again.")

    async def export_archive(self, space: str, path: Path) -> "ArchiveManifest":
        """Download the archive of a space, and check that all of it arrived."""
        from bethink.memory.archive.reading import downloaded  # noqa: PLC0415 - few programs export

        async def fetch(sink: BinaryIO) -> None:
            await self._calls.download(path_of("/spaces/{space}/archive", {"space": space}), sink)

        return await downloaded(path, fetch)
