-- Directory of shards: maps spaces to shards. It contains names and addresses, but no memory.

-- Version of this schema, in a separate row: every write transaction reads it first.
CREATE TABLE schema_now (
    version integer NOT NULL
);

-- Id of this directory: a shard of one directory cannot join another.
CREATE TABLE directory (
    id text COLLATE "C" NOT NULL
);

-- The shards. weight: share of spaces relative to weight 1. spaces: number of spaces.
CREATE TABLE shards (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    dsn text NOT NULL,
    weight integer NOT NULL CHECK (weight > 0),
    state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'draining')),
    spaces bigint NOT NULL DEFAULT 0,
    added_at bigint NOT NULL
) WITH (fillfactor = 50);

-- Shard of each space. version: number of placements.
CREATE TABLE places (
    space_id text COLLATE "C" NOT NULL PRIMARY KEY,
    shard text COLLATE "C" NOT NULL REFERENCES shards (name),
    version bigint NOT NULL,
    placed_at bigint NOT NULL
);

CREATE INDEX places_of_shard ON places (shard, space_id);

-- Unfinished moves. token: the last run of the command.
CREATE TABLE moves (
    space_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES places (space_id),
    source text COLLATE "C" NOT NULL REFERENCES shards (name),
    target text COLLATE "C" NOT NULL REFERENCES shards (name),
    token text COLLATE "C" NOT NULL,
    begun_at bigint NOT NULL
);
