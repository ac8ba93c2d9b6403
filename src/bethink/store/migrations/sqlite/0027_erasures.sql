-- What was asked to be forgotten, recorded before it goes: who asked, with which key, why and when, and never a text.
-- It stays when its space is forgotten, hence no reference to spaces. plan: the ids of what goes, until it is settled;
-- receipt: what the one who asked was given.
CREATE TABLE erasures (
    space_id TEXT NOT NULL,
    id TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    key_prefix TEXT,
    reason TEXT NOT NULL,
    requested_at INTEGER NOT NULL,
    settled_at INTEGER,
    plan TEXT CHECK (json_valid(plan)),
    receipt TEXT CHECK (json_valid(receipt)),
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX erasures_requested ON erasures (space_id, requested_at, id);

-- Which places have confirmed that nothing is left there: ids and times, so that any process finds what is still open.
CREATE TABLE erasure_sinks (
    space_id TEXT NOT NULL,
    erasure_id TEXT NOT NULL,
    sink TEXT NOT NULL,
    confirmed_at INTEGER,
    PRIMARY KEY (space_id, erasure_id, sink),
    FOREIGN KEY (space_id, erasure_id) REFERENCES erasures (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX erasure_sinks_open ON erasure_sinks (space_id, erasure_id, sink) WHERE confirmed_at IS NULL;

-- What may not come back: keyed digests of refs, of names of conversations and of idempotency keys. key_id: which key
-- the digest was made with, so that those of another installation can be kept, too. at: when it was forgotten; what was
-- recorded later under the same name is new.
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

-- Where files with texts of a space were written, and by which machine: kind is 'artefacts', 'writing' as long as they
-- are being written, or 'export'. They outlive the rows they were made of, hence no reference to spaces.
CREATE TABLE written_files (
    space_id TEXT NOT NULL,
    host TEXT NOT NULL,
    path TEXT NOT NULL,
    kind TEXT NOT NULL,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, host, path)
) STRICT;
