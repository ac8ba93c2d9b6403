-- A database as it was at version 13: the migrations up to there, as they were, and a few rows. Never edit it.

CREATE TABLE schema_version (
    version INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, applied_at BIGINT NOT NULL
);

-- ---------------------------------------- 0001_log.sql

CREATE TABLE spaces (
    id TEXT NOT NULL PRIMARY KEY,
    shard INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE agents (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, name)
) STRICT;

CREATE TABLE conversations (
    space_id TEXT NOT NULL,
    id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, agent_id, key),
    FOREIGN KEY (space_id, agent_id) REFERENCES agents (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE summaries (
    space_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    content TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, conversation_id),
    FOREIGN KEY (space_id, conversation_id) REFERENCES conversations (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE TABLE sessions (
    space_id TEXT NOT NULL,
    id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    learns INTEGER NOT NULL CHECK (learns IN (0, 1)),
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    end_reason TEXT,
    last_number INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, conversation_id, ordinal),
    FOREIGN KEY (space_id, conversation_id) REFERENCES conversations (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE UNIQUE INDEX sessions_active ON sessions (space_id, conversation_id) WHERE ended_at IS NULL;

CREATE TABLE messages (
    space_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    name TEXT,
    tool_calls TEXT NOT NULL CHECK (json_valid(tool_calls)),
    tool_call_id TEXT,
    is_error INTEGER NOT NULL CHECK (is_error IN (0, 1)),
    metadata TEXT NOT NULL CHECK (json_valid(metadata)),
    origin TEXT NOT NULL,
    idempotency_key TEXT,
    trace_parent TEXT,
    said_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, session_id, number),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE UNIQUE INDEX messages_idempotency ON messages (space_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

INSERT INTO schema_version VALUES (1, 'log', 1700000001000000);

-- Rows that were there before all that follows.
INSERT INTO spaces (id, shard, created_at) VALUES ('alice', 0, 1700000002000000);
INSERT INTO agents (space_id, id, name, kind, created_at)
VALUES ('alice', 'agt_1', 'assistant', 'primary', 1700000002000000);
INSERT INTO conversations (space_id, id, agent_id, key, created_at)
VALUES ('alice', 'cnv_1', 'agt_1', 'cli:desk:', 1700000002000000);
INSERT INTO sessions (space_id, id, conversation_id, agent_id, ordinal, learns, created_at, last_number)
VALUES ('alice', 'ses_1', 'cnv_1', 'agt_1', 1, 1, 1700000002000000, 2);
INSERT INTO messages (space_id, session_id, number, role, content, tool_calls, is_error, metadata, origin, said_at,
                      recorded_at) VALUES
    ('alice', 'ses_1', 1, 'user', 'I moved to Lisbon and play the cello.', '[]', 0, '{}', 'user', 1700000003000000,
     1700000003000000),
    ('alice', 'ses_1', 2, 'assistant', 'Noted.', '[]', 0, '{}', 'assistant', 1700000004000000, 1700000004000000);

-- ---------------------------------------- 0002_marks.sql

ALTER TABLE sessions ADD COLUMN invalidated_at INTEGER;
ALTER TABLE sessions ADD COLUMN processed_until INTEGER;
ALTER TABLE sessions ADD COLUMN marked_at INTEGER;
ALTER TABLE sessions ADD COLUMN marked_by TEXT;

-- What workers may see across spaces: ids, times and tokens, never content.
CREATE TABLE jobs (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, key)
) STRICT;

CREATE INDEX jobs_queue ON jobs (kind, queued_at, space_id, key);

INSERT INTO schema_version VALUES (2, 'marks', 1700000001000000);

-- ---------------------------------------- 0003_facts.sql

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

INSERT INTO schema_version VALUES (3, 'facts', 1700000001000000);

-- ---------------------------------------- 0004_working.sql

CREATE TABLE threads (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    session_id TEXT,
    mode TEXT NOT NULL,
    state_number INTEGER NOT NULL DEFAULT 0,
    applied INTEGER NOT NULL DEFAULT 0,
    last_event INTEGER NOT NULL DEFAULT 0,
    last_position INTEGER NOT NULL DEFAULT 0,
    total_tokens INTEGER NOT NULL DEFAULT 0,
    compressible_tokens INTEGER NOT NULL DEFAULT 0,
    pending_compaction INTEGER NOT NULL DEFAULT 0,
    pending_truncation INTEGER NOT NULL DEFAULT 0,
    step_id TEXT,
    step_token INTEGER NOT NULL DEFAULT 0,
    step_until INTEGER,
    forked_from TEXT,
    forked_at INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE UNIQUE INDEX threads_session ON threads (space_id, session_id) WHERE session_id IS NOT NULL;

CREATE TABLE events (
    space_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    payload TEXT NOT NULL CHECK (json_valid(payload)),
    strategy TEXT,
    urgent INTEGER NOT NULL CHECK (urgent IN (0, 1)),
    queued_at INTEGER NOT NULL,
    applied INTEGER,
    PRIMARY KEY (space_id, thread_id, number),
    FOREIGN KEY (space_id, thread_id) REFERENCES threads (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX events_queue ON events (space_id, thread_id, urgent DESC, number) WHERE applied IS NULL;
CREATE INDEX events_applied ON events (space_id, thread_id, applied) WHERE applied IS NOT NULL;

CREATE TABLE chunks (
    space_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    id TEXT NOT NULL,
    type TEXT NOT NULL,
    subtype TEXT,
    content TEXT NOT NULL CHECK (json_valid(content)),
    children TEXT NOT NULL CHECK (json_valid(children)),
    retention TEXT NOT NULL,
    mutable INTEGER NOT NULL CHECK (mutable IN (0, 1)),
    priority INTEGER NOT NULL,
    parents TEXT NOT NULL CHECK (json_valid(parents)),
    custom TEXT NOT NULL CHECK (json_valid(custom)),
    tokens INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, thread_id, id),
    FOREIGN KEY (space_id, thread_id) REFERENCES threads (space_id, id) ON DELETE CASCADE
) STRICT;

-- A chunk lies at a position from one state until, not including, another: a state costs what it changed.
CREATE TABLE placements (
    space_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    chunk_id TEXT NOT NULL,
    from_state INTEGER NOT NULL,
    to_state INTEGER,
    position INTEGER NOT NULL,
    PRIMARY KEY (space_id, thread_id, chunk_id, from_state),
    FOREIGN KEY (space_id, thread_id, chunk_id) REFERENCES chunks (space_id, thread_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX placements_live ON placements (space_id, thread_id, position) WHERE to_state IS NULL;

CREATE TABLE states (
    space_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    previous INTEGER,
    source TEXT NOT NULL,
    event_id TEXT,
    event_type TEXT,
    step_id TEXT,
    operations TEXT NOT NULL CHECK (json_valid(operations)),
    total_tokens INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, thread_id, number),
    FOREIGN KEY (space_id, thread_id) REFERENCES threads (space_id, id) ON DELETE CASCADE
) STRICT;

INSERT INTO schema_version VALUES (4, 'working', 1700000001000000);

-- ---------------------------------------- 0005_learning.sql

-- A failed job rests until its time comes or its session gets something new.
ALTER TABLE sessions ADD COLUMN rests INTEGER NOT NULL DEFAULT 0;

-- due_at: when it may next be claimed. While it runs that is the end of its lease; NULL means there is nothing to do.
ALTER TABLE jobs ADD COLUMN status TEXT NOT NULL DEFAULT 'queued';
ALTER TABLE jobs ADD COLUMN due_at INTEGER;
ALTER TABLE jobs ADD COLUMN token INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN worker TEXT;
ALTER TABLE jobs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN input_watermark INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN success_watermark INTEGER;
ALTER TABLE jobs ADD COLUMN started_at INTEGER;
ALTER TABLE jobs ADD COLUMN finished_at INTEGER;
ALTER TABLE jobs ADD COLUMN outcome TEXT;
ALTER TABLE jobs ADD COLUMN last_error TEXT;
ALTER TABLE jobs ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN input_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN output_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;

UPDATE jobs SET due_at = queued_at;

DROP INDEX jobs_queue;
CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE due_at IS NOT NULL AND status <> 'waiting';
CREATE INDEX jobs_quiet ON jobs (kind, due_at) WHERE due_at IS NOT NULL AND status = 'waiting';
CREATE INDEX jobs_marked ON jobs (kind, queued_at, space_id, key)
WHERE status IN ('queued', 'running', 'failed', 'dead');

-- A session that goes quiet without a mark is looked at, too.
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at)
SELECT s.space_id, 'extract', s.id, s.created_at, 'waiting', s.created_at
FROM sessions s WHERE s.learns = 1 AND s.ended_at IS NULL
ON CONFLICT (space_id, kind, key) DO NOTHING;

-- What models were paid for, a row for each worker and day, so that workers do not wait for each other.
CREATE TABLE spending (
    day INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    PRIMARY KEY (day, slot)
) STRICT;

-- Keys of this deployment, such as the one that fingerprints redacted secrets.
CREATE TABLE deployment_keys (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- What a model said for a job, stored before it is applied.
CREATE TABLE answers (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    run TEXT NOT NULL,
    position INTEGER NOT NULL,
    content TEXT NOT NULL,
    agent_id TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    token INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, key, run, position)
) STRICT;

CREATE TABLE session_memories (
    space_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    raw_memory TEXT NOT NULL,
    summary TEXT NOT NULL,
    slug TEXT NOT NULL,
    until_number INTEGER NOT NULL,
    source_updated_at INTEGER NOT NULL,
    generated_at INTEGER NOT NULL,
    model TEXT NOT NULL,
    prompt TEXT NOT NULL,
    extractor TEXT NOT NULL,
    token INTEGER NOT NULL,
    PRIMARY KEY (space_id, session_id),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
) STRICT;

-- A fact is never overwritten: what succeeds it is a new row, and the old one is retired.
DROP TRIGGER facts_ai;
DROP TRIGGER facts_ad;
DROP TRIGGER facts_au;
DROP TABLE facts_fts;
ALTER TABLE facts RENAME TO facts_before;

CREATE TABLE facts (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    kind TEXT NOT NULL,
    origin TEXT NOT NULL,
    source TEXT NOT NULL,
    tags TEXT NOT NULL CHECK (json_valid(tags)),
    metadata TEXT NOT NULL CHECK (json_valid(metadata)),
    entities TEXT NOT NULL CHECK (json_valid(entities)),
    subject TEXT,
    slot TEXT,
    valid_from INTEGER,
    valid_to INTEGER,
    created_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    retired_at INTEGER,
    retired_by TEXT,
    digest TEXT NOT NULL,
    effect TEXT,
    token INTEGER,
    model TEXT,
    prompt TEXT,
    extractor TEXT,
    PRIMARY KEY (space_id, id, version)
) STRICT;

INSERT INTO facts (space_id, id, version, content, kind, origin, source, tags, metadata, entities, created_at,
                   recorded_at, digest)
SELECT space_id, id, 1, content, 'knowledge', 'import', source, tags, metadata, '[]', created_at, created_at, ''
FROM facts_before ORDER BY rowid;
DROP TABLE facts_before;

CREATE UNIQUE INDEX facts_current ON facts (space_id, id) WHERE retired_at IS NULL;
CREATE UNIQUE INDEX facts_effect ON facts (space_id, effect) WHERE effect IS NOT NULL;
CREATE INDEX facts_digest ON facts (space_id, digest) WHERE retired_at IS NULL;
CREATE INDEX facts_slot ON facts (space_id, subject, slot) WHERE retired_at IS NULL AND slot IS NOT NULL;

CREATE VIRTUAL TABLE facts_fts USING fts5 (
    content, content = 'facts', content_rowid = 'rowid', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO facts_fts (facts_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO facts_fts (facts_fts) VALUES ('rebuild');

CREATE TRIGGER facts_ai AFTER INSERT ON facts BEGIN
    INSERT INTO facts_fts (rowid, content) VALUES (new.rowid, new.content);
END;

CREATE TRIGGER facts_ad AFTER DELETE ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
END;

CREATE TRIGGER facts_au AFTER UPDATE OF content ON facts BEGIN
    INSERT INTO facts_fts (facts_fts, rowid, content) VALUES ('delete', old.rowid, old.content);
    INSERT INTO facts_fts (rowid, content) VALUES (new.rowid, new.content);
END;

-- Which messages a learnt fact rests on; a source cannot outlive its message.
CREATE TABLE fact_sources (
    space_id TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space_id, fact_id, session_id, number),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
) STRICT;

CREATE INDEX fact_sources_message ON fact_sources (space_id, session_id, number);

INSERT INTO schema_version VALUES (5, 'learning', 1700000001000000);

-- ---------------------------------------- 0006_documents.sql

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

INSERT INTO schema_version VALUES (6, 'documents', 1700000001000000);

-- ---------------------------------------- 0007_words.sql

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

INSERT INTO schema_version VALUES (7, 'words', 1700000001000000);

-- ---------------------------------------- 0008_vectors.sql

-- Which embedders have vectors here. An id is never given out again.
CREATE TABLE vector_indexes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    embedder TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension BETWEEN 1 AND 16000),
    status TEXT NOT NULL CHECK (status IN ('filling', 'live', 'retired')),
    created_at INTEGER NOT NULL,
    live_at INTEGER,
    UNIQUE (embedder, dimension)
) STRICT;

-- Half precision. The rows of a space lie together: a search reads them all.
CREATE TABLE vectors (
    space_id TEXT NOT NULL,
    index_id INTEGER NOT NULL REFERENCES vector_indexes (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    part INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (space_id, index_id, kind, id, number, part)
) STRICT, WITHOUT ROWID;

-- What has words that can be embedded, one row for each text.
CREATE VIEW embeddable AS
SELECT space_id, 'message' AS kind, session_id AS id, number, role, name, '' AS title, '' AS description,
       content AS body, said_at
FROM messages
WHERE role IN ('user', 'assistant', 'tool') AND origin <> 'memory' AND trim(content, char(9, 10, 11, 12, 13, 32)) <> ''
UNION ALL
SELECT space_id, 'fact', id, version, NULL, NULL, '', '', content, created_at
FROM facts WHERE trim(content, char(9, 10, 11, 12, 13, 32)) <> ''
UNION ALL
SELECT space_id, 'session_memory', session_id, 0, NULL, NULL, '', summary, raw_memory, source_updated_at
FROM session_memories WHERE trim(summary || raw_memory, char(9, 10, 11, 12, 13, 32)) <> ''
UNION ALL
SELECT space_id, 'document', id, version, NULL, NULL, title, description, body, valid_from
FROM documents
WHERE redacted = 0 AND NOT (author_kind = 'job' AND slug IN ('memory', 'consolidated', 'MEMORY.md', 'memory_summary.md'))
  AND trim(title || description || body, char(9, 10, 11, 12, 13, 32)) <> '';

-- A vector goes with its text: whatever is deleted takes its vectors along.
CREATE TRIGGER messages_vectors_ad AFTER DELETE ON messages BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'message' AND id = old.session_id AND number = old.number;
END;

CREATE TRIGGER facts_vectors_ad AFTER DELETE ON facts BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'fact' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER session_memories_vectors_ad AFTER DELETE ON session_memories BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER documents_vectors_ad AFTER DELETE ON documents BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'document' AND id = old.id AND number = old.version;
END;

-- The same for a text that was changed; it is embedded again.
CREATE TRIGGER messages_vectors_au AFTER UPDATE OF name, content ON messages
WHEN old.name IS NOT new.name OR old.content IS NOT new.content BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'message' AND id = old.session_id AND number = old.number;
END;

CREATE TRIGGER facts_vectors_au AFTER UPDATE OF content ON facts
WHEN old.content IS NOT new.content BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'fact' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER session_memories_vectors_au AFTER UPDATE OF summary, raw_memory ON session_memories
WHEN old.summary IS NOT new.summary OR old.raw_memory IS NOT new.raw_memory BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER documents_vectors_au AFTER UPDATE OF title, description, body ON documents
WHEN old.title IS NOT new.title OR old.description IS NOT new.description OR old.body IS NOT new.body BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'document' AND id = old.id AND number = old.version;
END;

-- Every space has something to embed.
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at)
SELECT s.id, 'index', 'space', s.created_at, 'queued', s.created_at FROM spaces s WHERE true
ON CONFLICT (space_id, kind, key) DO NOTHING;

INSERT INTO schema_version VALUES (8, 'vectors', 1700000001000000);

-- ---------------------------------------- 0009_ledger.sql

-- What was shown, when, to whom: names only, so that nothing which is forgotten lives on here.
CREATE TABLE ledger (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    purpose TEXT NOT NULL,
    session_id TEXT NOT NULL,
    shown_at INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX ledger_session ON ledger (space_id, session_id, shown_at);

CREATE TABLE ledger_items (
    space_id TEXT NOT NULL,
    ledger_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (space_id, ledger_id, place),
    FOREIGN KEY (space_id, ledger_id) REFERENCES ledger (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX ledger_items_shown ON ledger_items (space_id, kind, id, number);

-- How often something that was shown was of use.
CREATE TABLE usage (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    usage_count INTEGER NOT NULL,
    last_usage INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, id, number)
) STRICT;

-- What is gone is of no use any more.
CREATE TRIGGER messages_usage_ad AFTER DELETE ON messages BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'message' AND id = old.session_id AND number = old.number;
END;
CREATE TRIGGER facts_usage_ad AFTER DELETE ON facts BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'fact' AND id = old.id AND number = old.version;
END;
CREATE TRIGGER session_memories_usage_ad AFTER DELETE ON session_memories BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;
CREATE TRIGGER documents_usage_ad AFTER DELETE ON documents BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
END;

INSERT INTO schema_version VALUES (9, 'ledger', 1700000001000000);

-- ---------------------------------------- 0010_api_keys.sql

-- Who may come in by the network. No secret is kept, only a keyed digest of it; and no content.
CREATE TABLE api_keys (
    prefix TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    scopes TEXT NOT NULL,
    spaces TEXT,
    created_at INTEGER NOT NULL,
    lifetime INTEGER,
    expires_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;

INSERT INTO schema_version VALUES (10, 'api_keys', 1700000001000000);

-- ---------------------------------------- 0011_threads.sql

-- The conversation whose text a thread holds: a fork keeps it when what it was forked from is gone.
ALTER TABLE threads ADD COLUMN conversation_id TEXT;

UPDATE threads SET conversation_id = (
    SELECT s.conversation_id FROM sessions s WHERE s.space_id = threads.space_id AND s.id = threads.session_id
) WHERE session_id IS NOT NULL;

-- Forks made before this: by a message that one of their chunks was made of, even if its source is gone.
UPDATE threads SET conversation_id = (
    SELECT s.conversation_id
    FROM chunks c JOIN sessions s ON s.space_id = c.space_id AND s.id = json_extract(c.custom, '$.session_id')
    WHERE c.space_id = threads.space_id AND c.thread_id = threads.id LIMIT 1
) WHERE forked_from IS NOT NULL;

-- The rest of them: as what they were forked from, if that is there and not a later thread by the same name.
WITH RECURSIVE origin (space_id, id, created_at, conversation_id) AS (
    SELECT space_id, id, created_at, conversation_id FROM threads WHERE conversation_id IS NOT NULL
    UNION
    SELECT f.space_id, f.id, f.created_at, o.conversation_id
    FROM threads f JOIN origin o ON o.space_id = f.space_id AND o.id = f.forked_from AND o.created_at <= f.created_at
    WHERE f.conversation_id IS NULL
)
UPDATE threads SET conversation_id = (
    SELECT o.conversation_id FROM origin o WHERE o.space_id = threads.space_id AND o.id = threads.id LIMIT 1
) WHERE forked_from IS NOT NULL AND conversation_id IS NULL;

-- Why an event was set aside; one that was waits no longer.
ALTER TABLE events ADD COLUMN failed TEXT;
DROP INDEX events_queue;
CREATE INDEX events_queue ON events (space_id, thread_id, urgent DESC, number)
WHERE applied IS NULL AND failed IS NULL;

INSERT INTO schema_version VALUES (11, 'threads', 1700000001000000);

-- ---------------------------------------- 0012_claims.sql

-- What was tried before is claimed on its own; in a long backlog it would be looked for among all the rest.
CREATE INDEX jobs_tried ON jobs (kind, due_at) WHERE due_at IS NOT NULL AND status <> 'waiting' AND attempts > 0;

-- Every space is listed by a promise, also one that holds no more than a thread.
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at, token)
SELECT s.id, 'index', 'space', s.created_at, 'queued', s.created_at, s.created_at FROM spaces s WHERE true
ON CONFLICT (space_id, kind, key) DO NOTHING;

INSERT INTO schema_version VALUES (12, 'claims', 1700000001000000);

-- ---------------------------------------- 0013_sources.sql

-- A source is written down once for all the versions in a row that rest on it: from `version` to `last_version`, or,
-- where that is NULL, to the newest there is.
ALTER TABLE document_sources ADD COLUMN last_version INTEGER;
UPDATE document_sources SET last_version = version WHERE version < (
    SELECT max(d.version) FROM documents d
    WHERE d.space_id = document_sources.space_id AND d.id = document_sources.document_id
);

-- When what a session memory tells was said; what was imported is older than the day it was stored.
ALTER TABLE session_memories ADD COLUMN said_from INTEGER;
ALTER TABLE session_memories ADD COLUMN said_until INTEGER;
UPDATE session_memories SET (said_from, said_until) = (
    SELECT min(m.said_at), max(m.said_at) FROM messages m
    WHERE m.space_id = session_memories.space_id AND m.session_id = session_memories.session_id
      AND m.number <= session_memories.until_number
      AND m.said_at BETWEEN -62135596800000000 AND 253402300799999999
);

INSERT INTO schema_version VALUES (13, 'sources', 1700000001000000);

-- Rows that were written at version 13.
INSERT INTO session_memories (space_id, session_id, raw_memory, summary, slug, until_number, source_updated_at,
                              generated_at, model, prompt, extractor, token, said_from, said_until)
VALUES ('alice', 'ses_1', 'She moved house.', 'A move to Lisbon', 'move', 2, 1700000004000000, 1700000005000000, 'none',
        '', '', 1, 1700000003000000, 1700000004000000);
INSERT INTO facts (space_id, id, version, content, kind, origin, source, tags, metadata, entities, created_at,
                   recorded_at, digest, effect, token)
VALUES ('alice', 'fct_1', 1, 'Alice plays the cello', 'knowledge', 'user', '', '[]', '{}', '[]', 1700000003000000,
        1700000005000000, 'd1', 'e1', 1);
INSERT INTO fact_sources (space_id, fact_id, session_id, number) VALUES ('alice', 'fct_1', 'ses_1', 1);
INSERT INTO documents (space_id, id, version, valid_from, parent_id, slug, title, description, body, created_at,
                       author_kind, author_id, reason, run, origin) VALUES
    ('alice', 'doc_1', 1, 1700000006000000, '', 'tea', 'Tea', 'What she drinks', 'Oolong in the morning.',
     1700000006000000, 'user', '', '', '', 'user'),
    ('alice', 'doc_2', 1, 1700000006000000, '', 'MEMORY.md', 'Memory', 'All of it', 'Oolong and a cello.',
     1700000006000000, 'job', 'gather', '', 'run_1', 'document');
INSERT INTO threads (space_id, id, session_id, mode, created_at, conversation_id)
VALUES ('alice', 'thr_1', 'ses_1', 'auto', 1700000006000000, 'cnv_1');
