ALTER TABLE sessions ADD COLUMN invalidated_at bigint;
ALTER TABLE sessions ADD COLUMN processed_until bigint;
ALTER TABLE sessions ADD COLUMN marked_at bigint;
ALTER TABLE sessions ADD COLUMN marked_by text;

-- What workers may see across spaces: ids, times and tokens, never content. So no row-level security here.
CREATE TABLE jobs (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    queued_at bigint NOT NULL,
    PRIMARY KEY (space_id, kind, key)
) WITH (fillfactor = 70);

CREATE INDEX jobs_queue ON jobs (kind, queued_at, space_id, key);
