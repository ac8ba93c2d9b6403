"""Bring memories from elsewhere: single statements as facts, notes as documents."""

from datetime import datetime

import anyio

import bethink

# What mem0 lists for a user, or a graph's edges; shortened to the fields that are used here.
STATEMENTS = [
    {"id": "3c90c3cc", "memory": "Lives in Bergen", "created_at": "2026-05-20T08:00:00Z", "until": ""},
    {
        "id": "77e1b0aa",
        "memory": "Lives in Oslo",
        "created_at": "2026-01-05T08:00:00Z",
        "until": "2026-05-20T08:00:00Z",
    },
]
NOTES = {"coffee": "# Coffee\n\n- [preference] No coffee after noon"}  # or files: path.stem and path.read_text()


async def main() -> None:
    async with bethink.connect(":memory:") as memory:
        ida = memory.space("ida")
        for each in STATEMENTS:
            until = datetime.fromisoformat(each["until"]) if each["until"] else None
            begun = datetime.fromisoformat(each["created_at"])
            await ida.facts.save(
                bethink.Fact(id=each["id"], content=each["memory"], source="mem0", valid_from=begun, valid_to=until)
            )

        for name, text in NOTES.items():
            await ida.documents.create(bethink.DocumentDraft(slug=name, title=name.title(), body=text))

        for item in (await ida.recall("Where does she live, and what about coffee?")).items:
            print(item.ref.kind, item.origin, "|", item.text.splitlines()[-1])


anyio.run(main)
