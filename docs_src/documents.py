"""Write a document, change it, see what changed, and take it back."""

import anyio

import bethink
from bethink.model.documents import DocumentDraft


async def main() -> None:
    async with bethink.connect(":memory:") as memory:
        docs = memory.space("alice").documents
        tea = await docs.create(DocumentDraft(slug="tea", title="Tea", body="Green, in the morning."))
        if tea is None:
            return  # memory is switched off
        changed = DocumentDraft(slug="tea", title="Tea", body="Green, in the morning.\nNever after six.")
        await docs.update(tea.id, changed, expected=tea.version)

        print(await docs.diff(tea.id, 1, 2))
        await docs.restore(tea.id, 1, expected=2)
        for version in await docs.history(tea.id):
            print(version.version, version.author.kind, version.author.reason or "written", version.body.splitlines())


anyio.run(main)
