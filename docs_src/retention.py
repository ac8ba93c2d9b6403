"""Keep nothing for longer than it is needed, except where a court says so."""

from uuid import uuid4

import anyio

import bethink
from bethink.errors import ErasedKey, UnderLegalHold


async def main() -> None:
    async with bethink.connect("memory.db") as memory:
        ida = memory.space("ida")
        request = str(uuid4())  # the same for each retry of one request
        await ida.remember("I parked on level 3.", idempotency_key=request, conversation="car")

        await ida.retention.set(bethink.RetentionKind.MESSAGE, 365)
        await ida.retention.set(bethink.RetentionKind.FACT, 30, origin="tool")
        for rule in await ida.retention.all():
            print(rule)
        print((await ida.retention.sweep(dry_run=True)).went.messages, "messages are due")

        hold = await ida.retention.hold("case 12")
        try:
            await ida.forget(conversation="car")
        except UnderLegalHold:
            print("under a legal hold")
        await memory.lift_legal_hold("ida", hold.id, "closed")

        print((await ida.forget(before="2999-01-01")).messages, "message is gone")
        try:
            await ida.remember("I parked on level 3.", idempotency_key=request, conversation="car")
        except ErasedKey:
            print("a late retry stores nothing")


anyio.run(main)
