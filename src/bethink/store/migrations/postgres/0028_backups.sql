-- Messages are sealed in a chain, and a database knows when it was restored.
ALTER TABLE messages ADD COLUMN seal text COLLATE "C";
ALTER TABLE sessions ADD COLUMN sealed_from bigint NOT NULL DEFAULT 1;
-- The owner of the tables, who migrates them, must see all spaces.
ALTER TABLE sessions NO FORCE ROW LEVEL SECURITY;
UPDATE sessions SET sealed_from = last_number + 1;
ALTER TABLE sessions FORCE ROW LEVEL SECURITY;

-- The digests of erased messages, so that the chain of their session can still be followed. Without its salt a digest
-- says nothing about its message.
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

-- Each time this database was restored from a backup. epoch: the microsecond of the restore; whatever is numbered goes on
-- from there, so that no number is given out twice. backup_at: when the backup was made; what was stored between is gone.
CREATE TABLE restores (
    epoch bigint NOT NULL PRIMARY KEY,
    backup_at bigint NOT NULL,
    tombstones bigint NOT NULL
);

CREATE POLICY own_space ON chain_links USING (space_id = current_setting('bethink.space', true));
ALTER TABLE chain_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE chain_links FORCE ROW LEVEL SECURITY;
