-- The current schema for PostgreSQL, which creates a new database. Migrations bring an older one to the same schema.
--
-- Times are microseconds since 1970, booleans are 0 and 1. The space is the first column of every key. json, not jsonb:
-- JSON is returned byte for byte as it was written, as on SQLite. Row-level security is set up at the end.

-- ---------------------------------------- the log

-- A space is the memory of one person or project: nothing is shared between spaces.
-- place: its number in this database. key: the key of its hashed words, so that no index contains a word.
CREATE TABLE spaces (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    shard integer NOT NULL,
    created_at bigint NOT NULL,
    place bigint GENERATED ALWAYS AS IDENTITY,
    key bytea NOT NULL DEFAULT decode(replace(gen_random_uuid()::text, '-', ''), 'hex')
);

-- The agents that speak in a space, in addition to its users.
CREATE TABLE agents (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, name)
);

-- A conversation with one agent, such as a chat on a channel.
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

-- A running summary of a conversation, for programs that maintain one themselves.
CREATE TABLE summaries (
    space_id text COLLATE "C" NOT NULL,
    conversation_id text COLLATE "C" NOT NULL,
    content text NOT NULL,
    set_at bigint NOT NULL,
    PRIMARY KEY (space_id, conversation_id),
    FOREIGN KEY (space_id, conversation_id) REFERENCES conversations (space_id, id) ON DELETE CASCADE
);

-- A section of a conversation; at most one is open. Its marks record the learning progress:
-- invalidated_at is the message to learn up to, processed_until the last one learned from, rests means that a failed
-- job is paused until it is due or its session gets a new message. sealed_from: the first message with a seal.
-- Every append updates the row of its session: free space on the page keeps those updates out of the indexes.
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
    invalidated_at bigint,
    processed_until bigint,
    marked_at bigint,
    marked_by text,
    rests integer NOT NULL DEFAULT 0,
    tags json NOT NULL DEFAULT '[]',
    metadata json NOT NULL DEFAULT '{}',
    sealed_from bigint NOT NULL DEFAULT 1,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, conversation_id, ordinal),
    FOREIGN KEY (space_id, conversation_id) REFERENCES conversations (space_id, id) ON DELETE CASCADE
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX sessions_active ON sessions (space_id, conversation_id) WHERE ended_at IS NULL;
CREATE INDEX sessions_marked ON sessions (space_id, id) WHERE invalidated_at IS NOT NULL;
CREATE INDEX sessions_ephemeral ON sessions (space_id, id) WHERE learns = 0;

-- Every message, numbered within its session. Rows are only added or deleted. seal: a salt, and a digest of the
-- message and the seal before it. retracted_at: when it was retracted; it is kept, but no longer shown.
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
    tags json NOT NULL DEFAULT '[]',
    seal text COLLATE "C",
    retracted_at bigint,
    PRIMARY KEY (space_id, session_id, number),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
) PARTITION BY HASH (space_id);

CREATE UNIQUE INDEX messages_idempotency ON messages (space_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX messages_names ON messages (space_id, name) WHERE name IS NOT NULL;
CREATE INDEX messages_recorded ON messages (space_id, recorded_at, session_id, number);

-- The digests of deleted messages, so that the chain of their session can still be checked. Without its salt, a digest
-- reveals nothing about its message.
CREATE TABLE chain_links (
    space_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    digest text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, session_id, number),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
);

CREATE FUNCTION keep_links() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chain_links (space_id, session_id, number, digest)
    SELECT g.space_id, g.session_id, g.number, substr(g.seal, 17)
    FROM gone g JOIN sessions s ON s.space_id = g.space_id AND s.id = g.session_id
    WHERE g.seal IS NOT NULL;
    RETURN NULL;
END
$$;

CREATE TRIGGER links_kept AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION keep_links();

-- ---------------------------------------- work

-- The jobs of all spaces: ids, times and tokens, never content. So there is no row-level security here.
-- due_at: when it may next be leased. While it runs, the end of its lease; NULL means that there is nothing to do.
-- quoted_from: the record after which its session was only quoted, so that a model still has to learn from it.
-- said_at: for extractions, when the first message that is not learned from yet was said: their order in a space.
CREATE TABLE jobs (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    queued_at bigint NOT NULL,
    status text NOT NULL DEFAULT 'queued',
    due_at bigint,
    token bigint NOT NULL DEFAULT 0,
    worker text,
    attempts integer NOT NULL DEFAULT 0,
    input_watermark bigint NOT NULL DEFAULT 0,
    success_watermark bigint,
    started_at bigint,
    finished_at bigint,
    outcome text,
    last_error text,
    calls integer NOT NULL DEFAULT 0,
    input_tokens bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cost bigint NOT NULL DEFAULT 0,
    quoted_from bigint,
    said_at bigint,
    PRIMARY KEY (space_id, kind, key)
) WITH (fillfactor = 70);

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
    space_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    fresh_due_at bigint,
    retry_due_at bigint
) WITH (fillfactor = 70);

CREATE INDEX learning_turns_fresh ON learning_turns (fresh_due_at) WHERE fresh_due_at IS NOT NULL;
CREATE INDEX learning_turns_retries ON learning_turns (retry_due_at) WHERE retry_due_at IS NOT NULL;

-- The row is locked by one statement and computed by the next, which sees what the transactions before have committed.
CREATE FUNCTION update_learning_turn() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    space text := CASE WHEN TG_OP = 'DELETE' THEN OLD.space_id ELSE NEW.space_id END;
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM 1 FROM learning_turns WHERE space_id = space FOR NO KEY UPDATE;
    ELSE
        INSERT INTO learning_turns (space_id) VALUES (space)
        ON CONFLICT (space_id) DO UPDATE SET space_id = excluded.space_id;
    END IF;
    UPDATE learning_turns SET
        fresh_due_at = CASE WHEN NOT EXISTS (
            SELECT 1 FROM jobs r WHERE r.space_id = space AND r.kind = 'extract' AND r.status = 'running'
        ) THEN (
            SELECT min(j.due_at) FROM jobs j WHERE j.space_id = space AND j.kind = 'extract'
              AND j.due_at IS NOT NULL AND j.status <> 'waiting' AND j.attempts = 0
        ) END,
        retry_due_at = COALESCE((
            SELECT r.due_at FROM jobs r WHERE r.space_id = space AND r.kind = 'extract' AND r.status = 'running'
        ), (
            SELECT min(j.due_at) FROM jobs j WHERE j.space_id = space AND j.kind = 'extract'
              AND j.due_at IS NOT NULL AND j.status <> 'waiting' AND j.attempts > 0
        ))
    WHERE space_id = space;
    RETURN NULL;
END
$$;

CREATE TRIGGER jobs_turns_ai AFTER INSERT ON jobs FOR EACH ROW
WHEN (NEW.kind = 'extract' AND NEW.status <> 'waiting') EXECUTE FUNCTION update_learning_turn();
CREATE TRIGGER jobs_turns_au AFTER UPDATE OF status, due_at, attempts ON jobs FOR EACH ROW
WHEN (NEW.kind = 'extract' AND NOT (OLD.status IN ('waiting', 'done') AND NEW.status IN ('waiting', 'done')))
EXECUTE FUNCTION update_learning_turn();
CREATE TRIGGER jobs_turns_ad AFTER DELETE ON jobs FOR EACH ROW
WHEN (OLD.kind = 'extract' AND OLD.status <> 'waiting') EXECUTE FUNCTION update_learning_turn();

-- Spending on models, with a row for each worker and day, so that workers do not wait for each other.
CREATE TABLE spending (
    day bigint NOT NULL,
    slot bigint NOT NULL,
    calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost bigint NOT NULL,
    PRIMARY KEY (day, slot)
) WITH (fillfactor = 50);

-- The number of jobs of each kind in each state, maintained by triggers, so that reading it has a constant cost.
-- slot: the rows that concurrent transactions write to, so that they do not wait for each other.
CREATE TABLE job_counts (
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    slot integer NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (kind, status, slot)
) WITH (fillfactor = 50);

-- Inserts and deletes count all rows of a statement at once; updates count only rows whose state changes.
CREATE FUNCTION count_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO job_counts AS c (kind, status, slot, count)
        SELECT kind, status, txid_current() % 64, count(*) FROM come GROUP BY kind, status ORDER BY kind, status
        ON CONFLICT (kind, status, slot) DO UPDATE SET count = c.count + excluded.count;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO job_counts AS c (kind, status, slot, count)
        SELECT kind, status, txid_current() % 64, -count(*) FROM gone GROUP BY kind, status ORDER BY kind, status
        ON CONFLICT (kind, status, slot) DO UPDATE SET count = c.count + excluded.count;
    ELSE
        INSERT INTO job_counts AS c (kind, status, slot, count)
        VALUES (OLD.kind, OLD.status, txid_current() % 64, -1), (NEW.kind, NEW.status, txid_current() % 64, 1)
        ON CONFLICT (kind, status, slot) DO UPDATE SET count = c.count + excluded.count;
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER jobs_counts_ai AFTER INSERT ON jobs REFERENCING NEW TABLE AS come
FOR EACH STATEMENT EXECUTE FUNCTION count_jobs();
CREATE TRIGGER jobs_counts_ad AFTER DELETE ON jobs REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION count_jobs();
CREATE TRIGGER jobs_counts_au AFTER UPDATE OF status ON jobs
FOR EACH ROW WHEN (OLD.status IS DISTINCT FROM NEW.status) EXECUTE FUNCTION count_jobs();

-- The last failed attempts of each job, and why they failed.
CREATE TABLE attempts (
    space_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    started_at bigint,
    ended_at bigint NOT NULL,
    error text,
    PRIMARY KEY (space_id, kind, key, token),
    FOREIGN KEY (space_id, kind, key) REFERENCES jobs (space_id, kind, key) ON DELETE CASCADE
);

-- Cost of models per day and purpose, with a row for each worker.
CREATE TABLE model_spending (
    day bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    model text COLLATE "C" NOT NULL,
    slot integer NOT NULL,
    calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost bigint NOT NULL,
    PRIMARY KEY (day, kind, model, slot)
) WITH (fillfactor = 70);

-- Cost of models per day and space.
CREATE TABLE space_spending (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    day bigint NOT NULL,
    calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost bigint NOT NULL,
    PRIMARY KEY (space_id, day)
) WITH (fillfactor = 70);

CREATE INDEX space_spending_most ON space_spending (day, cost, space_id);

-- Values of this deployment: keys, such as the one that fingerprints redacted secrets, and the model that learns.
CREATE TABLE deployment_keys (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    value text NOT NULL
);

-- The baseline and every migration that was applied. checksum: SHA-256 of its text, of an empty one for the baseline.
CREATE TABLE schema_version (
    version integer NOT NULL PRIMARY KEY,
    name text NOT NULL,
    applied_at bigint NOT NULL,
    checksum text NOT NULL
);

-- The version of the schema in a row of its own: every transaction that writes reads it first.
CREATE TABLE schema_now (
    version INTEGER NOT NULL
);

-- Each time this database was restored from a backup. epoch: the microsecond of the restore; numbers continue
-- from there, so that none is issued twice. backup_at: when the backup was made; data stored in between is lost.
CREATE TABLE restores (
    epoch bigint NOT NULL PRIMARY KEY,
    backup_at bigint NOT NULL,
    tombstones bigint NOT NULL
);

-- The answer of a model for a job, stored before it is applied.
CREATE TABLE answers (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    content text NOT NULL,
    agent_id text COLLATE "C" NOT NULL,
    model text NOT NULL,
    prompt text NOT NULL,
    token bigint NOT NULL,
    recorded_at bigint NOT NULL,
    PRIMARY KEY (space_id, kind, key, run, position)
);

-- ---------------------------------------- learned data

-- The summary of one session, for consolidation to select from. said_from and said_until: when its messages were said.
-- selected: whether the last successful consolidation read it.
CREATE TABLE session_summaries (
    space_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    raw_memory text NOT NULL,
    summary text NOT NULL,
    slug text NOT NULL,
    until_number bigint NOT NULL,
    source_updated_at bigint NOT NULL,
    generated_at bigint NOT NULL,
    model text NOT NULL,
    prompt text NOT NULL,
    extractor text NOT NULL,
    token bigint NOT NULL,
    usage_count bigint NOT NULL DEFAULT 0,
    last_usage bigint,
    selected integer NOT NULL DEFAULT 0,
    selected_source_updated_at bigint,
    said_from bigint,
    said_until bigint,
    PRIMARY KEY (space_id, session_id),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
);

CREATE INDEX session_summaries_selected ON session_summaries (space_id, session_id) WHERE selected = 1;

-- The text of a fact is never overwritten: a version is a new row, and the old row is marked as retired. When a fact is
-- true follows from its statements and the links to them; valid_from, valid_to, ended_by, ended_as, doubted_by and
-- doubted_at keep the result for the present. end_recorded_at: when memory learned what ended the fact.
CREATE TABLE facts (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    version bigint NOT NULL DEFAULT 1,
    content text NOT NULL,
    kind text NOT NULL DEFAULT 'knowledge',
    origin text NOT NULL DEFAULT 'import',
    source text COLLATE "C" NOT NULL,
    tags json NOT NULL,
    metadata json NOT NULL,
    entities json NOT NULL DEFAULT '[]',
    subject text COLLATE "C",
    slot text COLLATE "C",
    valid_from bigint,
    valid_to bigint,
    created_at bigint NOT NULL,
    recorded_at bigint NOT NULL DEFAULT 0,
    retired_at bigint,
    retired_by text COLLATE "C",
    digest text COLLATE "C" NOT NULL DEFAULT '',
    effect text COLLATE "C",
    token bigint,
    model text,
    prompt text,
    extractor text,
    evidence text,
    speaker text,
    scope text,
    happened_from bigint,
    happened_to bigint,
    flags json NOT NULL DEFAULT '[]',
    ended_by text COLLATE "C",
    ended_as text,
    doubted_by text COLLATE "C",
    doubted_at bigint,
    end_recorded_at bigint,
    expires_at bigint,
    pinned_at bigint,
    unpinned_at bigint,
    PRIMARY KEY (space_id, id, version)
) PARTITION BY HASH (space_id);

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
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    fact_id text COLLATE "C" NOT NULL,
    support text COLLATE "C" NOT NULL,
    said_at bigint NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    position bigint NOT NULL,
    recorded_at bigint NOT NULL,
    dropped_at bigint,
    begins_at bigint,
    ends_at bigint,
    subject text COLLATE "C",
    slot text COLLATE "C",
    trust bigint NOT NULL,
    change text NOT NULL,
    PRIMARY KEY (space_id, fact_id, support)
);

CREATE INDEX fact_statements_slot ON fact_statements (space_id, subject, slot) WHERE slot IS NOT NULL;

-- What a statement does to an earlier fact: it replaces, corrects, ends, rewords or forgets it, or it rests on it.
-- fact_id: empty if a person did so directly.
CREATE TABLE fact_links (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    target_id text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    fact_id text COLLATE "C" NOT NULL,
    support text COLLATE "C" NOT NULL,
    said_at bigint NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    position bigint NOT NULL,
    recorded_at bigint NOT NULL,
    begins_at bigint NOT NULL,
    PRIMARY KEY (space_id, target_id, kind, fact_id, support)
);

CREATE INDEX fact_links_fact ON fact_links (space_id, fact_id);

-- The source messages of learned facts; a source is deleted with its message.
CREATE TABLE fact_sources (
    space_id text COLLATE "C" NOT NULL,
    fact_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (space_id, fact_id, session_id, number),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
);

CREATE INDEX fact_sources_message ON fact_sources (space_id, session_id, number);

-- The quotes of learned facts. support: one occurrence of a fact, with its statement and the number of quotes it needs;
-- a fact that loses one of them loses that support.
CREATE TABLE fact_quotes (
    space_id text COLLATE "C" NOT NULL,
    fact_id text COLLATE "C" NOT NULL,
    support text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    text text NOT NULL,
    context bigint NOT NULL,
    statement text NOT NULL,
    parts bigint NOT NULL,
    PRIMARY KEY (space_id, fact_id, support, place),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
);

CREATE INDEX fact_quotes_message ON fact_quotes (space_id, session_id, number);

-- Spans of messages that do not count as they stand: `corrected` by a later message, or `hidden` by a request to
-- forget. cause: the message that corrects, as session:number, or the id of the request. Deleted with the message.
CREATE TABLE message_marks (
    space_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('corrected', 'hidden')),
    start bigint NOT NULL,
    stop bigint NOT NULL,
    cause text COLLATE "C" NOT NULL,
    said_at bigint NOT NULL,
    recorded_at bigint NOT NULL,
    PRIMARY KEY (space_id, session_id, number, kind, start, stop, cause),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
);

CREATE INDEX message_marks_cause ON message_marks (space_id, cause);
CREATE INDEX message_marks_hidden ON message_marks (space_id, recorded_at) WHERE kind = 'hidden';

-- A person's requests to forget, deleted with the message that states them. The hidden spans stay. target: the words
-- that name what to forget, empty for what was said last; decided_at: when its status was last set.
CREATE TABLE forget_requests (
    space_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    scope text COLLATE "C" NOT NULL,
    target text NOT NULL,
    statement text NOT NULL,
    said_at bigint NOT NULL,
    recorded_at bigint NOT NULL,
    status text COLLATE "C" NOT NULL,
    decided_at bigint NOT NULL,
    PRIMARY KEY (space_id, id),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
);

CREATE INDEX forget_requests_message ON forget_requests (space_id, session_id, number);

-- Feedback on facts, with its author and time. review_id: the claim under review that the fact became.
CREATE TABLE feedback (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    fact_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    verdict text COLLATE "C" NOT NULL,
    note text,
    given_by text COLLATE "C" NOT NULL,
    given_at bigint NOT NULL,
    review_id text COLLATE "C",
    PRIMARY KEY (space_id, id)
);

CREATE INDEX feedback_fact ON feedback (space_id, fact_id, given_at);

-- Claims that were not accepted, with the reason: pending review, or refused. claim: the claim as JSON.
CREATE TABLE reviews (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    detail text NOT NULL,
    claim json NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    decided_at bigint,
    decided_by text,
    note text,
    fact_id text COLLATE "C",
    effect text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, id),
    UNIQUE (space_id, effect)
);

CREATE INDEX reviews_listed ON reviews (space_id, status, created_at);

-- The messages that a claim under review quotes; it is deleted with the first of them.
CREATE TABLE review_sources (
    space_id text COLLATE "C" NOT NULL,
    review_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (space_id, review_id, session_id, number),
    FOREIGN KEY (space_id, review_id) REFERENCES reviews (space_id, id) ON DELETE CASCADE
);

CREATE INDEX review_sources_message ON review_sources (space_id, session_id, number);

-- Changes from learning a space again. proposal: the changes as JSON, as long as they are only proposed; undo: the ids
-- that undoing an applied one must restore.
CREATE TABLE relearnings (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    model text NOT NULL,
    counts json NOT NULL,
    proposal json,
    undo json,
    created_at bigint NOT NULL,
    applied_at bigint,
    PRIMARY KEY (space_id, id)
);

-- Learning rules of a space, or with a name of one agent in it, set by its owner. rules: the rules as JSON.
CREATE TABLE learning_rules (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    agent text COLLATE "C" NOT NULL,
    rules json NOT NULL,
    changed_at bigint NOT NULL,
    PRIMARY KEY (space_id, agent)
);

-- Every version of every document in the tree of a space. overview: it only summarizes other documents, so it is
-- neither searched nor embedded.
CREATE TABLE documents (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    valid_from bigint NOT NULL,
    valid_to bigint,
    parent_id text COLLATE "C" NOT NULL,
    slug text COLLATE "C" NOT NULL,
    title text NOT NULL,
    description text NOT NULL,
    body text NOT NULL,
    created_at bigint NOT NULL,
    author_kind text NOT NULL,
    author_id text NOT NULL,
    reason text NOT NULL,
    token bigint,
    run text COLLATE "C" NOT NULL,
    closed_run text COLLATE "C" NOT NULL DEFAULT '',
    origin text NOT NULL,
    redacted integer NOT NULL DEFAULT 0 CHECK (redacted IN (0, 1)),
    overview integer GENERATED ALWAYS AS (
        CASE WHEN author_kind = 'job' AND slug IN ('memory', 'consolidated', 'MEMORY.md', 'memory_summary.md')
        THEN 1 ELSE 0 END
    ) STORED,
    tags json NOT NULL DEFAULT '[]',
    metadata json NOT NULL DEFAULT '{}',
    PRIMARY KEY (space_id, id, version)
);

-- One current version per document, and one document per slug and parent. The top is the empty parent.
CREATE UNIQUE INDEX documents_current ON documents (space_id, id) WHERE valid_to IS NULL;
CREATE UNIQUE INDEX documents_place ON documents (space_id, parent_id, slug) WHERE valid_to IS NULL;
CREATE INDEX documents_places ON documents (space_id, parent_id, slug, valid_from);
CREATE INDEX documents_run ON documents (space_id, run) WHERE run <> '';
CREATE INDEX documents_closed ON documents (space_id, closed_run) WHERE closed_run <> '';
CREATE INDEX documents_written ON documents (space_id, valid_from, id, version);

-- A reference belongs to one version of its source and points at a document, not at a version of it.
CREATE TABLE document_references (
    space_id text COLLATE "C" NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    source_version bigint NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('parent', 'link', 'body')),
    target_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, source_id, source_version, kind, target_id),
    FOREIGN KEY (space_id, source_id, source_version) REFERENCES documents (space_id, id, version) ON DELETE CASCADE
);

CREATE INDEX document_references_target ON document_references (space_id, target_id, kind);

-- The sources of documents. A source is stored once for consecutive versions that are based on it: from
-- `version` to `last_version`, or, if that is NULL, to the newest.
CREATE TABLE document_sources (
    space_id text COLLATE "C" NOT NULL,
    document_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    source_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    last_version bigint,
    PRIMARY KEY (space_id, document_id, version, kind, source_id, number),
    FOREIGN KEY (space_id, document_id, version) REFERENCES documents (space_id, id, version) ON DELETE CASCADE
);

CREATE INDEX document_sources_source ON document_sources (space_id, kind, source_id, number);

-- Writes by idempotency key, so that a write that is sent again is not carried out twice.
CREATE TABLE document_operations (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    key text COLLATE "C" NOT NULL,
    kind text NOT NULL CHECK (kind IN ('create', 'update', 'delete')),
    document_id text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (space_id, key)
);

-- The changes of one run to the tree, applied or waiting for approval.
CREATE TABLE change_sets (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    run text COLLATE "C" NOT NULL,
    token bigint NOT NULL,
    status text NOT NULL CHECK (status IN ('pending', 'applied', 'rejected', 'superseded', 'undone')),
    changes json NOT NULL,
    selection json NOT NULL,
    created_at bigint NOT NULL,
    settled_at bigint,
    PRIMARY KEY (space_id, run)
);

-- Pending reviews in all spaces: claims under review, and change sets. Ids and times, never a text.
CREATE TABLE held (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (space_id, kind, id)
);

CREATE INDEX held_newest ON held (at, space_id, kind, id);

CREATE FUNCTION note_held() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    was jsonb := to_jsonb(OLD);
    now jsonb := to_jsonb(NEW);
BEGIN
    IF was IS NOT NULL THEN
        DELETE FROM held WHERE space_id = was ->> 'space_id' AND kind = TG_ARGV[0] AND id = was ->> TG_ARGV[1];
    END IF;
    IF now ->> 'status' = 'pending' THEN
        INSERT INTO held (space_id, kind, id, at)
        VALUES (now ->> 'space_id', TG_ARGV[0], now ->> TG_ARGV[1], (now ->> 'created_at')::bigint);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER reviews_held AFTER INSERT OR DELETE OR UPDATE OF status ON reviews
FOR EACH ROW EXECUTE FUNCTION note_held('claim', 'id');
CREATE TRIGGER change_sets_held AFTER INSERT OR DELETE OR UPDATE OF status ON change_sets
FOR EACH ROW EXECUTE FUNCTION note_held('changes', 'run');

-- ---------------------------------------- working memory

-- A thread is the working memory of one agent. conversation_id is the conversation whose text it has: a fork keeps
-- it when the thread it was forked from is deleted.
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
    conversation_id text COLLATE "C",
    PRIMARY KEY (space_id, id)
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX threads_session ON threads (space_id, session_id) WHERE session_id IS NOT NULL;

-- The events of a thread, processed or waiting. failed: why an event was set aside; such an event no longer waits.
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
    failed text,
    PRIMARY KEY (space_id, thread_id, number),
    FOREIGN KEY (space_id, thread_id) REFERENCES threads (space_id, id) ON DELETE CASCADE
);

CREATE INDEX events_queue ON events (space_id, thread_id, urgent DESC, number)
WHERE applied IS NULL AND failed IS NULL;
CREATE INDEX events_applied ON events (space_id, thread_id, applied) WHERE applied IS NOT NULL;

-- The pieces that make up the working memory of a thread.
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

-- A chunk is at a position from one state until, not including, another: a state only stores what it changed.
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

-- Every state of a thread, and what led to it.
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

-- ---------------------------------------- context log

-- The context log: which memories were shown, when, and to which session. Refs only, so that no deleted text remains.
CREATE TABLE ledger (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    purpose text NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    shown_at bigint NOT NULL,
    tokens bigint NOT NULL,
    digest text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, id)
);

CREATE INDEX ledger_session ON ledger (space_id, session_id, shown_at);
CREATE INDEX ledger_shown ON ledger (space_id, shown_at, id);

-- The memories of one entry of the context log, in order.
CREATE TABLE ledger_items (
    space_id text COLLATE "C" NOT NULL,
    ledger_id text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    label text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, ledger_id, place),
    FOREIGN KEY (space_id, ledger_id) REFERENCES ledger (space_id, id) ON DELETE CASCADE
);

CREATE INDEX ledger_items_shown ON ledger_items (space_id, kind, id, number);

-- How often a memory was used.
CREATE TABLE usage (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    usage_count bigint NOT NULL,
    last_usage bigint NOT NULL,
    PRIMARY KEY (space_id, kind, id, number)
);

-- Usage is deleted with its memory.
CREATE FUNCTION forget_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'DELETE FROM usage u USING gone g WHERE u.space_id = g.space_id AND u.kind = %L AND u.id = g.%I AND u.number = %s',
        TG_ARGV[0], TG_ARGV[1], TG_ARGV[2]
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER usage_forgotten AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_usage('message', 'session_id', 'g.number');
CREATE TRIGGER usage_forgotten AFTER DELETE ON facts REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_usage('fact', 'id', 'g.version');
CREATE TRIGGER usage_forgotten AFTER DELETE ON session_summaries REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_usage('session_summary', 'session_id', '0');
CREATE TRIGGER usage_forgotten AFTER DELETE ON documents REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_usage('document', 'id', 'g.version');

-- ---------------------------------------- the index

-- The words of every text that can be found, as hashes with the key of its space, and how often each occurs, one byte
-- each. Under row-level security an index of words could not be used. This table needs none: it contains ids, times and
-- hashes that are meaningless without the key of their space, which row-level security protects.
-- doc: the number of its space, a number that grows within the space, and the kind, combined.
-- at: when it was said, recorded or generated. asks: whether it ends with a question mark.
CREATE TABLE terms (
    doc bigint NOT NULL,
    space_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    length integer NOT NULL,
    asks integer NOT NULL,
    terms bigint[] NOT NULL,
    hits bytea NOT NULL,
    PRIMARY KEY (space_id, kind, id, number)
);

CREATE INDEX terms_doc ON terms (doc);
-- A search reads the list of pending entries once for every word, so it is kept short.
CREATE INDEX terms_terms ON terms USING gin (terms) WITH (gin_pending_list_limit = 64);

-- Approximate number of texts of a space with each of its frequent hashes; blocks: the number of counted blocks.
CREATE TABLE term_counts (
    space_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES spaces (id) ON DELETE CASCADE,
    blocks bigint NOT NULL,
    terms bytea NOT NULL,
    counts bytea NOT NULL,
    missed bytea NOT NULL
);

-- Terms are deleted with their text.
CREATE FUNCTION forget_terms() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'DELETE FROM terms t USING gone g WHERE t.space_id = g.space_id AND t.kind = %L AND t.id = g.%I AND t.number = %s',
        TG_ARGV[0], TG_ARGV[1], TG_ARGV[2]
    );
    RETURN NULL;
END
$$;

-- The same for a text that was changed. The change itself adds the terms of the new text.
CREATE FUNCTION outdate_terms() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    whose text;
    which bigint := 0;
BEGIN
    IF TG_ARGV[0] IN ('message', 'session_summary') THEN
        whose := OLD.session_id;
    ELSE
        whose := OLD.id;
        which := OLD.version;
    END IF;
    IF TG_ARGV[0] = 'message' THEN
        which := OLD.number;
    END IF;
    DELETE FROM terms t
    WHERE t.space_id = OLD.space_id AND t.kind = TG_ARGV[0] AND t.id = whose AND t.number = which;
    RETURN NULL;
END
$$;

CREATE TRIGGER terms_forgotten AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_terms('message', 'session_id', 'g.number');
CREATE TRIGGER terms_forgotten AFTER DELETE ON facts REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_terms('fact', 'id', 'g.version');
CREATE TRIGGER terms_forgotten AFTER DELETE ON session_summaries REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_terms('session_summary', 'session_id', '0');
CREATE TRIGGER terms_forgotten AFTER DELETE ON documents REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_terms('document', 'id', 'g.version');
CREATE TRIGGER terms_outdated AFTER UPDATE OF name, content ON messages FOR EACH ROW
WHEN ((OLD.name, OLD.content) IS DISTINCT FROM (NEW.name, NEW.content))
EXECUTE FUNCTION outdate_terms('message');
CREATE TRIGGER terms_outdated AFTER UPDATE OF content ON facts FOR EACH ROW
WHEN (OLD.content IS DISTINCT FROM NEW.content)
EXECUTE FUNCTION outdate_terms('fact');
CREATE TRIGGER terms_outdated AFTER UPDATE OF summary, raw_memory ON session_summaries FOR EACH ROW
WHEN ((OLD.summary, OLD.raw_memory) IS DISTINCT FROM (NEW.summary, NEW.raw_memory))
EXECUTE FUNCTION outdate_terms('session_summary');
CREATE TRIGGER terms_outdated AFTER UPDATE OF title, description, body ON documents FOR EACH ROW
WHEN ((OLD.title, OLD.description, OLD.body) IS DISTINCT FROM (NEW.title, NEW.description, NEW.body))
EXECUTE FUNCTION outdate_terms('document');

-- ---------------------------------------- memory tests

-- Questions with texts that results must and must not contain. about: the fact or document that a test was made from.
CREATE TABLE memory_tests (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    question text NOT NULL,
    must json NOT NULL,
    must_not json NOT NULL,
    as_of bigint,
    known_at bigint,
    first_items bigint NOT NULL,
    kinds json NOT NULL,
    tags json NOT NULL,
    note text NOT NULL,
    about_kind text COLLATE "C",
    about_id text COLLATE "C",
    about_version bigint,
    created_at bigint NOT NULL,
    PRIMARY KEY (space_id, id)
);

CREATE INDEX memory_tests_about ON memory_tests (space_id, about_kind, about_id) WHERE about_id IS NOT NULL;

-- A test is deleted with the text that it was made from, but not with a thinned version, which still has a reason.
CREATE FUNCTION forget_tests_of_facts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM memory_tests t USING gone g
    WHERE t.space_id = g.space_id AND t.about_kind = 'fact' AND t.about_id = g.id;
    RETURN NULL;
END
$$;

CREATE FUNCTION forget_tests_of_document() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM memory_tests t WHERE t.space_id = OLD.space_id AND t.about_kind = 'document' AND t.about_id = OLD.id
      AND t.about_version IN (OLD.version, OLD.version + 1);
    RETURN NULL;
END
$$;

CREATE TRIGGER tests_forgotten AFTER DELETE ON facts REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_tests_of_facts();
CREATE TRIGGER tests_forgotten AFTER UPDATE OF redacted ON documents FOR EACH ROW
WHEN (OLD.redacted = 0 AND NEW.redacted = 1 AND NEW.reason = '')
EXECUTE FUNCTION forget_tests_of_document();
-- ---------------------------------------- changes

-- Changes of a space, in order: kinds, times and refs, never a text. A number is taken under the lock of the space, so
-- that none appears after a higher one. The last row of a space is kept, even when the space is deleted, so that no
-- number is used twice: hence no reference to spaces. session_id: the session that it was learned from.
CREATE TABLE changes (
    space_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    ref text COLLATE "C" NOT NULL,
    session_id text COLLATE "C",
    PRIMARY KEY (space_id, number)
);

CREATE INDEX changes_session ON changes (space_id, session_id, number) WHERE session_id IS NOT NULL;
CREATE INDEX changes_forgotten ON changes (space_id, at, ref, number)
WHERE kind IN ('session.forgotten', 'fact.forgotten', 'document.forgotten', 'space.forgotten');

-- Where changes are sent. A webhook's secret is made from its id and a key of the deployment, and stored nowhere.
-- only_space: the space whose changes it gets; NULL for all of them.
CREATE TABLE webhooks (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    url text NOT NULL,
    only_space text COLLATE "C",
    created_at bigint NOT NULL,
    disabled_at bigint,
    disable_reason text
);

-- The progress of each webhook in each space: ids, numbers and times, so that workers can read it across spaces.
-- due_at: when it may next be leased. While it is leased, the end of the lease; NULL means that nothing is pending.
CREATE TABLE webhook_queues (
    space_id text COLLATE "C" NOT NULL,
    webhook_id text COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    recorded bigint NOT NULL,
    delivered bigint NOT NULL,
    due_at bigint,
    token bigint NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    failing_since bigint,
    PRIMARY KEY (space_id, webhook_id)
) WITH (fillfactor = 70);

CREATE INDEX webhook_queues_due ON webhook_queues (webhook_id, due_at) WHERE due_at IS NOT NULL;

-- The result of each delivery: numbers, times and status, so that it can be read across spaces, too.
-- at: when it was last tried. status: the HTTP status of the response, 0 for none.
CREATE TABLE deliveries (
    space_id text COLLATE "C" NOT NULL,
    webhook_id text COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    attempts integer NOT NULL,
    status integer NOT NULL,
    error text,
    delivered_at bigint,
    PRIMARY KEY (space_id, webhook_id, number)
);

CREATE INDEX deliveries_newest ON deliveries (webhook_id, at);
CREATE INDEX deliveries_at ON deliveries (at);

-- ---------------------------------------- erasures

-- Erasures, recorded before anything is deleted: who requested them, with which key, why and when, and never a text.
-- They are kept when their space is deleted, hence no reference to spaces. plan: the ids of the items to delete, until
-- it is settled; receipt: the receipt for the requester.
CREATE TABLE erasures (
    space_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    requested_by text NOT NULL,
    key_prefix text COLLATE "C",
    reason text NOT NULL,
    requested_at bigint NOT NULL,
    settled_at bigint,
    plan json,
    receipt json,
    PRIMARY KEY (space_id, id)
);

CREATE INDEX erasures_requested ON erasures (space_id, requested_at, id);

-- The sinks of erasures, with their confirmations: ids and times, so that any process finds unconfirmed ones.
CREATE TABLE erasure_sinks (
    space_id text COLLATE "C" NOT NULL,
    erasure_id text COLLATE "C" NOT NULL,
    sink text COLLATE "C" NOT NULL,
    confirmed_at bigint,
    PRIMARY KEY (space_id, erasure_id, sink),
    FOREIGN KEY (space_id, erasure_id) REFERENCES erasures (space_id, id) ON DELETE CASCADE
);

CREATE INDEX erasure_sinks_open ON erasure_sinks (space_id, erasure_id, sink) WHERE confirmed_at IS NULL;

-- Tombstones of deleted data: keyed digests of refs, of names of conversations, of idempotency keys and of the times at
-- which messages and versions were stored. key_id: the key of the digest, so that tombstones of another installation
-- can be stored, too. at: when it was deleted; data recorded later under the same name is new.
CREATE TABLE tombstones (
    space_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    key_id text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    erasure_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    PRIMARY KEY (space_id, kind, key_id, digest)
);

CREATE INDEX tombstones_erasure ON tombstones (space_id, erasure_id);

-- Files with texts of a space, and the machine that wrote them: kind is 'artifacts', 'writing' as long as they
-- are being written, or 'export'. They outlive the rows they were made from, hence no reference to spaces.
CREATE TABLE written_files (
    space_id text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    written_at bigint NOT NULL,
    PRIMARY KEY (space_id, host, path)
);

-- Retention rules of a space: for a kind, or for items of a kind from an origin; empty is any. older_than: in days.
CREATE TABLE retention_rules (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    older_than bigint NOT NULL CHECK (older_than > 0),
    set_by text NOT NULL,
    set_at bigint NOT NULL,
    PRIMARY KEY (space_id, kind, origin)
);

-- Legal holds: while one is active, nothing in its space is deleted. They are kept after they are lifted, and after the
-- space is deleted, hence no reference to spaces. They are read across spaces.
CREATE TABLE legal_holds (
    space_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    reason text NOT NULL,
    placed_by text NOT NULL,
    placed_at bigint NOT NULL,
    lifted_by text NOT NULL DEFAULT '',
    lifted_at bigint,
    lift_reason text NOT NULL DEFAULT '',
    PRIMARY KEY (space_id, id)
);

CREATE INDEX legal_holds_standing ON legal_holds (space_id) WHERE lifted_at IS NULL;

-- ---------------------------------------- shards

-- State of a space while it moves to another shard, and after it has left: arriving (only the move may use it here),
-- leaving (it may still be read) or gone. token: the move. shard: where it comes from or goes to. version: that of its
-- directory entry once it has moved. until: when a remaining mark may be removed. queues: its jobs and its pending
-- changes between the decision and their arrival, when no other table has them. Every transaction reads
-- the row of its space in the statement that begins it. Names and times, so that it is read across spaces.
CREATE TABLE moves (
    space_id text COLLATE "C" NOT NULL PRIMARY KEY,
    state text COLLATE "C" NOT NULL CHECK (state IN ('arriving', 'leaving', 'gone')),
    token text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    until bigint NOT NULL,
    shard text COLLATE "C" NOT NULL,
    queues json
);

-- The move of a space. A function caches its plan: planning the query each time would take longer than running it.
CREATE FUNCTION moving(asked text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT state || ' ' || token FROM moves WHERE space_id = asked);
END
$$;

-- ---------------------------------------- the network

-- API keys for remote callers. Only a keyed digest of the secret is stored, and no content.
-- A key is looked up before its space is known, so it does not belong to one.
CREATE TABLE api_keys (
    prefix text COLLATE "C" NOT NULL PRIMARY KEY,
    name text NOT NULL,
    digest text NOT NULL,
    scopes json NOT NULL,
    spaces json,
    created_at bigint NOT NULL,
    lifetime bigint,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint
);

-- Sessions of the web interface: the digest of a random id, and the key that was used to sign in. Like a key, it is
-- looked up before a space is known. once: a sign-in link that works one time.
CREATE TABLE web_sessions (
    digest text COLLATE "C" NOT NULL PRIMARY KEY,
    key_prefix text COLLATE "C" NOT NULL REFERENCES api_keys (prefix),
    once integer NOT NULL CHECK (once IN (0, 1)),
    created_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    expires_at bigint NOT NULL
);

CREATE INDEX web_sessions_by_end ON web_sessions (expires_at);

-- The access log: who did what to which memories. Ids and names of operations, never a text. It outlives the data it
-- names, including deleted spaces, so it refers to no other table. refs: a JSON list, stored after the id, so that a
-- random id and a word never form a part of a deleted text. It is read across spaces.
CREATE TABLE access_log (
    space_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    refs text NOT NULL,
    interface text COLLATE "C" NOT NULL,
    key_prefix text COLLATE "C" NOT NULL,
    person text NOT NULL,
    operation text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, at, id)
);

CREATE INDEX access_log_newest ON access_log (at, id);

CREATE FUNCTION access_log_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the access record is only added to';
END
$$;

CREATE TRIGGER access_log_bu BEFORE UPDATE ON access_log FOR EACH ROW EXECUTE FUNCTION access_log_stands();

-- ---------------------------------------- partitions and row-level security

-- A partition has row-level security and no policy, so it can only be read through its parent.
DO $$
DECLARE
    name text;
    leaf text;
BEGIN
    FOREACH name IN ARRAY ARRAY['messages', 'facts'] LOOP
        FOR part IN 0..63 LOOP
            leaf := name || '_' || lpad(part::text, 2, '0');
            EXECUTE format(
                'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 64, REMAINDER %s)', leaf, name, part
            );
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', leaf);
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', leaf);
        END LOOP;
    END LOOP;
END
$$;

-- A transaction sees only the rows of the space it has set; without one it sees none.
CREATE POLICY own_space ON spaces USING (id = current_setting('bethink.space', true));
ALTER TABLE spaces ENABLE ROW LEVEL SECURITY;
ALTER TABLE spaces FORCE ROW LEVEL SECURITY;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'agents', 'conversations', 'summaries', 'sessions', 'messages', 'answers', 'session_summaries', 'facts',
        'fact_statements', 'fact_links', 'fact_sources', 'fact_quotes', 'message_marks', 'forget_requests', 'reviews',
        'review_sources', 'relearnings', 'learning_rules', 'documents',
        'document_references', 'document_sources', 'change_sets', 'threads', 'events', 'chunks', 'placements',
        'states', 'ledger', 'ledger_items', 'usage', 'term_counts', 'memory_tests', 'changes',
        'feedback', 'chain_links', 'erasures', 'tombstones', 'written_files',
        'retention_rules', 'document_operations'
    ] LOOP
        EXECUTE format(
            'CREATE POLICY own_space ON %I USING (space_id = current_setting(''bethink.space'', true))', name
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;

-- ---------------------------------------- vectors

-- Created last and by functions: pgvector may be installed later, and each index of an embedder is a partition.

-- The embedders that have vectors here: shared by all spaces, and without any content.
CREATE TABLE vector_indexes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    embedder text COLLATE "C" NOT NULL,
    dimension bigint NOT NULL CHECK (dimension BETWEEN 1 AND 16000),
    status text NOT NULL CHECK (status IN ('filling', 'live', 'retired')),
    created_at bigint NOT NULL,
    UNIQUE (embedder, dimension)
);

-- Every text that can be embedded, one row each.
CREATE VIEW embeddable WITH (security_invoker = true) AS
SELECT space_id, 'message' AS kind, session_id AS id, number, role, name, '' AS title, '' AS description,
       content AS body, said_at
FROM messages
WHERE role IN ('user', 'assistant', 'tool') AND origin <> 'memory' AND btrim(content, E' \t\n\v\f\r') <> ''
UNION ALL
SELECT space_id, 'fact', id, version, NULL, NULL, '', '', content, created_at
FROM facts WHERE btrim(content, E' \t\n\v\f\r') <> ''
UNION ALL
SELECT space_id, 'session_summary', session_id, 0, NULL, NULL, '', summary, raw_memory, source_updated_at
FROM session_summaries WHERE btrim(summary || raw_memory, E' \t\n\v\f\r') <> ''
UNION ALL
SELECT space_id, 'document', id, version, NULL, NULL, title, description, body, valid_from
FROM documents
WHERE redacted = 0 AND overview = 0 AND btrim(title || description || body, E' \t\n\v\f\r') <> '';

-- Vectors are deleted with their text.
CREATE FUNCTION forget_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    place text;
BEGIN
    IF NOT EXISTS (SELECT 1 FROM vector_indexes) THEN
        RETURN NULL;
    END IF;
    -- One space at a time and planned for it: only then is one partition looked at, and not all.
    FOR place IN SELECT DISTINCT g.space_id FROM gone g LOOP
        EXECUTE format(
            'DELETE FROM vectors v USING gone g WHERE v.space_id = $1 AND g.space_id = $1 AND v.kind = $2 '
            'AND v.id = g.%I AND v.number = %s', TG_ARGV[1], TG_ARGV[2]
        ) USING place, TG_ARGV[0];
    END LOOP;
    RETURN NULL;
END
$$;

-- The same for a text that was changed; it is embedded again.
CREATE FUNCTION outdate_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    whose text;
    which bigint := 0;
BEGIN
    IF TG_ARGV[0] IN ('message', 'session_summary') THEN
        whose := OLD.session_id;
    ELSE
        whose := OLD.id;
        which := OLD.version;
    END IF;
    IF TG_ARGV[0] = 'message' THEN
        which := OLD.number;
    END IF;
    DELETE FROM vectors v
    WHERE v.space_id = OLD.space_id AND v.kind = TG_ARGV[0] AND v.id = whose AND v.number = which;
    RETURN NULL;
END
$$;

-- Creates the table of vectors, now or later. Returns false if the server has no pgvector; the rest works without it.
CREATE FUNCTION make_vectors() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF to_regclass('vectors') IS NOT NULL THEN
        RETURN true;
    END IF;
    IF to_regtype('halfvec') IS NULL THEN
        BEGIN
            CREATE EXTENSION IF NOT EXISTS vector;
        EXCEPTION WHEN OTHERS THEN
            RETURN false;
        END;
    END IF;
    IF to_regtype('halfvec') IS NULL THEN -- pgvector before 0.7
        RETURN false;
    END IF;

    -- A partition for each index, by space below that: one query text, and an index is dropped like a table.
    CREATE TABLE vectors (
        space_id text COLLATE "C" NOT NULL,
        index_id bigint NOT NULL,
        kind text COLLATE "C" NOT NULL,
        id text COLLATE "C" NOT NULL,
        number bigint NOT NULL,
        part bigint NOT NULL,
        vector halfvec NOT NULL,
        PRIMARY KEY (space_id, kind, id, number, part, index_id)
    ) PARTITION BY LIST (index_id);
    CREATE POLICY own_space ON vectors USING (space_id = current_setting('bethink.space', true));
    ALTER TABLE vectors ENABLE ROW LEVEL SECURITY;
    ALTER TABLE vectors FORCE ROW LEVEL SECURITY;

    CREATE TRIGGER vectors_forgotten AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION forget_vectors('message', 'session_id', 'g.number');
    CREATE TRIGGER vectors_forgotten AFTER DELETE ON facts REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION forget_vectors('fact', 'id', 'g.version');
    CREATE TRIGGER vectors_forgotten AFTER DELETE ON session_summaries REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION forget_vectors('session_summary', 'session_id', '0');
    CREATE TRIGGER vectors_forgotten AFTER DELETE ON documents REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION forget_vectors('document', 'id', 'g.version');

    CREATE TRIGGER vectors_outdated AFTER UPDATE OF name, content ON messages FOR EACH ROW
    WHEN ((OLD.name, OLD.content) IS DISTINCT FROM (NEW.name, NEW.content))
    EXECUTE FUNCTION outdate_vectors('message');
    CREATE TRIGGER vectors_outdated AFTER UPDATE OF content ON facts FOR EACH ROW
    WHEN (OLD.content IS DISTINCT FROM NEW.content)
    EXECUTE FUNCTION outdate_vectors('fact');
    CREATE TRIGGER vectors_outdated AFTER UPDATE OF summary, raw_memory ON session_summaries FOR EACH ROW
    WHEN ((OLD.summary, OLD.raw_memory) IS DISTINCT FROM (NEW.summary, NEW.raw_memory))
    EXECUTE FUNCTION outdate_vectors('session_summary');
    CREATE TRIGGER vectors_outdated AFTER UPDATE OF title, description, body ON documents FOR EACH ROW
    WHEN ((OLD.title, OLD.description, OLD.body) IS DISTINCT FROM (NEW.title, NEW.description, NEW.body))
    EXECUTE FUNCTION outdate_vectors('document');
    RETURN true;
END
$$;

-- Created as a separate table and then attached, so that searches and writes do not have to wait for it.
CREATE FUNCTION open_vector_index() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    name text := 'vectors_' || NEW.id;
    leaf text;
BEGIN
    EXECUTE format(
        'CREATE TABLE %I (LIKE vectors INCLUDING ALL, CHECK (vector_dims(vector) = %s)) PARTITION BY HASH (space_id)',
        name, NEW.dimension
    );
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    FOR part IN 0..63 LOOP
        leaf := name || '_' || lpad(part::text, 2, '0');
        EXECUTE format(
            'CREATE TABLE %I PARTITION OF %I FOR VALUES WITH (MODULUS 64, REMAINDER %s)', leaf, name, part
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', leaf);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', leaf);
        IF NEW.dimension <= 3072 THEN -- in the row itself, where it fits: a scan need not look elsewhere for each
            EXECUTE format('ALTER TABLE %I ALTER COLUMN vector SET STORAGE PLAIN', leaf);
        END IF;
    END LOOP;
    EXECUTE format('ALTER TABLE vectors ATTACH PARTITION %I FOR VALUES IN (%s)', name, NEW.id);
    RETURN NULL;
END
$$;

CREATE FUNCTION drop_vector_index() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DROP TABLE %I', 'vectors_' || OLD.id);
    RETURN NULL;
END
$$;

CREATE TRIGGER vector_indexes_open AFTER INSERT ON vector_indexes
FOR EACH ROW EXECUTE FUNCTION open_vector_index();
CREATE TRIGGER vector_indexes_drop AFTER DELETE ON vector_indexes
FOR EACH ROW EXECUTE FUNCTION drop_vector_index();

-- The name of the HNSW index that a space gets when it is too large for an exact scan.
CREATE FUNCTION near_index(asked_index bigint, asked_space text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT 'vectors_' || asked_index || '_near_' || left(md5(asked_space), 20)
$$;

-- The query is built for each question, because an HNSW index is only used with its literal dimension and space.
-- It is not used for some kinds only: it would stop before it has found enough of them.
CREATE FUNCTION nearest_vectors(
    asked_space text, asked_index bigint, question text, kinds text[], how_many bigint
) RETURNS TABLE (kind text, id text, number bigint, part bigint, similarity double precision)
LANGUAGE plpgsql AS $$
DECLARE
    compared text := 'vector';
BEGIN
    IF kinds IS NULL AND to_regclass(near_index(asked_index, asked_space)) IS NOT NULL THEN
        compared := format(
            'vector::halfvec(%s)', (SELECT i.dimension FROM vector_indexes i WHERE i.id = asked_index)
        );
        PERFORM set_config('hnsw.ef_search', least(1000, greatest(100, 2 * how_many))::text, true),
                set_config('hnsw.iterative_scan', 'strict_order', true);
    END IF;
    RETURN QUERY EXECUTE format(
        'SELECT kind, id, number, part, 1 - (%1$s <=> $3::halfvec) FROM vectors '
        'WHERE space_id = $1 AND index_id = $2 AND ($4 IS NULL OR kind = ANY($4)) '
        'ORDER BY %1$s <=> $3::halfvec LIMIT $5', compared
    ) USING asked_space, asked_index, question, kinds, how_many;
END
$$;

SELECT make_vectors();
