ALTER TABLE sessions ADD COLUMN invalidated_at INTEGER;
ALTER TABLE sessions ADD COLUMN processed_until INTEGER;
ALTER TABLE sessions ADD COLUMN marked_at INTEGER;
ALTER TABLE sessions ADD COLUMN marked_by TEXT;

-- What workers may see across spaces: ids, times and tokens, never content.
CREATE TABLE jobs (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    queued_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, key)
) STRICT;

CREATE INDEX jobs_queue ON jobs (kind, queued_at, space_id, key);
