"""Routes of documents: the tree, its versions, and what consolidations change in it."""

from bethink.model.access import Scope
from bethink.model.consolidation import ChangeSet
from bethink.model.documents import Document, DocumentSource
from bethink.server.bodies import DocumentBody, NewDocumentBody, RestoreBody, VersionBody
from bethink.server.names import Operation
from bethink.server.problems import nothing
from bethink.server.route import Call, Verb, Verbs
from bethink.server.wire import AsOf, Diff, Items, Limit, Name, Question, TopK, Tree, Version

verbs = Verbs("/v1/spaces/{space}", "documents")
_READ = Verb(scope=Scope.READ, answer=Document)


def _there(found: Document | None) -> Document:
    if found is None:
        raise nothing()
    return found


@verbs.add("GET", "/documents", Verb(scope=Scope.READ, answer=Tree[Document] | Items[Document]))
async def documents(
    call: Call, space: Name, query: Question = None, top_k: TopK = 10, as_of: AsOf = None
) -> Tree[Document] | Items[Document]:
    """Return every document by its path; with a query, those that share words with it, the best first, as a list."""
    tree = call.memory.documents(space=space)
    if query is None:
        return Tree(items=await tree.tree(as_of=as_of))
    return Items(items=await tree.search(query, top_k, as_of=as_of))


@verbs.add(
    "POST",
    "/documents",
    Verb(scope=Scope.WRITE, answer=Document, status=201, operation=Operation.CREATE),
    also=(404, 409),
)
async def create_document(call: Call, space: Name, body: NewDocumentBody) -> Document:
    """Write a new document. Name its id to be able to repeat this: the second time it is there already (409)."""
    made = _there(await call.memory.documents(space=space).create(body.draft(), document_id=body.document_id))
    call.trail.named(made.id)
    call.trail.counted(1)
    return made


@verbs.add("GET", "/documents/{document_id}", _READ)
async def get_document(call: Call, space: Name, document_id: Name, as_of: AsOf = None) -> Document:
    """Return a document as it stands, or stood at a time."""
    return _there(await call.memory.documents(space=space).get(document_id, as_of=as_of))


@verbs.add(
    "PUT", "/documents/{document_id}", Verb(scope=Scope.WRITE, answer=Document, operation=Operation.UPDATE), also=(409,)
)
async def update_document(call: Call, space: Name, document_id: Name, body: DocumentBody) -> Document:
    """Write the next version. 409 with `current` unless `expected` is the current one."""
    made = await call.memory.documents(space=space).update(document_id, body.draft(), expected=body.expected)
    call.trail.named(document_id)
    call.trail.counted(1)
    return _there(made)


@verbs.add(
    "DELETE", "/documents/{document_id}", Verb(scope=Scope.ERASE, status=204, operation=Operation.DELETE), also=(409,)
)
async def delete_document(call: Call, space: Name, document_id: Name, expected: Version) -> None:
    """End a document that nothing hangs on; its versions stay."""
    await call.memory.documents(space=space).delete(document_id, expected=expected)
    call.trail.named(document_id)
    call.trail.counted(1)


@verbs.add("GET", "/documents/{document_id}/versions", Verb(scope=Scope.READ, answer=Items[Document]))
async def document_versions(call: Call, space: Name, document_id: Name) -> Items[Document]:
    """Return every version of a document, oldest first: what it said, who wrote it, and why."""
    return Items(items=await call.memory.documents(space=space).history(document_id))


@verbs.add("GET", "/documents/{document_id}/diff", Verb(scope=Scope.READ, answer=Diff))
async def document_diff(call: Call, space: Name, document_id: Name, before: Version, after: Version) -> Diff:
    """Write what changed between two versions, line by line; version 0 is nothing."""
    return Diff(diff=await call.memory.documents(space=space).diff(document_id, before, after))


@verbs.add("GET", "/documents/{document_id}/sources", Verb(scope=Scope.READ, answer=Items[DocumentSource]))
async def document_sources(call: Call, space: Name, document_id: Name, version: Version) -> Items[DocumentSource]:
    """Return what a version rests on: session memories, facts and messages."""
    return Items(items=await call.memory.documents(space=space).sources(document_id, version))


@verbs.add(
    "POST",
    "/documents/{document_id}/restore",
    Verb(scope=Scope.WRITE, tells=True, answer=Document, operation=Operation.UPDATE),
    also=(409,),
)
async def restore_document(call: Call, space: Name, document_id: Name, body: RestoreBody) -> Document:
    """Write an old version again as the newest. A deleted document comes back with `expected` null."""
    tree = call.memory.documents(space=space)
    call.trail.named(document_id)
    return _there(await tree.restore(document_id, body.version, expected=body.expected))


@verbs.add(
    "POST",
    "/documents/{document_id}/redact",
    Verb(scope=Scope.ERASE, status=204, operation=Operation.DELETE),
)
async def redact_document(call: Call, space: Name, document_id: Name, body: VersionBody) -> None:
    """Take the text out of a version that is past, for good."""
    await call.memory.documents(space=space).redact(document_id, body.version)
    call.trail.named(document_id)


@verbs.add("GET", "/files", Verb(scope=Scope.READ, answer=dict[str, str]))
async def files(call: Call, space: Name) -> dict[str, str]:
    """Return a space's memory as files by their names."""
    return await call.memory.documents(space=space).files()


@verbs.add("GET", "/changes", Verb(scope=Scope.READ, answer=Items[ChangeSet]))
async def changes(call: Call, space: Name, limit: Limit = 100) -> Items[ChangeSet]:
    """Return what consolidations changed, or want to change, the newest first."""
    return Items(items=await call.memory.documents(space=space).change_sets(limit=limit))


@verbs.add("POST", "/changes/{run}/approve", Verb(scope=Scope.WRITE, status=204), also=(409,))
async def approve_change(call: Call, space: Name, run: Name) -> None:
    """Put a change set that was held into the tree."""
    await call.memory.documents(space=space).approve(run)


@verbs.add("POST", "/changes/{run}/reject", Verb(scope=Scope.WRITE, status=204), also=(409,))
async def reject_change(call: Call, space: Name, run: Name) -> None:
    """Let a change set that was held never come about."""
    await call.memory.documents(space=space).reject(run)


@verbs.add("POST", "/changes/{run}/undo", Verb(scope=Scope.WRITE, status=204), also=(409,))
async def undo_change(call: Call, space: Name, run: Name) -> None:
    """Restore the tree to what it was before a run."""
    await call.memory.documents(space=space).undo(run)
