-- The full text, with words that can be read, gives way to an index of keyed hashes, which is filled by the code.
DROP TRIGGER messages_ai;
DROP TRIGGER messages_ad;
DROP TRIGGER messages_au;
DROP TRIGGER facts_ai;
DROP TRIGGER facts_ad;
DROP TRIGGER facts_au;
DROP TRIGGER session_memories_ai;
DROP TRIGGER session_memories_ad;
DROP TRIGGER session_memories_au;
DROP TRIGGER documents_ai;
DROP TRIGGER documents_ad;
DROP TRIGGER documents_au;
DROP TABLE messages_words;
DROP TABLE messages_fts;
DROP TABLE facts_words;
DROP TABLE facts_fts;
DROP TABLE session_memories_words;
DROP TABLE session_memories_fts;
DROP TABLE documents_words;
DROP TABLE documents_fts;
DROP VIEW message_texts;
DROP VIEW fact_texts;
DROP VIEW document_texts;
DROP VIEW session_memory_texts;
DROP TABLE passages;

-- Each space gets a place and a key.
ALTER TABLE spaces ADD COLUMN place INTEGER;
ALTER TABLE spaces ADD COLUMN key BLOB;
UPDATE spaces SET key = randomblob(16), place = numbered.place
FROM (SELECT id, row_number() OVER (ORDER BY created_at, id) AS place FROM spaces) AS numbered
WHERE numbered.id = spaces.id;

CREATE UNIQUE INDEX spaces_place ON spaces (place);

CREATE TRIGGER spaces_ai AFTER INSERT ON spaces BEGIN
    UPDATE spaces SET place = (SELECT coalesce(max(place), 0) + 1 FROM spaces), key = randomblob(16) WHERE id = new.id;
END;

-- The words of every text that can be found, as hashes with the key of its space: 8 bytes each, and how often each
-- occurs, one byte each. doc: the place of its space, a number that grows within the space, and the kind, in one.
-- at: when it was said, recorded or made. asks: whether it ends with a question mark.
CREATE TABLE terms (
    doc INTEGER PRIMARY KEY,
    space_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    length INTEGER NOT NULL,
    asks INTEGER NOT NULL,
    terms BLOB NOT NULL,
    hits BLOB NOT NULL,
    UNIQUE (space_id, kind, id, number)
) STRICT;

-- Which text has which hash, in hexadecimal digits.
CREATE VIRTUAL TABLE terms_fts USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

CREATE TRIGGER terms_ad AFTER DELETE ON terms BEGIN
    DELETE FROM terms_fts WHERE rowid = old.doc;
END;

-- Roughly how many texts of a space have each of its frequent hashes; blocks: how many blocks of texts were counted.
CREATE TABLE term_counts (
    space_id TEXT NOT NULL PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    blocks INTEGER NOT NULL,
    terms BLOB NOT NULL,
    counts BLOB NOT NULL,
    missed BLOB NOT NULL
) STRICT;

-- Terms are deleted with their text, and when it is changed. The change itself adds the terms of the new text.
CREATE TRIGGER messages_terms_ad AFTER DELETE ON messages BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'message' AND id = old.session_id AND number = old.number;
END;

CREATE TRIGGER messages_terms_au AFTER UPDATE OF name, content ON messages
WHEN old.name IS NOT new.name OR old.content IS NOT new.content BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'message' AND id = old.session_id AND number = old.number;
END;

CREATE TRIGGER facts_terms_ad AFTER DELETE ON facts BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'fact' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER facts_terms_au AFTER UPDATE OF content ON facts
WHEN old.content IS NOT new.content BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'fact' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER session_memories_terms_ad AFTER DELETE ON session_memories BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER session_memories_terms_au AFTER UPDATE OF summary, raw_memory ON session_memories
WHEN old.summary IS NOT new.summary OR old.raw_memory IS NOT new.raw_memory BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER documents_terms_ad AFTER DELETE ON documents BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER documents_terms_au AFTER UPDATE OF title, description, body ON documents
WHEN old.title IS NOT new.title OR old.description IS NOT new.description OR old.body IS NOT new.body BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
END;

