CREATE TABLE spaces (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    shard integer NOT NULL,
    created_at bigint NOT NULL
);

CREATE TABLE agents (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, name)
);

CREATE TABLE conversations (
    space_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, agent_id, key),
    FOREIGN KEY (space_id, agent_id) REFERENCES agents (space_id, id) ON DELETE CASCADE
);

CREATE TABLE summaries (
    space_id text COLLATE "C" NOT NULL,
    conversation_id text COLLATE "C" NOT NULL,
    content text NOT NULL,
    set_at bigint NOT NULL,
    PRIMARY KEY (space_id, conversation_id),
    FOREIGN KEY (space_id, conversation_id) REFERENCES conversations (space_id, id) ON DELETE CASCADE
);

-- Every append updates its session's row: room on the page keeps those updates off the indexes.
CREATE TABLE sessions (
    space_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    conversation_id text COLLATE "C" NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    ordinal bigint NOT NULL,
    learns integer NOT NULL CHECK (learns IN (0, 1)),
    created_at bigint NOT NULL,
    ended_at bigint,
    end_reason text,
    last_number bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, conversation_id, ordinal),
    FOREIGN KEY (space_id, conversation_id) REFERENCES conversations (space_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX sessions_active ON sessions (space_id, conversation_id) WHERE ended_at IS NULL;

-- json, not jsonb: what was written comes back byte for byte, as on SQLite.
CREATE TABLE messages (
    space_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    role text NOT NULL,
    content text NOT NULL,
    name text,
    tool_calls json NOT NULL,
    tool_call_id text,
    is_error integer NOT NULL CHECK (is_error IN (0, 1)),
    metadata json NOT NULL,
    origin text NOT NULL,
    idempotency_key text COLLATE "C",
    trace_parent text,
    said_at bigint NOT NULL,
    recorded_at bigint NOT NULL,
    PRIMARY KEY (space_id, session_id, number),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
) PARTITION BY HASH (space_id);

CREATE UNIQUE INDEX messages_idempotency ON messages (space_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

-- A partition has row-level security and no policy, so nobody reads it but through its parent.
DO $$
BEGIN
    FOR part IN 0..63 LOOP
        EXECUTE format(
            'CREATE TABLE messages_%s PARTITION OF messages FOR VALUES WITH (MODULUS 64, REMAINDER %s)',
            lpad(part::text, 2, '0'), part
        );
        EXECUTE format('ALTER TABLE messages_%s ENABLE ROW LEVEL SECURITY', lpad(part::text, 2, '0'));
        EXECUTE format('ALTER TABLE messages_%s FORCE ROW LEVEL SECURITY', lpad(part::text, 2, '0'));
    END LOOP;
END
$$;

CREATE POLICY own_space ON spaces USING (id = current_setting('bethink.space', true));
ALTER TABLE spaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE spaces FORCE ROW LEVEL SECURITY;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['agents', 'conversations', 'summaries', 'sessions', 'messages'] LOOP
        EXECUTE format(
            'CREATE POLICY own_space ON %I USING (space_id = current_setting(''bethink.space'', true))', name
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;
