-- Everything with words in it has a row here, whose number the full text goes by: VACUUM may renumber other tables.
CREATE TABLE passages (
    row INTEGER PRIMARY KEY,
    space_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    UNIQUE (space_id, kind, id, number)
) STRICT;

DROP TRIGGER facts_ai;
DROP TRIGGER facts_ad;
DROP TRIGGER facts_au;
DROP TRIGGER documents_ai;
DROP TRIGGER documents_ad;
DROP TRIGGER documents_au;
DROP TABLE facts_fts;
DROP TABLE documents_fts;

INSERT INTO passages (space_id, kind, id, number) SELECT space_id, 'message', session_id, number FROM messages;
INSERT INTO passages (space_id, kind, id, number) SELECT space_id, 'fact', id, version FROM facts;
INSERT INTO passages (space_id, kind, id, number) SELECT space_id, 'document', id, version FROM documents;
INSERT INTO passages (space_id, kind, id, number) SELECT space_id, 'session_memory', session_id, 0 FROM session_memories;

CREATE VIEW message_texts AS
SELECT p.row, coalesce(m.name, '') AS name, substr(m.content, 1, 100000) AS content
FROM passages p JOIN messages m ON m.space_id = p.space_id AND m.session_id = p.id AND m.number = p.number
WHERE p.kind = 'message';

CREATE VIEW fact_texts AS
SELECT p.row, substr(f.content, 1, 100000) AS content
FROM passages p JOIN facts f ON f.space_id = p.space_id AND f.id = p.id AND f.version = p.number
WHERE p.kind = 'fact';

CREATE VIEW document_texts AS
SELECT p.row, d.title, d.description, d.body
FROM passages p JOIN documents d ON d.space_id = p.space_id AND d.id = p.id AND d.version = p.number
WHERE p.kind = 'document';

CREATE VIEW session_memory_texts AS
SELECT p.row, substr(s.summary, 1, 100000) AS summary, substr(s.raw_memory, 1, 100000) AS raw_memory
FROM passages p JOIN session_memories s ON s.space_id = p.space_id AND s.session_id = p.id
WHERE p.kind = 'session_memory';

CREATE VIRTUAL TABLE messages_fts USING fts5 (
    name, content, content = 'message_texts', content_rowid = 'row', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE facts_fts USING fts5 (
    content, content = 'fact_texts', content_rowid = 'row', tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE documents_fts USING fts5 (
    title, description, body, content = 'document_texts', content_rowid = 'row',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE session_memories_fts USING fts5 (
    summary, raw_memory, content = 'session_memory_texts', content_rowid = 'row',
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Without secure-delete, which in SQLite 3.54 leaves words of long texts behind: whoever forgets merges the index.
INSERT INTO messages_fts (messages_fts) VALUES ('rebuild');
INSERT INTO facts_fts (facts_fts) VALUES ('rebuild');
INSERT INTO documents_fts (documents_fts) VALUES ('rebuild');
INSERT INTO session_memories_fts (session_memories_fts) VALUES ('rebuild');

-- Which word stands in which row, and how often.
CREATE VIRTUAL TABLE messages_words USING fts5vocab (messages_fts, instance);
CREATE VIRTUAL TABLE facts_words USING fts5vocab (facts_fts, instance);
CREATE VIRTUAL TABLE documents_words USING fts5vocab (documents_fts, instance);
CREATE VIRTUAL TABLE session_memories_words USING fts5vocab (session_memories_fts, instance);

CREATE TRIGGER messages_ai AFTER INSERT ON messages BEGIN
    INSERT INTO passages (space_id, kind, id, number) VALUES (new.space_id, 'message', new.session_id, new.number);
    INSERT INTO messages_fts (rowid, name, content)
    VALUES (last_insert_rowid(), coalesce(new.name, ''), substr(new.content, 1, 100000));
END;

CREATE TRIGGER messages_ad AFTER DELETE ON messages BEGIN
    INSERT INTO messages_fts (messages_fts, rowid, name, content)
    SELECT 'delete', row, coalesce(old.name, ''), substr(old.content, 1, 100000) FROM passages
    WHERE space_id = old.space_id AND kind = 'message' AND id = old.session_id AND number = old.number;
    DELETE FROM passages
    WHERE space_id = old.space_id AND kind = 'message' AND id = old.session_id AND number = old.number;
END;

CREATE TRIGGER messages_au AFTER UPDATE OF name, content ON messages BEGIN
    INSERT INTO messages_fts (messages_fts, rowid, name, content)
    SELECT 'delete', row, coalesce(old.name, ''), substr(old.content, 1, 100000) FROM passages
    WHERE space_id = old.space_id AND kind = 'message' AND id = old.session_id AND number = old.number;
    INSERT INTO messages_fts (rowid, name, content)
    SELECT row, coalesce(new.name, ''), substr(new.content, 1, 100000) FROM passages
    WHERE space_id = old.space_id AND kind = 'message' AND id = old.session_id AND number = old.number;
END;

CREATE TRIGGER facts_ai AFTER INSERT ON facts BEGIN
    INSERT INTO passages (space_id, kind, id, number) VALUES (new.space_id, 'fact', new.id, new.version);
    INSERT INTO facts_fts (rowid, content) VALUES (last_insert_rowid(), substr(new.content, 1, 100000));
END;

CREATE TRIGGER facts_ad AFTER DELETE ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, content)
    SELECT 'delete', row, substr(old.content, 1, 100000) FROM passages
    WHERE space_id = old.space_id AND kind = 'fact' AND id = old.id AND number = old.version;
    DELETE FROM passages WHERE space_id = old.space_id AND kind = 'fact' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER facts_au AFTER UPDATE OF content ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, content)
    SELECT 'delete', row, substr(old.content, 1, 100000) FROM passages
    WHERE space_id = old.space_id AND kind = 'fact' AND id = old.id AND number = old.version;
    INSERT INTO facts_fts (rowid, content)
    SELECT row, substr(new.content, 1, 100000) FROM passages
    WHERE space_id = old.space_id AND kind = 'fact' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER documents_ai AFTER INSERT ON documents BEGIN
    INSERT INTO passages (space_id, kind, id, number) VALUES (new.space_id, 'document', new.id, new.version);
    INSERT INTO documents_fts (rowid, title, description, body)
    VALUES (last_insert_rowid(), new.title, new.description, new.body);
END;

CREATE TRIGGER documents_ad AFTER DELETE ON documents BEGIN
    INSERT INTO documents_fts (documents_fts, rowid, title, description, body)
    SELECT 'delete', row, old.title, old.description, old.body FROM passages
    WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
    DELETE FROM passages WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER documents_au AFTER UPDATE OF title, description, body ON documents BEGIN
    INSERT INTO documents_fts (documents_fts, rowid, title, description, body)
    SELECT 'delete', row, old.title, old.description, old.body FROM passages
    WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
    INSERT INTO documents_fts (rowid, title, description, body)
    SELECT row, new.title, new.description, new.body FROM passages
    WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER session_memories_ai AFTER INSERT ON session_memories BEGIN
    INSERT INTO passages (space_id, kind, id, number) VALUES (new.space_id, 'session_memory', new.session_id, 0);
    INSERT INTO session_memories_fts (rowid, summary, raw_memory)
    VALUES (last_insert_rowid(), substr(new.summary, 1, 100000), substr(new.raw_memory, 1, 100000));
END;

CREATE TRIGGER session_memories_ad AFTER DELETE ON session_memories BEGIN
    INSERT INTO session_memories_fts (session_memories_fts, rowid, summary, raw_memory)
    SELECT 'delete', row, substr(old.summary, 1, 100000), substr(old.raw_memory, 1, 100000) FROM passages
    WHERE space_id = old.space_id AND kind = 'session_memory' AND id = old.session_id AND number = 0;
    DELETE FROM passages
    WHERE space_id = old.space_id AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER session_memories_au AFTER UPDATE OF summary, raw_memory ON session_memories BEGIN
    INSERT INTO session_memories_fts (session_memories_fts, rowid, summary, raw_memory)
    SELECT 'delete', row, substr(old.summary, 1, 100000), substr(old.raw_memory, 1, 100000) FROM passages
    WHERE space_id = old.space_id AND kind = 'session_memory' AND id = old.session_id AND number = 0;
    INSERT INTO session_memories_fts (rowid, summary, raw_memory)
    SELECT row, substr(new.summary, 1, 100000), substr(new.raw_memory, 1, 100000) FROM passages
    WHERE space_id = old.space_id AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;

CREATE INDEX messages_names ON messages (space_id, name) WHERE name IS NOT NULL;
