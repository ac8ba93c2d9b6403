"""Explains each line of a document by the version that brought it."""

from bethink.errors import NotFound
from bethink.model.blame import Blame, Blamer
from bethink.store import document_pages, documents
from bethink.store.db import Tx

_VERSIONS = 200
"""How many versions are compared; a line that is older counts as brought by the last of them."""
_TOGETHER = 20


def blame(tx: Tx, *, space: str, document_id: str, version: int | None) -> Blame:
    """Return the lines of a version of a document, or of its newest, each with the version that brought it."""
    before = None if version is None else version + 1
    if before is None:
        last = documents.last_version(tx, space=space, document_id=document_id)
        before = 0 if last is None else last.version + 1
    read = document_pages.bodies(tx, space=space, document_id=document_id, before=before, limit=_TOGETHER)
    if not read or (version is not None and read[0].version != version):
        which = "" if version is None else f" version {version} of"
        raise NotFound(f"there is no{which} document {document_id!r} in space {space!r}.")
    newest = read[0]
    blamer, older, compared = Blamer(newest), read[1:], len(read)
    while not blamer.done and older:
        blamer.look_back(older)
        more = 0 if blamer.done else min(_TOGETHER, _VERSIONS - compared)
        oldest = older[-1].version
        older = document_pages.bodies(tx, space=space, document_id=document_id, before=oldest, limit=more)
        compared += len(older)
    lines = blamer.lines(first=1)
    brought = {line.version for line in lines}
    found = document_pages.blamed(tx, space=space, document_id=document_id, versions=brought) if brought else ()
    return Blame(document_id=document_id, version=newest.version, lines=lines, versions=found)
