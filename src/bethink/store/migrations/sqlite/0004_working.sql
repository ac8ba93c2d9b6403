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
