"""Import statements as facts, and notes as documents."""

from datetime import datetime

import bethink
import bethink.sync
from bethink.types import DocumentDraft

STATEMENTS = [("3c90c3cc", "Lives in Bergen", "2026-05-20T08:00:00Z")]  # id, text, date
NOTES = {"coffee": "# Coffee\n\n- [preference] No coffee after noon"}  # or path.stem and path.read_text()

with bethink.sync.connect(":memory:") as memory:
    ida = memory.space("ida")
    for fact_id, text, date in STATEMENTS:
        start = datetime.fromisoformat(date)
        ida.facts.save(bethink.Fact(id=fact_id, text=text, source="my-export", valid_from=start))
    for name, text in NOTES.items():
        ida.documents.create(DocumentDraft(slug=name, title=name.title(), body=text))
    for match in ida.recall("Where does she live, and what about coffee?"):
        print(match.ref.kind, match.origin, "|", match.text.splitlines()[-1])
