-- The current schema for SQLite, which creates a new database. Migrations bring an older one to the same schema.
--
-- Times are microseconds since 1970, booleans are 0 and 1, JSON is text. The space is the first column of every key.
-- The suffix of a trigger says when it runs: ai after an insert, ad after a delete, au after an update.

-- ---------------------------------------- the log

-- A space is the memory of one person or project: nothing is shared between spaces.
-- place: its number in this file. key: the key of its hashed words, so that no index contains a word.
CREATE TABLE spaces (
    id TEXT NOT NULL PRIMARY KEY,
    shard INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    place INTEGER,
    key BLOB
) STRICT;

CREATE UNIQUE INDEX spaces_place ON spaces (place);

CREATE TRIGGER spaces_ai AFTER INSERT ON spaces BEGIN
    UPDATE spaces SET place = (SELECT coalesce(max(place), 0) + 1 FROM spaces), key = randomblob(16) WHERE id = new.id;
END;

-- The agents that speak in a space, in addition to its users.
CREATE TABLE agents (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, name)
) STRICT;

-- A conversation with one agent, such as a chat on a channel.
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

-- A running summary of a conversation, for programs that maintain one themselves.
CREATE TABLE summaries (
    space_id TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    content TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, conversation_id),
    FOREIGN KEY (space_id, conversation_id) REFERENCES conversations (space_id, id) ON DELETE CASCADE
) STRICT;

-- A section of a conversation; at most one is open. Its marks record the learning progress:
-- invalidated_at is the message to learn up to, processed_until the last one learned from, rests means that a failed
-- job is paused until it is due or its session gets a new message. sealed_from: the first message with a seal.
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
    invalidated_at INTEGER,
    processed_until INTEGER,
    marked_at INTEGER,
    marked_by TEXT,
    rests INTEGER NOT NULL DEFAULT 0,
    tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    sealed_from INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, conversation_id, ordinal),
    FOREIGN KEY (space_id, conversation_id) REFERENCES conversations (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE UNIQUE INDEX sessions_active ON sessions (space_id, conversation_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_marked ON sessions (space_id, id) WHERE invalidated_at IS NOT NULL;
CREATE INDEX sessions_ephemeral ON sessions (space_id, id) WHERE learns = 0;

-- Every message, numbered within its session. Rows are only added or deleted. seal: a salt, and a digest of the
-- message and the seal before it. retracted_at: when it was retracted; it is kept, but no longer shown.
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
    tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    seal TEXT,
    retracted_at INTEGER,
    PRIMARY KEY (space_id, session_id, number),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE UNIQUE INDEX messages_idempotency ON messages (space_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX messages_names ON messages (space_id, name) WHERE name IS NOT NULL;
CREATE INDEX messages_recorded ON messages (space_id, recorded_at, session_id, number);

-- The digests of deleted messages, so that the chain of their session can still be checked. Without its salt, a digest
-- reveals nothing about its message.
CREATE TABLE chain_links (
    space_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (space_id, session_id, number),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE TRIGGER messages_links_ad AFTER DELETE ON messages WHEN old.seal IS NOT NULL BEGIN
    INSERT INTO chain_links (space_id, session_id, number, digest)
    SELECT s.space_id, s.id, old.number, substr(old.seal, 17) FROM sessions s
    WHERE s.space_id = old.space_id AND s.id = old.session_id;
END;

-- ---------------------------------------- work

-- The jobs of all spaces: ids, times and tokens, never content.
-- due_at: when it may next be leased. While it runs, the end of its lease; NULL means that there is nothing to do.
-- quoted_from: the record after which its session was only quoted, so that a model still has to learn from it.
-- said_at: for extractions, when the first message that is not learned from yet was said: their order in a space.
CREATE TABLE jobs (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    status TEXT NOT NULL DEFAULT 'queued',
    due_at INTEGER,
    token INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    input_watermark INTEGER NOT NULL DEFAULT 0,
    success_watermark INTEGER,
    started_at INTEGER,
    finished_at INTEGER,
    outcome TEXT,
    last_error TEXT,
    calls INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost INTEGER NOT NULL DEFAULT 0,
    quoted_from INTEGER,
    said_at INTEGER,
    PRIMARY KEY (space_id, kind, key)
) STRICT;

CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE due_at IS NOT NULL AND status <> 'waiting';
CREATE INDEX jobs_quiet ON jobs (kind, due_at) WHERE due_at IS NOT NULL AND status = 'waiting';
CREATE INDEX jobs_marked ON jobs (kind, queued_at, space_id, key)
WHERE status IN ('queued', 'running', 'failed', 'abandoned');
-- Retries are leased separately; in a long backlog, finding them would mean reading all other jobs.
CREATE INDEX jobs_tried ON jobs (kind, due_at) WHERE due_at IS NOT NULL AND status <> 'waiting' AND attempts > 0;
CREATE INDEX jobs_quoted ON jobs (queued_at) WHERE quoted_from IS NOT NULL;
CREATE INDEX jobs_failed ON jobs (space_id, kind, key) WHERE status IN ('failed', 'abandoned');
CREATE INDEX jobs_by_status ON jobs (status, kind, queued_at, space_id, key)
WHERE status IN ('queued', 'running', 'failed', 'abandoned');
CREATE INDEX jobs_of_space ON jobs (space_id, queued_at, kind, key);
-- One session of a space is learned at a time, and of those that are due, the one that was said first.
CREATE UNIQUE INDEX jobs_extracting ON jobs (space_id, kind, status) WHERE kind = 'extract' AND status = 'running';
CREATE INDEX jobs_said ON jobs (space_id, kind, said_at, key)
WHERE kind = 'extract' AND due_at IS NOT NULL AND status <> 'waiting';
CREATE INDEX jobs_fresh_of_space ON jobs (space_id, kind, due_at)
WHERE kind = 'extract' AND due_at IS NOT NULL AND status <> 'waiting' AND attempts = 0;
CREATE INDEX jobs_tried_of_space ON jobs (space_id, kind, due_at)
WHERE kind = 'extract' AND due_at IS NOT NULL AND status <> 'waiting' AND attempts > 0;

-- When each space may next learn from a session, maintained by triggers: a space with many sessions takes one row here,
-- and hides none of the others. fresh_due_at: when a session is first due. retry_due_at: when one is due again; while
-- one is learned from, the end of its lease, and nothing else is due.
CREATE TABLE learning_turns (
    space_id TEXT NOT NULL PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    fresh_due_at INTEGER,
    retry_due_at INTEGER
) STRICT;

CREATE INDEX learning_turns_fresh ON learning_turns (fresh_due_at) WHERE fresh_due_at IS NOT NULL;
CREATE INDEX learning_turns_retries ON learning_turns (retry_due_at) WHERE retry_due_at IS NOT NULL;

CREATE TRIGGER jobs_turns_ai AFTER INSERT ON jobs
WHEN new.kind = 'extract' AND new.status <> 'waiting' BEGIN
    INSERT INTO learning_turns (space_id) VALUES (new.space_id) ON CONFLICT (space_id) DO NOTHING;
    UPDATE learning_turns SET
        fresh_due_at = CASE WHEN NOT EXISTS (
            SELECT 1 FROM jobs r WHERE r.space_id = new.space_id AND r.kind = 'extract' AND r.status = 'running'
        ) THEN (
            SELECT min(j.due_at) FROM jobs j WHERE j.space_id = new.space_id AND j.kind = 'extract'
              AND j.due_at IS NOT NULL AND j.status <> 'waiting' AND j.attempts = 0
        ) END,
        retry_due_at = COALESCE((
            SELECT r.due_at FROM jobs r WHERE r.space_id = new.space_id AND r.kind = 'extract' AND r.status = 'running'
        ), (
            SELECT min(j.due_at) FROM jobs j WHERE j.space_id = new.space_id AND j.kind = 'extract'
              AND j.due_at IS NOT NULL AND j.status <> 'waiting' AND j.attempts > 0
        ))
    WHERE space_id = new.space_id;
END;

CREATE TRIGGER jobs_turns_au AFTER UPDATE OF status, due_at, attempts ON jobs
WHEN new.kind = 'extract' AND NOT (old.status IN ('waiting', 'done') AND new.status IN ('waiting', 'done')) BEGIN
    INSERT INTO learning_turns (space_id) VALUES (new.space_id) ON CONFLICT (space_id) DO NOTHING;
    UPDATE learning_turns SET
        fresh_due_at = CASE WHEN NOT EXISTS (
            SELECT 1 FROM jobs r WHERE r.space_id = new.space_id AND r.kind = 'extract' AND r.status = 'running'
        ) THEN (
            SELECT min(j.due_at) FROM jobs j WHERE j.space_id = new.space_id AND j.kind = 'extract'
              AND j.due_at IS NOT NULL AND j.status <> 'waiting' AND j.attempts = 0
        ) END,
        retry_due_at = COALESCE((
            SELECT r.due_at FROM jobs r WHERE r.space_id = new.space_id AND r.kind = 'extract' AND r.status = 'running'
        ), (
            SELECT min(j.due_at) FROM jobs j WHERE j.space_id = new.space_id AND j.kind = 'extract'
              AND j.due_at IS NOT NULL AND j.status <> 'waiting' AND j.attempts > 0
        ))
    WHERE space_id = new.space_id;
END;

CREATE TRIGGER jobs_turns_ad AFTER DELETE ON jobs
WHEN old.kind = 'extract' AND old.status <> 'waiting' BEGIN
    UPDATE learning_turns SET
        fresh_due_at = CASE WHEN NOT EXISTS (
            SELECT 1 FROM jobs r WHERE r.space_id = old.space_id AND r.kind = 'extract' AND r.status = 'running'
        ) THEN (
            SELECT min(j.due_at) FROM jobs j WHERE j.space_id = old.space_id AND j.kind = 'extract'
              AND j.due_at IS NOT NULL AND j.status <> 'waiting' AND j.attempts = 0
        ) END,
        retry_due_at = COALESCE((
            SELECT r.due_at FROM jobs r WHERE r.space_id = old.space_id AND r.kind = 'extract' AND r.status = 'running'
        ), (
            SELECT min(j.due_at) FROM jobs j WHERE j.space_id = old.space_id AND j.kind = 'extract'
              AND j.due_at IS NOT NULL AND j.status <> 'waiting' AND j.attempts > 0
        ))
    WHERE space_id = old.space_id;
END;

-- Spending on models, with a row for each worker and day, so that workers do not wait for each other.
CREATE TABLE spending (
    day INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    PRIMARY KEY (day, slot)
) STRICT;

-- The number of jobs of each kind in each state, maintained by triggers, so that reading it has a constant cost.
-- slot: the rows that concurrent transactions write to.
CREATE TABLE job_counts (
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    slot INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (kind, status, slot)
) STRICT;

CREATE TRIGGER jobs_counts_ai AFTER INSERT ON jobs BEGIN
    INSERT INTO job_counts (kind, status, slot, count) VALUES (new.kind, new.status, 0, 1)
    ON CONFLICT (kind, status, slot) DO UPDATE SET count = count + 1;
END;

CREATE TRIGGER jobs_counts_ad AFTER DELETE ON jobs BEGIN
    UPDATE job_counts SET count = count - 1 WHERE kind = old.kind AND status = old.status AND slot = 0;
END;

CREATE TRIGGER jobs_counts_au AFTER UPDATE OF status ON jobs WHEN old.status <> new.status BEGIN
    UPDATE job_counts SET count = count - 1 WHERE kind = old.kind AND status = old.status AND slot = 0;
    INSERT INTO job_counts (kind, status, slot, count) VALUES (new.kind, new.status, 0, 1)
    ON CONFLICT (kind, status, slot) DO UPDATE SET count = count + 1;
END;

-- The last failed attempts of each job, and why they failed.
CREATE TABLE attempts (
    space_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    token INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER NOT NULL,
    error TEXT,
    PRIMARY KEY (space_id, kind, key, token),
    FOREIGN KEY (space_id, kind, key) REFERENCES jobs (space_id, kind, key) ON DELETE CASCADE
) STRICT;

-- Cost of models per day and purpose, with a row for each worker.
CREATE TABLE model_spending (
    day INTEGER NOT NULL,
    kind TEXT NOT NULL,
    model TEXT NOT NULL,
    slot INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    PRIMARY KEY (day, kind, model, slot)
) STRICT;

-- Cost of models per day and space.
CREATE TABLE space_spending (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    day INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    PRIMARY KEY (space_id, day)
) STRICT;

CREATE INDEX space_spending_most ON space_spending (day, cost, space_id);

-- Values of this deployment: keys, such as the one that fingerprints redacted secrets, and the model that learns.
CREATE TABLE deployment_keys (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- The baseline and every migration that was applied. checksum: SHA-256 of its text, of an empty one for the baseline.
CREATE TABLE schema_version (
    version INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at INTEGER NOT NULL,
    checksum TEXT NOT NULL
) STRICT;

-- The version of the schema in a row of its own: every transaction that writes reads it first.
CREATE TABLE schema_now (
    version INTEGER NOT NULL
) STRICT;

-- Each time this database was restored from a backup. epoch: the microsecond of the restore; numbers continue
-- from there, so that none is issued twice. backup_at: when the backup was made; data stored in between is lost.
CREATE TABLE restores (
    epoch INTEGER NOT NULL PRIMARY KEY,
    backup_at INTEGER NOT NULL,
    tombstones INTEGER NOT NULL
) STRICT;

-- The answer of a model for a job, stored before it is applied.
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

-- ---------------------------------------- learned data

-- The summary of one session, for consolidation to select from. said_from and said_until: when its messages were said.
-- selected: whether the last successful consolidation read it.
CREATE TABLE session_summaries (
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
    usage_count INTEGER NOT NULL DEFAULT 0,
    last_usage INTEGER,
    selected INTEGER NOT NULL DEFAULT 0,
    selected_source_updated_at INTEGER,
    said_from INTEGER,
    said_until INTEGER,
    PRIMARY KEY (space_id, session_id),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX session_summaries_selected ON session_summaries (space_id, session_id) WHERE selected = 1;

-- The text of a fact is never overwritten: a version is a new row, and the old row is marked as retired. When a fact is
-- true follows from its statements and the links to them; valid_from, valid_to, ended_by, ended_as, doubted_by and
-- doubted_at keep the result for the present. end_recorded_at: when memory learned what ended the fact.
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
    evidence TEXT,
    speaker TEXT,
    scope TEXT,
    happened_from INTEGER,
    happened_to INTEGER,
    flags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(flags)),
    ended_by TEXT,
    ended_as TEXT,
    doubted_by TEXT,
    doubted_at INTEGER,
    end_recorded_at INTEGER,
    expires_at INTEGER,
    pinned_at INTEGER,
    unpinned_at INTEGER,
    PRIMARY KEY (space_id, id, version)
) STRICT;

CREATE UNIQUE INDEX facts_current ON facts (space_id, id) WHERE retired_at IS NULL;
CREATE UNIQUE INDEX facts_effect ON facts (space_id, effect) WHERE effect IS NOT NULL;
CREATE INDEX facts_digest ON facts (space_id, digest) WHERE retired_at IS NULL;
CREATE INDEX facts_slot ON facts (space_id, subject, slot) WHERE retired_at IS NULL AND slot IS NOT NULL;
CREATE INDEX facts_corrected ON facts (space_id, digest) WHERE ended_as = 'corrected' AND retired_at IS NOT NULL;
CREATE INDEX facts_hidden ON facts (space_id, retired_at) WHERE ended_as = 'hidden' AND retired_at IS NOT NULL;
CREATE INDEX facts_pinned ON facts (space_id) WHERE pinned_at IS NOT NULL;
CREATE INDEX facts_expiring ON facts (space_id, expires_at) WHERE expires_at IS NOT NULL;
-- Pages list versions by time, including replaced ones.
CREATE INDEX facts_recorded ON facts (space_id, recorded_at, id, version);
CREATE INDEX facts_retired ON facts (space_id, retired_at, id, version) WHERE retired_at IS NOT NULL;
CREATE INDEX facts_ended ON facts (space_id, end_recorded_at, id, version)
    WHERE end_recorded_at IS NOT NULL AND retired_at IS NULL;
CREATE INDEX facts_replaced ON facts (space_id, recorded_at, id, version)
    WHERE retired_by <> '' OR ended_as = 'replaced';
CREATE INDEX facts_about ON facts (space_id, subject, recorded_at, id, version) WHERE subject IS NOT NULL;
CREATE INDEX facts_of_slot ON facts (space_id, slot, recorded_at, id, version) WHERE slot IS NOT NULL;
CREATE INDEX facts_of_kind ON facts (space_id, kind, recorded_at, id, version);

-- The times that a fact was stated, each once: when it was said, when memory learned it, and the period it names, if any.
-- dropped_at: when memory stopped counting it. change: what it says of other facts, which may be learned later.
CREATE TABLE fact_statements (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    fact_id TEXT NOT NULL,
    support TEXT NOT NULL,
    said_at INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    position INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    dropped_at INTEGER,
    begins_at INTEGER,
    ends_at INTEGER,
    subject TEXT,
    slot TEXT,
    trust INTEGER NOT NULL,
    change TEXT NOT NULL,
    PRIMARY KEY (space_id, fact_id, support)
) STRICT;

CREATE INDEX fact_statements_slot ON fact_statements (space_id, subject, slot) WHERE slot IS NOT NULL;

-- What a statement does to an earlier fact: it replaces, corrects, ends, rewords or forgets it, or it rests on it.
-- fact_id: empty if a person did so directly.
CREATE TABLE fact_links (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    target_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    support TEXT NOT NULL,
    said_at INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    position INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    begins_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, target_id, kind, fact_id, support)
) STRICT;

CREATE INDEX fact_links_fact ON fact_links (space_id, fact_id);

-- The source messages of learned facts; a source is deleted with its message.
CREATE TABLE fact_sources (
    space_id TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space_id, fact_id, session_id, number),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
) STRICT;

CREATE INDEX fact_sources_message ON fact_sources (space_id, session_id, number);

-- The quotes of learned facts. support: one occurrence of a fact, with its statement and the number of quotes it needs;
-- a fact that loses one of them loses that support.
CREATE TABLE fact_quotes (
    space_id TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    support TEXT NOT NULL,
    place INTEGER NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    context INTEGER NOT NULL,
    statement TEXT NOT NULL,
    parts INTEGER NOT NULL,
    PRIMARY KEY (space_id, fact_id, support, place),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
) STRICT;

CREATE INDEX fact_quotes_message ON fact_quotes (space_id, session_id, number);

-- Spans of messages that do not count as they stand: `corrected` by a later message, or `hidden` by a request to
-- forget. cause: the message that corrects, as session:number, or the id of the request. Deleted with the message.
CREATE TABLE message_marks (
    space_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('corrected', 'hidden')),
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    cause TEXT NOT NULL,
    said_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, session_id, number, kind, start, stop, cause),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
) STRICT;

CREATE INDEX message_marks_cause ON message_marks (space_id, cause);
CREATE INDEX message_marks_hidden ON message_marks (space_id, recorded_at) WHERE kind = 'hidden';

-- A person's requests to forget, deleted with the message that states them. The hidden spans stay. target: the words
-- that name what to forget, empty for what was said last; decided_at: when its status was last set.
CREATE TABLE forget_requests (
    space_id TEXT NOT NULL,
    id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    scope TEXT NOT NULL,
    target TEXT NOT NULL,
    statement TEXT NOT NULL,
    said_at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    decided_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, id),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
) STRICT;

CREATE INDEX forget_requests_message ON forget_requests (space_id, session_id, number);

-- Feedback on facts, with its author and time. review_id: the claim under review that the fact became.
CREATE TABLE feedback (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    fact_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    note TEXT,
    given_by TEXT NOT NULL,
    given_at INTEGER NOT NULL,
    review_id TEXT,
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX feedback_fact ON feedback (space_id, fact_id, given_at);

-- Claims that were not accepted, with the reason: pending review, or refused. claim: the claim as JSON.
CREATE TABLE reviews (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    claim TEXT NOT NULL CHECK (json_valid(claim)),
    session_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    decided_at INTEGER,
    decided_by TEXT,
    note TEXT,
    fact_id TEXT,
    effect TEXT NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, effect)
) STRICT;

CREATE INDEX reviews_listed ON reviews (space_id, status, created_at);

-- The messages that a claim under review quotes; it is deleted with the first of them.
CREATE TABLE review_sources (
    space_id TEXT NOT NULL,
    review_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    PRIMARY KEY (space_id, review_id, session_id, number),
    FOREIGN KEY (space_id, review_id) REFERENCES reviews (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX review_sources_message ON review_sources (space_id, session_id, number);

-- Changes from learning a space again. proposal: the changes as JSON, as long as they are only proposed; undo: the ids
-- that undoing an applied one must restore.
CREATE TABLE relearnings (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    model TEXT NOT NULL,
    counts TEXT NOT NULL CHECK (json_valid(counts)),
    proposal TEXT CHECK (json_valid(proposal)),
    undo TEXT CHECK (json_valid(undo)),
    created_at INTEGER NOT NULL,
    applied_at INTEGER,
    PRIMARY KEY (space_id, id)
) STRICT;

-- Learning rules of a space, or with a name of one agent in it, set by its owner. rules: the rules as JSON.
CREATE TABLE learning_rules (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    rules TEXT NOT NULL CHECK (json_valid(rules)),
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, agent)
) STRICT;

-- Every version of every document in the tree of a space. overview: it only summarizes other documents, so it is
-- neither searched nor embedded.
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
    overview INTEGER GENERATED ALWAYS AS (
        CASE WHEN author_kind = 'job' AND slug IN ('memory', 'consolidated', 'MEMORY.md', 'memory_summary.md')
        THEN 1 ELSE 0 END
    ) VIRTUAL,
    tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
    metadata TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(metadata)),
    PRIMARY KEY (space_id, id, version)
) STRICT;

-- One current version per document, and one document per slug and parent. The top is the empty parent.
CREATE UNIQUE INDEX documents_current ON documents (space_id, id) WHERE valid_to IS NULL;
CREATE UNIQUE INDEX documents_place ON documents (space_id, parent_id, slug) WHERE valid_to IS NULL;
CREATE INDEX documents_places ON documents (space_id, parent_id, slug, valid_from);
CREATE INDEX documents_run ON documents (space_id, run) WHERE run <> '';
CREATE INDEX documents_closed ON documents (space_id, closed_run) WHERE closed_run <> '';
CREATE INDEX documents_written ON documents (space_id, valid_from, id, version);

-- A reference belongs to one version of its source and points at a document, not at a version of it.
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

-- The sources of documents. A source is stored once for consecutive versions that are based on it: from
-- `version` to `last_version`, or, if that is NULL, to the newest.
CREATE TABLE document_sources (
    space_id TEXT NOT NULL,
    document_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    last_version INTEGER,
    PRIMARY KEY (space_id, document_id, version, kind, source_id, number),
    FOREIGN KEY (space_id, document_id, version) REFERENCES documents (space_id, id, version) ON DELETE CASCADE
) STRICT;

CREATE INDEX document_sources_source ON document_sources (space_id, kind, source_id, number);

-- Writes by idempotency key, so that a write that is sent again is not carried out twice.
CREATE TABLE document_operations (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    key TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('create', 'update', 'delete')),
    document_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (space_id, key)
) STRICT;

-- The changes of one run to the tree, applied or waiting for approval.
CREATE TABLE change_sets (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    run TEXT NOT NULL,
    token INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'applied', 'rejected', 'superseded', 'undone')),
    changes TEXT NOT NULL CHECK (json_valid(changes)),
    selection TEXT NOT NULL CHECK (json_valid(selection)),
    created_at INTEGER NOT NULL,
    settled_at INTEGER,
    PRIMARY KEY (space_id, run)
) STRICT;

-- Pending reviews in all spaces: claims under review, and change sets. Ids and times, never a text.
CREATE TABLE held (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, id)
) STRICT;

CREATE INDEX held_newest ON held (at, space_id, kind, id);

CREATE TRIGGER reviews_held_ai AFTER INSERT ON reviews WHEN new.status = 'pending' BEGIN
    INSERT INTO held (space_id, kind, id, at) VALUES (new.space_id, 'claim', new.id, new.created_at);
END;
CREATE TRIGGER reviews_held_ad AFTER DELETE ON reviews BEGIN
    DELETE FROM held WHERE space_id = old.space_id AND kind = 'claim' AND id = old.id;
END;
CREATE TRIGGER reviews_held_au AFTER UPDATE OF status ON reviews WHEN old.status <> new.status BEGIN
    DELETE FROM held WHERE space_id = old.space_id AND kind = 'claim' AND id = old.id;
    INSERT INTO held (space_id, kind, id, at)
    SELECT new.space_id, 'claim', new.id, new.created_at WHERE new.status = 'pending';
END;
CREATE TRIGGER change_sets_held_ai AFTER INSERT ON change_sets WHEN new.status = 'pending' BEGIN
    INSERT INTO held (space_id, kind, id, at) VALUES (new.space_id, 'changes', new.run, new.created_at);
END;
CREATE TRIGGER change_sets_held_ad AFTER DELETE ON change_sets BEGIN
    DELETE FROM held WHERE space_id = old.space_id AND kind = 'changes' AND id = old.run;
END;
CREATE TRIGGER change_sets_held_au AFTER UPDATE OF status ON change_sets
WHEN old.status <> new.status OR old.created_at <> new.created_at BEGIN
    DELETE FROM held WHERE space_id = old.space_id AND kind = 'changes' AND id = old.run;
    INSERT INTO held (space_id, kind, id, at)
    SELECT new.space_id, 'changes', new.run, new.created_at WHERE new.status = 'pending';
END;

-- ---------------------------------------- working memory

-- A thread is the working memory of one agent. conversation_id is the conversation whose text it has: a fork keeps
-- it when the thread it was forked from is deleted.
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
    conversation_id TEXT,
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE UNIQUE INDEX threads_session ON threads (space_id, session_id) WHERE session_id IS NOT NULL;

-- The events of a thread, processed or waiting. failed: why an event was set aside; such an event no longer waits.
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
    failed TEXT,
    PRIMARY KEY (space_id, thread_id, number),
    FOREIGN KEY (space_id, thread_id) REFERENCES threads (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX events_queue ON events (space_id, thread_id, urgent DESC, number)
WHERE applied IS NULL AND failed IS NULL;
CREATE INDEX events_applied ON events (space_id, thread_id, applied) WHERE applied IS NOT NULL;

-- The pieces that make up the working memory of a thread.
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

-- A chunk is at a position from one state until, not including, another: a state only stores what it changed.
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

-- Every state of a thread, and what led to it.
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

-- ---------------------------------------- context log

-- The context log: which memories were shown, when, and to which session. Refs only, so that no deleted text remains.
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
CREATE INDEX ledger_shown ON ledger (space_id, shown_at, id);

-- The memories of one entry of the context log, in order.
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

-- How often a memory was used.
CREATE TABLE usage (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    usage_count INTEGER NOT NULL,
    last_usage INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, id, number)
) STRICT;

-- ---------------------------------------- memory tests

-- Questions with texts that results must and must not contain. about: the fact or document that a test was made from.
CREATE TABLE memory_tests (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    question TEXT NOT NULL,
    must TEXT NOT NULL CHECK (json_valid(must)),
    must_not TEXT NOT NULL CHECK (json_valid(must_not)),
    as_of INTEGER,
    known_at INTEGER,
    first_items INTEGER NOT NULL,
    kinds TEXT NOT NULL CHECK (json_valid(kinds)),
    tags TEXT NOT NULL CHECK (json_valid(tags)),
    note TEXT NOT NULL,
    about_kind TEXT,
    about_id TEXT,
    about_version INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX memory_tests_about ON memory_tests (space_id, about_kind, about_id) WHERE about_id IS NOT NULL;

-- A test is deleted with the text that it was made from, but not with a thinned version, which still has a reason.
CREATE TRIGGER facts_tests_ad AFTER DELETE ON facts BEGIN
    DELETE FROM memory_tests WHERE space_id = old.space_id AND about_kind = 'fact' AND about_id = old.id;
END;
CREATE TRIGGER documents_tests_au AFTER UPDATE OF redacted ON documents
WHEN old.redacted = 0 AND new.redacted = 1 AND new.reason = '' BEGIN
    DELETE FROM memory_tests WHERE space_id = old.space_id AND about_kind = 'document' AND about_id = old.id
      AND about_version IN (old.version, old.version + 1);
END;
-- ---------------------------------------- changes

-- Changes of a space, in order: kinds, times and refs, never a text. A number is taken under the lock of the space, so
-- that none appears after a higher one. The last row of a space is kept, even when the space is deleted, so that no
-- number is used twice: hence no reference to spaces. session_id: the session that it was learned from.
CREATE TABLE changes (
    space_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    session_id TEXT,
    PRIMARY KEY (space_id, number)
) STRICT;

CREATE INDEX changes_session ON changes (space_id, session_id, number) WHERE session_id IS NOT NULL;
CREATE INDEX changes_forgotten ON changes (space_id, at, ref, number)
WHERE kind IN ('session.forgotten', 'fact.forgotten', 'document.forgotten', 'space.forgotten');

-- Where changes are sent. A webhook's secret is made from its id and a key of the deployment, and stored nowhere.
-- only_space: the space whose changes it gets; NULL for all of them.
CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    only_space TEXT,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER,
    disable_reason TEXT
) STRICT;

-- The progress of each webhook in each space: ids, numbers and times, so that workers can read it across spaces.
-- due_at: when it may next be leased. While it is leased, the end of the lease; NULL means that nothing is pending.
CREATE TABLE webhook_queues (
    space_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    recorded INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    due_at INTEGER,
    token INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    failing_since INTEGER,
    PRIMARY KEY (space_id, webhook_id)
) STRICT;

CREATE INDEX webhook_queues_due ON webhook_queues (webhook_id, due_at) WHERE due_at IS NOT NULL;

-- The result of each delivery: numbers, times and status, so that it can be read across spaces, too.
-- at: when it was last tried. status: the HTTP status of the response, 0 for none.
CREATE TABLE deliveries (
    space_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    status INTEGER NOT NULL,
    error TEXT,
    delivered_at INTEGER,
    PRIMARY KEY (space_id, webhook_id, number)
) STRICT;

CREATE INDEX deliveries_newest ON deliveries (webhook_id, at);
CREATE INDEX deliveries_at ON deliveries (at);

-- ---------------------------------------- erasures

-- Erasures, recorded before anything is deleted: who requested them, with which key, why and when, and never a text.
-- They are kept when their space is deleted, hence no reference to spaces. plan: the ids of the items to delete, until
-- it is settled; receipt: the receipt for the requester.
CREATE TABLE erasures (
    space_id TEXT NOT NULL,
    id TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    key_prefix TEXT,
    reason TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    settled_at INTEGER,
    plan TEXT CHECK (json_valid(plan)),
    receipt TEXT CHECK (json_valid(receipt)),
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX erasures_requested ON erasures (space_id, requested_at, id);

-- The sinks of erasures, with their confirmations: ids and times, so that any process finds unconfirmed ones.
CREATE TABLE erasure_sinks (
    space_id TEXT NOT NULL,
    erasure_id TEXT NOT NULL,
    sink TEXT NOT NULL,
    confirmed_at INTEGER,
    PRIMARY KEY (space_id, erasure_id, sink),
    FOREIGN KEY (space_id, erasure_id) REFERENCES erasures (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX erasure_sinks_open ON erasure_sinks (space_id, erasure_id, sink) WHERE confirmed_at IS NULL;

-- Tombstones of deleted data: keyed digests of refs, of names of conversations, of idempotency keys and of the times at
-- which messages and versions were stored. key_id: the key of the digest, so that tombstones of another installation
-- can be stored, too. at: when it was deleted; data recorded later under the same name is new.
CREATE TABLE tombstones (
    space_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    key_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    erasure_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, key_id, digest)
) STRICT;

CREATE INDEX tombstones_erasure ON tombstones (space_id, erasure_id);

-- Files with texts of a space, and the machine that wrote them: kind is 'artifacts', 'writing' as long as they
-- are being written, or 'export'. They outlive the rows they were made from, hence no reference to spaces.
CREATE TABLE written_files (
    space_id TEXT NOT NULL,
    host TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, host, path)
) STRICT;

-- Retention rules of a space: for a kind, or for items of a kind from an origin; empty is any. older_than: in days.
CREATE TABLE retention_rules (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    origin TEXT NOT NULL,
    older_than INTEGER NOT NULL CHECK (older_than > 0),
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, origin)
) STRICT;

-- Legal holds: while one is active, nothing in its space is deleted. They are kept after they are lifted, and after the
-- space is deleted, hence no reference to spaces. They are read across spaces.
CREATE TABLE legal_holds (
    space_id TEXT NOT NULL,
    id TEXT NOT NULL,
    reason TEXT NOT NULL,
    placed_by TEXT NOT NULL,
    placed_at INTEGER NOT NULL,
    lifted_by TEXT NOT NULL DEFAULT '',
    lifted_at INTEGER,
    lift_reason TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX legal_holds_standing ON legal_holds (space_id) WHERE lifted_at IS NULL;

-- ---------------------------------------- shards

-- State of a space while it moves to another shard, and after it has left: arriving (only the move may use it here),
-- leaving (it may still be read) or gone. token: the move. shard: where it comes from or goes to. version: that of its
-- directory entry once it has moved. until: when a remaining mark may be removed. queues: its jobs and its pending
-- changes between the decision and their arrival, when no other table has them. Every transaction reads
-- the row of its space in the statement that begins it. Names and times, so that it is read across spaces.
CREATE TABLE moves (
    space_id TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('arriving', 'leaving', 'gone')),
    token TEXT NOT NULL,
    shard TEXT NOT NULL,
    version INTEGER NOT NULL,
    until INTEGER NOT NULL,
    queues TEXT
) STRICT;

-- ---------------------------------------- the network

-- API keys for remote callers. Only a keyed digest of the secret is stored, and no content.
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

-- Sessions of the web interface: the digest of a random id, and the key that was used to sign in. Like a key, it is
-- looked up before a space is known. once: a sign-in link that works one time.
CREATE TABLE web_sessions (
    digest TEXT NOT NULL PRIMARY KEY,
    key_prefix TEXT NOT NULL REFERENCES api_keys (prefix),
    once INTEGER NOT NULL CHECK (once IN (0, 1)),
    created_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX web_sessions_by_end ON web_sessions (expires_at);

-- The access log: who did what to which memories. Ids and names of operations, never a text. It outlives the data it
-- names, including deleted spaces, so it refers to no other table. refs: a JSON list, stored after the id, so that a
-- random id and a word never form a part of a deleted text.
CREATE TABLE access_log (
    space_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    refs TEXT NOT NULL,
    interface TEXT NOT NULL,
    key_prefix TEXT NOT NULL,
    person TEXT NOT NULL,
    operation TEXT NOT NULL,
    PRIMARY KEY (space_id, at, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX access_log_newest ON access_log (at, id);

CREATE TRIGGER access_log_bu BEFORE UPDATE ON access_log BEGIN
    SELECT RAISE(ABORT, 'the access record is only added to');
END;

-- ---------------------------------------- the index

-- The words of every text that can be found, as hashes with the key of its space: 8 bytes each, and how often each
-- occurs, one byte each. doc: the number of its space, a number that grows within the space, and the kind, combined.
-- at: when it was said, recorded or generated. asks: whether it ends with a question mark.
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

-- The hashes of each text, in hexadecimal digits.
CREATE VIRTUAL TABLE terms_fts USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);

CREATE TRIGGER terms_ad AFTER DELETE ON terms BEGIN
    DELETE FROM terms_fts WHERE rowid = old.doc;
END;

-- Approximate number of texts of a space with each of its frequent hashes; blocks: the number of counted blocks.
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

CREATE TRIGGER session_summaries_terms_ad AFTER DELETE ON session_summaries BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'session_summary' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER session_summaries_terms_au AFTER UPDATE OF summary, raw_memory ON session_summaries
WHEN old.summary IS NOT new.summary OR old.raw_memory IS NOT new.raw_memory BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'session_summary' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER documents_terms_ad AFTER DELETE ON documents BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER documents_terms_au AFTER UPDATE OF title, description, body ON documents
WHEN old.title IS NOT new.title OR old.description IS NOT new.description OR old.body IS NOT new.body BEGIN
    DELETE FROM terms WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
END;

-- ---------------------------------------- vectors

-- The embedders that have vectors here. An id is never reused.
CREATE TABLE vector_indexes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    embedder TEXT NOT NULL,
    dimension INTEGER NOT NULL CHECK (dimension BETWEEN 1 AND 16000),
    status TEXT NOT NULL CHECK (status IN ('filling', 'live', 'retired')),
    created_at INTEGER NOT NULL,
    UNIQUE (embedder, dimension)
) STRICT;

-- Half precision. The rows of a space are stored together, because a search reads all of them.
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

-- Every text that can be embedded, one row each.
CREATE VIEW embeddable AS
SELECT space_id, 'message' AS kind, session_id AS id, number, role, name, '' AS title, '' AS description,
       content AS body, said_at
FROM messages
WHERE role IN ('user', 'assistant', 'tool') AND origin <> 'memory' AND trim(content, char(9, 10, 11, 12, 13, 32)) <> ''
UNION ALL
SELECT space_id, 'fact', id, version, NULL, NULL, '', '', content, created_at
FROM facts WHERE trim(content, char(9, 10, 11, 12, 13, 32)) <> ''
UNION ALL
SELECT space_id, 'session_summary', session_id, 0, NULL, NULL, '', summary, raw_memory, source_updated_at
FROM session_summaries WHERE trim(summary || raw_memory, char(9, 10, 11, 12, 13, 32)) <> ''
UNION ALL
SELECT space_id, 'document', id, version, NULL, NULL, title, description, body, valid_from
FROM documents
WHERE redacted = 0 AND overview = 0 AND trim(title || description || body, char(9, 10, 11, 12, 13, 32)) <> '';

-- Vectors are deleted with their text.
CREATE TRIGGER messages_vectors_ad AFTER DELETE ON messages BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'message' AND id = old.session_id AND number = old.number;
END;

CREATE TRIGGER facts_vectors_ad AFTER DELETE ON facts BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'fact' AND id = old.id AND number = old.version;
END;

CREATE TRIGGER session_summaries_vectors_ad AFTER DELETE ON session_summaries BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'session_summary' AND id = old.session_id AND number = 0;
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

CREATE TRIGGER session_summaries_vectors_au AFTER UPDATE OF summary, raw_memory ON session_summaries
WHEN old.summary IS NOT new.summary OR old.raw_memory IS NOT new.raw_memory BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'session_summary' AND id = old.session_id AND number = 0;
END;

CREATE TRIGGER documents_vectors_au AFTER UPDATE OF title, description, body ON documents
WHEN old.title IS NOT new.title OR old.description IS NOT new.description OR old.body IS NOT new.body BEGIN
    DELETE FROM vectors WHERE space_id = old.space_id AND index_id IN (SELECT i.id FROM vector_indexes i)
      AND kind = 'document' AND id = old.id AND number = old.version;
END;

-- ---------------------------------------- usage

-- Usage is deleted with its memory.
CREATE TRIGGER messages_usage_ad AFTER DELETE ON messages BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'message' AND id = old.session_id AND number = old.number;
END;
CREATE TRIGGER facts_usage_ad AFTER DELETE ON facts BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'fact' AND id = old.id AND number = old.version;
END;
CREATE TRIGGER session_summaries_usage_ad AFTER DELETE ON session_summaries BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'session_summary' AND id = old.session_id AND number = 0;
END;
CREATE TRIGGER documents_usage_ad AFTER DELETE ON documents BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
END;
