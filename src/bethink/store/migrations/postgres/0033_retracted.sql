-- A message can be taken back: it stays in the log, and is neither shown nor learnt from any more. And writes of
-- documents can be sent again under an idempotency key.
ALTER TABLE messages ADD COLUMN retracted_at bigint;

CREATE TABLE document_operations (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    key text COLLATE "C" NOT NULL,
    kind text NOT NULL CHECK (kind IN ('create', 'update', 'delete')),
    document_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (space_id, key)
);

CREATE POLICY own_space ON document_operations USING (space_id = current_setting('bethink.space', true));
ALTER TABLE document_operations ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_operations FORCE ROW LEVEL SECURITY;
