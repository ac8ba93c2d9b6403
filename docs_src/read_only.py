"""Wrap a backend: a memory that rejects writes."""

import anyio

import bethink
from bethink.errors import PermissionDeniedError
from bethink.extensions.backends import Backend, Operation, RequestT, ResultT


class ReadOnly(Backend):
    def __init__(self, inner: Backend) -> None:
        self.inner = inner

    async def run(self, operation: Operation[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        if operation.scope != "read":
            raise PermissionDeniedError("This memory is read-only.", hint="Use the memory that it wraps.")
        return await self.inner.run(operation, space, request)


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        reader = bethink.Memory(ReadOnly(memory.backend)).space("alice")
        print(len(await reader.recall("Who plays the cello?")), "results")
        try:
            await reader.remember("Anna plays the cello on Fridays")
        except PermissionDeniedError as error:
            print(error)


anyio.run(main)
