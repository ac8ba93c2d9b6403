-- name: insert_web_session
-- Store a session of the web interface, or a link for signing in once.
INSERT INTO web_sessions (digest, key_prefix, once, created_at, seen_at, expires_at)
VALUES (:digest, :prefix, :once, :now, :now, :expires_at);

-- name: find_web_session
-- An active session, unless it has expired or was idle for too long.
SELECT key_prefix, created_at, seen_at FROM web_sessions
WHERE digest = :digest AND once = 0 AND expires_at > :now AND seen_at > :idle;

-- name: touch_web_session
-- Record that a session was seen.
UPDATE web_sessions SET seen_at = :now WHERE digest = :digest;

-- name: find_web_link
-- The key that a link is for, unless it has been used or is too old.
SELECT key_prefix FROM web_sessions WHERE digest = :digest AND once = 1 AND expires_at > :now;

-- name: delete_web_session
-- End a session, or use up a link.
DELETE FROM web_sessions WHERE digest = :digest;

-- name: delete_old_web_sessions
-- Delete expired sessions and links.
DELETE FROM web_sessions WHERE expires_at <= :now;

-- name: list_web_sessions
-- Active sessions, the last seen first.
SELECT key_prefix, created_at, seen_at FROM web_sessions
WHERE once = 0 AND expires_at > :now AND seen_at > :idle
ORDER BY seen_at DESC LIMIT :limit;
