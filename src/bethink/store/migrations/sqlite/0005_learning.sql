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
