-- Messages are sealed in a chain, and a database knows when it was restored.
ALTER TABLE messages ADD COLUMN seal TEXT;
ALTER TABLE sessions ADD COLUMN sealed_from INTEGER NOT NULL DEFAULT 1;
UPDATE sessions SET sealed_from = last_number + 1;

-- The digests of erased messages, so that the chain of their session can still be followed. Without its salt a digest
-- says nothing about its message.
CREATE TABLE chain_links (
    space_id TEXT NOT NULL,
    session_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (space_id, session_id, number),
    FOREIGN KEY (space_id, session_id) REFERENCES sessions (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE TRIGGER messages_links_ad AFTER DELETE ON messages WHEN old.seal IS NOT NULL BEGIN
    INSERT INTO chain_links (space_id, session_id, number, digest)
    SELECT s.space_id, s.id, old.number, substr(old.seal, 17) FROM sessions s
    WHERE s.space_id = old.space_id AND s.id = old.session_id;
END;

-- Each time this database was restored from a backup. epoch: the microsecond of the restore; whatever is numbered goes on
-- from there, so that no number is given out twice. backup_at: when the backup was made; what was stored between is gone.
CREATE TABLE restores (
    epoch INTEGER NOT NULL PRIMARY KEY,
    backup_at INTEGER NOT NULL,
    tombstones INTEGER NOT NULL
) STRICT;
