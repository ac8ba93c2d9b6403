-- What was asked to be forgotten, recorded before it goes: who asked, with which key, why and when, and never a text.
-- It stays when its space is forgotten, hence no reference to spaces. plan: the ids of what goes, until it is settled;
-- receipt: what the one who asked was given.
CREATE TABLE erasures (
    space_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    asked_by text NOT NULL,
    key_prefix text COLLATE "C",
    reason text NOT NULL,
    requested_at bigint NOT NULL,
    settled_at bigint,
    plan json,
    receipt json,
    PRIMARY KEY (space_id, id)
);

CREATE INDEX erasures_requested ON erasures (space_id, requested_at, id);

-- Which places have confirmed that nothing is left there: ids and times, so that any process finds what is still open.
CREATE TABLE erasure_sinks (
    space_id text COLLATE "C" NOT NULL,
    erasure_id text COLLATE "C" NOT NULL,
    sink text COLLATE "C" NOT NULL,
    confirmed_at bigint,
    PRIMARY KEY (space_id, erasure_id, sink),
    FOREIGN KEY (space_id, erasure_id) REFERENCES erasures (space_id, id) ON DELETE CASCADE
);

CREATE INDEX erasure_sinks_open ON erasure_sinks (space_id, erasure_id, sink) WHERE confirmed_at IS NULL;

-- What may not come back: keyed digests of refs, of names of conversations and of idempotency keys. key_id: which key
-- the digest was made with, so that those of another installation can be kept, too. at: when it was forgotten; what was
-- recorded later under the same name is new.
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

-- Where files with texts of a space were written, and by which machine: kind is 'artefacts', 'writing' as long as they
-- are being written, or 'export'. They outlive the rows they were made of, hence no reference to spaces.
CREATE TABLE written_files (
    space_id text COLLATE "C" NOT NULL,
    host text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    written_at bigint NOT NULL,
    PRIMARY KEY (space_id, host, path)
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['erasures', 'tombstones', 'written_files'] LOOP
        EXECUTE format(
            'CREATE POLICY own_space ON %I USING (space_id = current_setting(''bethink.space'', true))', name
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;
