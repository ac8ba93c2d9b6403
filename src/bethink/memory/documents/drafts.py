"""Remove secrets from the texts of a document before they are stored."""

import json
from dataclasses import replace

from bethink.extend import Redactor
from bethink.model.documents import DocumentDraft, Provenance
from bethink.model.text import canonical_json, clean


def redact_draft(draft: DocumentDraft, redactor: Redactor) -> DocumentDraft:
    """Return a draft without secrets."""
    redact = redactor.redact
    return replace(
        draft,
        title=redact(clean(draft.title)),
        description=redact(clean(draft.description)),
        body=redact(clean(draft.body)),
        tags=tuple(redact(clean(tag)) for tag in draft.tags),
        metadata=json.loads(canonical_json(draft.metadata, lambda text: redact(clean(text)))),
    )


def redact_provenance(provenance: Provenance, redactor: Redactor) -> Provenance:
    """Return a provenance without secrets in its reason."""
    return replace(
        provenance, author=replace(provenance.author, reason=redactor.redact(clean(provenance.author.reason)))
    )
