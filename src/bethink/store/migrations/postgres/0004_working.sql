CREATE TABLE threads (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C",
    mode text NOT NULL,
    state_number bigint NOT NULL DEFAULT 0,
    applied bigint NOT NULL DEFAULT 0,
    last_event bigint NOT NULL DEFAULT 0,
    last_position bigint NOT NULL DEFAULT 0,
    total_tokens bigint NOT NULL DEFAULT 0,
    compressible_tokens bigint NOT NULL DEFAULT 0,
    pending_compaction integer NOT NULL DEFAULT 0,
    pending_truncation integer NOT NULL DEFAULT 0,
    step_id text COLLATE "C",
    step_token bigint NOT NULL DEFAULT 0,
    step_until bigint,
    forked_from text COLLATE "C",
    forked_at bigint,
    created_at bigint NOT NULL,
    PRIMARY KEY (space_id, id)
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX threads_session ON threads (space_id, session_id) WHERE session_id IS NOT NULL;

CREATE TABLE events (
    space_id text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    payload json NOT NULL,
    strategy text,
    urgent integer NOT NULL CHECK (urgent IN (0, 1)),
    queued_at bigint NOT NULL,
    applied bigint,
    PRIMARY KEY (space_id, thread_id, number),
    FOREIGN KEY (space_id, thread_id) REFERENCES threads (space_id, id) ON DELETE CASCADE
);

CREATE INDEX events_queue ON events (space_id, thread_id, urgent DESC, number) WHERE applied IS NULL;
CREATE INDEX events_applied ON events (space_id, thread_id, applied) WHERE applied IS NOT NULL;

CREATE TABLE chunks (
    space_id text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    subtype text,
    content json NOT NULL,
    children json NOT NULL,
    retention text NOT NULL,
    mutable integer NOT NULL CHECK (mutable IN (0, 1)),
    priority bigint NOT NULL,
    parents json NOT NULL,
    custom json NOT NULL,
    tokens bigint NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (space_id, thread_id, id),
    FOREIGN KEY (space_id, thread_id) REFERENCES threads (space_id, id) ON DELETE CASCADE
);

-- A chunk lies at a position from one state until, not including, another: a state costs what it changed.
CREATE TABLE placements (
    space_id text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    chunk_id text COLLATE "C" NOT NULL,
    from_state bigint NOT NULL,
    to_state bigint,
    position bigint NOT NULL,
    PRIMARY KEY (space_id, thread_id, chunk_id, from_state),
    FOREIGN KEY (space_id, thread_id, chunk_id) REFERENCES chunks (space_id, thread_id, id) ON DELETE CASCADE
);

CREATE INDEX placements_live ON placements (space_id, thread_id, position) WHERE to_state IS NULL;

CREATE TABLE states (
    space_id text COLLATE "C" NOT NULL,
    thread_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    previous bigint,
    source text NOT NULL,
    event_id text COLLATE "C",
    event_type text,
    step_id text COLLATE "C",
    operations json NOT NULL,
    total_tokens bigint NOT NULL,
    recorded_at bigint NOT NULL,
    PRIMARY KEY (space_id, thread_id, number),
    FOREIGN KEY (space_id, thread_id) REFERENCES threads (space_id, id) ON DELETE CASCADE
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['threads', 'events', 'chunks', 'placements', 'states'] LOOP
        EXECUTE format(
            'CREATE POLICY own_space ON %I USING (space_id = current_setting(''bethink.space'', true))', name
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;
