-- A failed job rests until its time comes or its session gets something new.
ALTER TABLE sessions ADD COLUMN rests integer NOT NULL DEFAULT 0;

-- due_at: when it may next be claimed. While it runs that is the end of its lease; NULL means there is nothing to do.
ALTER TABLE jobs ADD COLUMN status text NOT NULL DEFAULT 'queued';
ALTER TABLE jobs ADD COLUMN due_at bigint;
ALTER TABLE jobs ADD COLUMN token bigint NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN worker text;
ALTER TABLE jobs ADD COLUMN attempts integer NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN input_watermark bigint NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN success_watermark bigint;
ALTER TABLE jobs ADD COLUMN started_at bigint;
ALTER TABLE jobs ADD COLUMN finished_at bigint;
ALTER TABLE jobs ADD COLUMN outcome text;
ALTER TABLE jobs ADD COLUMN last_error text;
ALTER TABLE jobs ADD COLUMN calls integer NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN input_tokens bigint NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN output_tokens bigint NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN cost bigint NOT NULL DEFAULT 0;

UPDATE jobs SET due_at = queued_at;

DROP INDEX jobs_queue;
CREATE INDEX jobs_due ON jobs (kind, due_at) WHERE due_at IS NOT NULL AND status <> 'waiting';
CREATE INDEX jobs_quiet ON jobs (kind, due_at) WHERE due_at IS NOT NULL AND status = 'waiting';
CREATE INDEX jobs_marked ON jobs (kind, queued_at, space_id, key)
WHERE status IN ('queued', 'running', 'failed', 'dead');

-- A session that goes quiet without a mark is looked at, too; for that the owner sees every space once.
ALTER TABLE sessions NO FORCE ROW LEVEL SECURITY;
INSERT INTO jobs (space_id, kind, key, queued_at, status, due_at)
SELECT s.space_id, 'extract', s.id, s.created_at, 'waiting', s.created_at
FROM sessions s WHERE s.learns = 1 AND s.ended_at IS NULL
ON CONFLICT (space_id, kind, key) DO NOTHING;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;

-- What models were paid for, a row for each worker and day, so that workers do not wait for each other.
CREATE TABLE spending (
    day bigint NOT NULL,
    slot bigint NOT NULL,
    calls bigint NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost bigint NOT NULL,
    PRIMARY KEY (day, slot)
) WITH (fillfactor = 50);

-- Keys of this deployment, such as the one that fingerprints redacted secrets.
CREATE TABLE deployment_keys (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    value text NOT NULL
);

-- What a model said for a job, stored before it is applied.
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

CREATE TABLE session_memories (
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
    PRIMARY KEY (space_id, session_id),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
);

-- A fact is never overwritten: what succeeds it is a new row, and the old one is retired.
ALTER TABLE facts ADD COLUMN version bigint NOT NULL DEFAULT 1;
ALTER TABLE facts ADD COLUMN kind text NOT NULL DEFAULT 'knowledge';
ALTER TABLE facts ADD COLUMN origin text NOT NULL DEFAULT 'import';
ALTER TABLE facts ADD COLUMN entities json NOT NULL DEFAULT '[]';
ALTER TABLE facts ADD COLUMN subject text COLLATE "C";
ALTER TABLE facts ADD COLUMN slot text COLLATE "C";
ALTER TABLE facts ADD COLUMN valid_from bigint;
ALTER TABLE facts ADD COLUMN valid_to bigint;
ALTER TABLE facts ADD COLUMN recorded_at bigint NOT NULL DEFAULT 0;
ALTER TABLE facts ADD COLUMN retired_at bigint;
ALTER TABLE facts ADD COLUMN retired_by text COLLATE "C";
ALTER TABLE facts ADD COLUMN digest text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE facts ADD COLUMN effect text COLLATE "C";
ALTER TABLE facts ADD COLUMN token bigint;
ALTER TABLE facts ADD COLUMN model text;
ALTER TABLE facts ADD COLUMN prompt text;
ALTER TABLE facts ADD COLUMN extractor text;

ALTER TABLE facts NO FORCE ROW LEVEL SECURITY;
UPDATE facts SET recorded_at = created_at;
ALTER TABLE facts FORCE ROW LEVEL SECURITY;

ALTER TABLE facts DROP CONSTRAINT facts_pkey;
ALTER TABLE facts ADD PRIMARY KEY (space_id, id, version);
CREATE UNIQUE INDEX facts_current ON facts (space_id, id) WHERE retired_at IS NULL;
CREATE UNIQUE INDEX facts_effect ON facts (space_id, effect) WHERE effect IS NOT NULL;
CREATE INDEX facts_digest ON facts (space_id, digest) WHERE retired_at IS NULL;
CREATE INDEX facts_slot ON facts (space_id, subject, slot) WHERE retired_at IS NULL AND slot IS NOT NULL;

-- Which messages a learnt fact rests on; a source cannot outlive its message.
CREATE TABLE fact_sources (
    space_id text COLLATE "C" NOT NULL,
    fact_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (space_id, fact_id, session_id, number),
    FOREIGN KEY (space_id, session_id, number) REFERENCES messages (space_id, session_id, number) ON DELETE CASCADE
);

CREATE INDEX fact_sources_message ON fact_sources (space_id, session_id, number);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['answers', 'session_memories', 'fact_sources'] LOOP
        EXECUTE format(
            'CREATE POLICY own_space ON %I USING (space_id = current_setting(''bethink.space'', true))', name
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;
