-- The timeline: what happened to a space, by time. Jobs of all spaces, counted and listed by state; what models cost.
CREATE INDEX messages_recorded ON messages (space_id, recorded_at, session_id, number);
CREATE INDEX documents_written ON documents (space_id, valid_from, id, version);
CREATE INDEX ledger_shown ON ledger (space_id, shown_at, id);
CREATE INDEX changes_forgotten ON changes (space_id, at, ref, number)
WHERE kind IN ('session.forgotten', 'fact.forgotten', 'document.forgotten', 'space.forgotten');
CREATE INDEX jobs_by_status ON jobs (status, kind, queued_at, space_id, key)
WHERE status IN ('queued', 'running', 'failed', 'dead');
CREATE INDEX jobs_of_space ON jobs (space_id, queued_at, kind, key);

-- How many jobs there are of each kind in each state, kept by triggers: reading it costs the same however many there are.
-- slot: the rows that concurrent transactions write to, so that they do not wait for each other.
CREATE TABLE job_counts (
    kind text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    slot integer NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (kind, status, slot)
) WITH (fillfactor = 50);

-- Of what is inserted or deleted, all rows of a statement at once; of what is updated, only rows whose state changes.
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

-- What models cost each day by what they were asked for, with a row for each worker.
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

-- What models cost each day for each space.
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

INSERT INTO job_counts (kind, status, slot, count) SELECT kind, status, 0, count(*) FROM jobs GROUP BY kind, status;

-- What waits for a person in any space: claims under review, and change sets. Ids and times, never a text.
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
    IF now ->> 'status' = 'held' THEN
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

-- A migration has set no space, so that it sees no row of these: their policies are lifted for a moment.
ALTER TABLE reviews NO FORCE ROW LEVEL SECURITY;
ALTER TABLE change_sets NO FORCE ROW LEVEL SECURITY;
INSERT INTO held (space_id, kind, id, at) SELECT space_id, 'claim', id, created_at FROM reviews WHERE status = 'held'
UNION ALL SELECT space_id, 'changes', run, created_at FROM change_sets WHERE status = 'held';
ALTER TABLE reviews FORCE ROW LEVEL SECURITY;
ALTER TABLE change_sets FORCE ROW LEVEL SECURITY;
