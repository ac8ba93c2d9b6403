"""Finds the version that introduced each line of a document."""

from bethink.errors import NotFoundError
from bethink.model.blame import Blame, Blamer, Body
from bethink.store import document_pages, documents, hidden
from bethink.store.db import Tx

_VERSIONS = 200
"""Maximum number of compared versions; an older line counts as introduced by the last of them."""
_BATCH = 20


def blame(tx: Tx, *, space: str, document_id: str, version: int | None) -> Blame:
    """Return the lines of a version of a document, or of its newest, each with the version that introduced it."""
    before = None if version is None else version + 1
    if before is None:
        last = documents.last_version(tx, space=space, document_id=document_id)
        before = 0 if last is None else last.version + 1
    words = hidden.of_space(tx, space=space)

    def read(before: int, limit: int) -> list[Body]:
        return document_pages.bodies(
            tx, space=space, document_id=document_id, before=before, limit=limit, words=words
        )  # fmt: skip

    bodies = read(before, _BATCH)
    if not bodies or (version is not None and bodies[0].version != version):
        which = "" if version is None else f" version {version} of"
        raise NotFoundError(f"There is no{which} document {document_id!r} in space {space!r}.")
    newest = bodies[0]
    blamer, older, compared = Blamer(newest), bodies[1:], len(bodies)
    while not blamer.done and older:
        blamer.compare(older)
        more = 0 if blamer.done else min(_BATCH, _VERSIONS - compared)
        older = read(older[-1].version, more)
        compared += len(older)
    lines = blamer.lines(first=1)
    introduced = {line.version for line in lines}
    versions = document_pages.blame(tx, space=space, document_id=document_id, versions=introduced) if introduced else ()
    return Blame(document_id=document_id, version=newest.version, lines=lines, versions=versions)
