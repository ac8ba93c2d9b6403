CREATE TABLE documents (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    valid_from INTEGER NOT NULL,
    valid_to INTEGER,
    parent_id TEXT NOT NULL,
    slug TEXT NOT NULL,
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    author_kind TEXT NOT NULL,
    author_id TEXT NOT NULL,
    reason TEXT NOT NULL,
    token INTEGER,
    run TEXT NOT NULL,
    closed_run TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL,
    redacted INTEGER NOT NULL DEFAULT 0 CHECK (redacted IN (0, 1)),
    PRIMARY KEY (space_id, id, version)
) STRICT;

-- One current version of a document, and one document of a name in a place. The top is the empty parent.
CREATE UNIQUE INDEX documents_current ON documents (space_id, id) WHERE valid_to IS NULL;
CREATE UNIQUE INDEX documents_place ON documents (space_id, parent_id, slug) WHERE valid_to IS NULL;
CREATE INDEX documents_places ON documents (space_id, parent_id, slug, valid_from);
CREATE INDEX documents_run ON documents (space_id, run) WHERE run <> '';
CREATE INDEX documents_closed ON documents (space_id, closed_run) WHERE closed_run <> '';

-- References belong to one version of their source and point at a document, not at a version of it.
CREATE TABLE document_references (
    space_id TEXT NOT NULL,
    source_id TEXT NOT NULL,
    source_version INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('parent', 'link', 'body')),
    target_id TEXT NOT NULL,
    PRIMARY KEY (space_id, source_id, source_version, kind, target_id),
    FOREIGN KEY (space_id, source_id, source_version) REFERENCES documents (space_id, id, version) ON DELETE CASCADE
) STRICT;

CREATE INDEX document_references_target ON document_references (space_id, target_id, kind);

CREATE TABLE document_sources (
    space_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space_id, document_id, version, kind, source_id, number),
    FOREIGN KEY (space_id, document_id, version) REFERENCES documents (space_id, id, version) ON DELETE CASCADE
) STRICT;

CREATE INDEX document_sources_source ON document_sources (space_id, kind, source_id, number);

CREATE VIRTUAL TABLE documents_fts USING fts5 (
    title, description, body, content = 'documents', content_rowid = 'rowid',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO documents_fts (documents_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER documents_ai AFTER INSERT ON documents BEGIN
    INSERT INTO documents_fts (rowid, title, description, body)
    VALUES (new.rowid, new.title, new.description, new.body);
END;

CREATE TRIGGER documents_ad AFTER DELETE ON documents BEGIN
    INSERT INTO documents_fts (documents_fts, rowid, title, description, body)
    VALUES ('delete', old.rowid, old.title, old.description, old.body);
END;

CREATE TRIGGER documents_au AFTER UPDATE OF title, description, body ON documents BEGIN
    INSERT INTO documents_fts (documents_fts, rowid, title, description, body)
    VALUES ('delete', old.rowid, old.title, old.description, old.body);
    INSERT INTO documents_fts (rowid, title, description, body)
    VALUES (new.rowid, new.title, new.description, new.body);
END;

-- What a consolidation selects by, and what the last one that succeeded has seen.
ALTER TABLE session_memories ADD COLUMN usage_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session_memories ADD COLUMN last_usage INTEGER;
ALTER TABLE session_memories ADD COLUMN selected INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session_memories ADD COLUMN selected_source_updated_at INTEGER;
CREATE INDEX session_memories_selected ON session_memories (space_id, session_id) WHERE selected = 1;

-- What one run changed in the tree, or would change once it is approved.
CREATE TABLE change_sets (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    run TEXT NOT NULL,
    token INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('held', 'applied', 'rejected', 'superseded', 'undone')),
    changes TEXT NOT NULL CHECK (json_valid(changes)),
    selection TEXT NOT NULL CHECK (json_valid(selection)),
    created_at INTEGER NOT NULL,
    settled_at INTEGER,
    PRIMARY KEY (space_id, run)
) STRICT;
