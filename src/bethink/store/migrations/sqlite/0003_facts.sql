CREATE TABLE facts (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    content TEXT NOT NULL,
    source TEXT NOT NULL,
    tags TEXT NOT NULL CHECK (json_valid(tags)),
    metadata TEXT NOT NULL CHECK (json_valid(metadata)),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE VIRTUAL TABLE facts_fts USING fts5 (
    content, content = 'facts', content_rowid = 'rowid', tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Deleted words leave the index at once, not at some later merge.
INSERT INTO facts_fts (facts_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER facts_ai AFTER INSERT ON facts BEGIN
    INSERT INTO facts_fts (rowid, content) VALUES (new.rowid, new.content);
END;

CREATE TRIGGER facts_ad AFTER DELETE ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
END;

CREATE TRIGGER facts_au AFTER UPDATE ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
    INSERT INTO facts_fts (rowid, content) VALUES (new.rowid, new.content);
END;
