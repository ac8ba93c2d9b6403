"""Wrap a backend: a memory that refuses to be written to."""

import anyio

import bethink
from bethink.errors import Denied
from bethink.model.operations.base import RequestT, ResultT, Verb


class ReadOnly(bethink.Backend):
    def __init__(self, inner: bethink.Backend) -> None:
        self.inner = inner

    async def run(self, verb: Verb[RequestT, ResultT], space: str, request: RequestT) -> ResultT:
        if verb.scope != "read":
            raise Denied("this memory is read-only.", hint="Use the memory that it wraps.")
        return await self.inner.run(verb, space, request)


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        reader = bethink.Memory(ReadOnly(memory.backend)).space("alice")
        print(len((await reader.recall("Who plays the cello?")).items), "results")
        try:
            await reader.remember("Anna plays the cello on Fridays")
        except Denied as error:
            print(error)


anyio.run(main)
