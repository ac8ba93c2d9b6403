"""Write a document, compare two versions and restore the first."""

import bethink.sync
from bethink.types import DocumentDraft

with bethink.sync.connect(":memory:") as memory:
    documents = memory.space("alice").documents
    tea = documents.create(DocumentDraft(slug="tea", title="Tea", body="Green, in the morning."))
    draft = DocumentDraft(slug="tea", title="Tea", body="Green, in the morning.\nNever after six.")
    documents.update(tea.id, draft, if_version=tea.version, reason="sleeps badly")

    print(documents.diff(tea.id, 1, 2))
    documents.restore(tea.id, 1, if_version=2)
    for version in documents.versions(tea.id):
        print(version.version, version.author.kind, version.author.reason, version.body.splitlines())
