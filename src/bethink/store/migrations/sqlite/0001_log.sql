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
