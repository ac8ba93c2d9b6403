"""Write a document, change it, see what changed, and restore the first version."""

import anyio

import bethink


async def main() -> None:
    async with bethink.connect(":memory:") as memory:
        documents = memory.space("alice").documents
        draft = bethink.DocumentDraft(slug="tea", title="Tea", body="Green, in the morning.")
        tea = await documents.create(draft)
        changed = bethink.DocumentDraft(slug="tea", title="Tea", body="Green, in the morning.\nNever after six.")
        await documents.update(tea.id, changed, expected=tea.version)

        print(await documents.diff(tea.id, 1, 2))
        await documents.restore(tea.id, 1, expected=2)
        for version in await documents.versions(tea.id):
            print(version.version, version.author.kind, version.author.reason or "written", version.body.splitlines())


anyio.run(main)
