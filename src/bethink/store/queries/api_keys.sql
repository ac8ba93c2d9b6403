-- name: insert_api_key
-- Let a new key in.
INSERT INTO api_keys (prefix, name, digest, scopes, spaces, created_at, lifetime, expires_at)
VALUES (:prefix, :name, :digest, :scopes, :spaces, :now, :lifetime, :expires_at);

-- name: find_api_key
-- One key by its public part.
SELECT prefix, name, digest, scopes, spaces, created_at, lifetime, expires_at, last_used_at, revoked_at
FROM api_keys WHERE prefix = :prefix;

-- name: list_api_keys
-- Every key there ever was, the oldest first.
SELECT prefix, name, digest, scopes, spaces, created_at, lifetime, expires_at, last_used_at, revoked_at
FROM api_keys ORDER BY created_at, prefix;

-- name: touch_api_key
-- Note that a key was used, unless somebody has just noted it.
UPDATE api_keys SET last_used_at = :now
WHERE prefix = :prefix AND (last_used_at IS NULL OR last_used_at <= :before);

-- name: shorten_api_key
-- Let a key expire by a time, unless it does so earlier.
UPDATE api_keys SET expires_at = :expires_at
WHERE prefix = :prefix AND (expires_at IS NULL OR expires_at > :expires_at);

-- name: revoke_api_key
-- Let a key in no more; the first time counts.
UPDATE api_keys SET revoked_at = COALESCE(revoked_at, :now) WHERE prefix = :prefix;
