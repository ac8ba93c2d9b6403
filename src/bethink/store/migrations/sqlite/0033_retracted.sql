-- A message can be taken back: it stays in the log, and is neither shown nor learnt from any more. And writes of
-- documents can be sent again under an idempotency key.
ALTER TABLE messages ADD COLUMN retracted_at INTEGER;

CREATE TABLE document_operations (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('create', 'update', 'delete')),
    document_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (space_id, key)
) STRICT;
