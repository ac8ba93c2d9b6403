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

-- What models cost each day by what they were asked for, with a row for each worker.
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

-- What models cost each day for each space.
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

INSERT INTO job_counts (kind, status, slot, count) SELECT kind, status, 0, count(*) FROM jobs GROUP BY kind, status;

-- What waits for a person in any space: claims under review, and change sets. Ids and times, never a text.
CREATE TABLE held (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, id)
) STRICT;

CREATE INDEX held_newest ON held (at, space_id, kind, id);

CREATE TRIGGER reviews_held_ai AFTER INSERT ON reviews WHEN new.status = 'held' BEGIN
    INSERT INTO held (space_id, kind, id, at) VALUES (new.space_id, 'claim', new.id, new.created_at);
END;
CREATE TRIGGER reviews_held_ad AFTER DELETE ON reviews BEGIN
    DELETE FROM held WHERE space_id = old.space_id AND kind = 'claim' AND id = old.id;
END;
CREATE TRIGGER reviews_held_au AFTER UPDATE OF status ON reviews WHEN old.status <> new.status BEGIN
    DELETE FROM held WHERE space_id = old.space_id AND kind = 'claim' AND id = old.id;
    INSERT INTO held (space_id, kind, id, at)
    SELECT new.space_id, 'claim', new.id, new.created_at WHERE new.status = 'held';
END;
CREATE TRIGGER change_sets_held_ai AFTER INSERT ON change_sets WHEN new.status = 'held' BEGIN
    INSERT INTO held (space_id, kind, id, at) VALUES (new.space_id, 'changes', new.run, new.created_at);
END;
CREATE TRIGGER change_sets_held_ad AFTER DELETE ON change_sets BEGIN
    DELETE FROM held WHERE space_id = old.space_id AND kind = 'changes' AND id = old.run;
END;
CREATE TRIGGER change_sets_held_au AFTER UPDATE OF status ON change_sets
WHEN old.status <> new.status OR old.created_at <> new.created_at BEGIN
    DELETE FROM held WHERE space_id = old.space_id AND kind = 'changes' AND id = old.run;
    INSERT INTO held (space_id, kind, id, at)
    SELECT new.space_id, 'changes', new.run, new.created_at WHERE new.status = 'held';
END;

INSERT INTO held (space_id, kind, id, at) SELECT space_id, 'claim', id, created_at FROM reviews WHERE status = 'held'
UNION ALL SELECT space_id, 'changes', run, created_at FROM change_sets WHERE status = 'held';
