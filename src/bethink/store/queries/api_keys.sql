-- name: insert_api_key
-- Store a new key.
INSERT INTO api_keys (prefix, name, digest, scopes, spaces, created_at, lifetime, expires_at)
VALUES (:prefix, :name, :digest, :scopes, :spaces, :now, :lifetime, :expires_at);

-- name: find_api_key
-- One key by its prefix.
SELECT prefix, name, digest, scopes, spaces, created_at, lifetime, expires_at, last_used_at, revoked_at
FROM api_keys WHERE prefix = :prefix;

-- name: list_api_keys
-- Every key that was ever created, the oldest first.
SELECT prefix, name, digest, scopes, spaces, created_at, lifetime, expires_at, last_used_at, revoked_at
FROM api_keys ORDER BY created_at, prefix;

-- name: touch_api_key
-- Record that a key was used, unless that was just recorded.
UPDATE api_keys SET last_used_at = :now
WHERE prefix = :prefix AND (last_used_at IS NULL OR last_used_at <= :before);

-- name: shorten_api_key
-- Make a key expire at a time, unless it expires earlier.
UPDATE api_keys SET expires_at = :expires_at
WHERE prefix = :prefix AND (expires_at IS NULL OR expires_at > :expires_at);

-- name: revoke_api_key
-- Revoke a key; the first revocation counts.
UPDATE api_keys SET revoked_at = COALESCE(revoked_at, :now) WHERE prefix = :prefix;
