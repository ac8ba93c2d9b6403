-- The directory of a fleet of shards: which shard holds which space. It holds names and addresses, and no memory.

-- The version of this schema in a row of its own: every transaction that writes reads it first.
CREATE TABLE schema_now (
    version integer NOT NULL
);

-- Which directory this is: a database that is a shard of one cannot become one of another.
CREATE TABLE directory (
    id text COLLATE "C" NOT NULL
);

-- The shards. weight: how many spaces it takes beside one with weight 1. spaces: how many it has.
CREATE TABLE shards (
    name text COLLATE "C" NOT NULL PRIMARY KEY,
    dsn text NOT NULL,
    weight integer NOT NULL CHECK (weight > 0),
    state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'draining')),
    spaces bigint NOT NULL DEFAULT 0,
    added_at bigint NOT NULL
) WITH (fillfactor = 50);

-- Where each space is. version: how many times it was placed.
CREATE TABLE places (
    space_id text COLLATE "C" NOT NULL PRIMARY KEY,
    shard text COLLATE "C" NOT NULL REFERENCES shards (name),
    version bigint NOT NULL,
    placed_at bigint NOT NULL
);

CREATE INDEX places_of_shard ON places (shard, space_id);

-- Moves that have begun and not ended. token: the run of the command that last took it up.
CREATE TABLE moves (
    space_id text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES places (space_id),
    source text COLLATE "C" NOT NULL REFERENCES shards (name),
    target text COLLATE "C" NOT NULL REFERENCES shards (name),
    token text COLLATE "C" NOT NULL,
    begun_at bigint NOT NULL
);
