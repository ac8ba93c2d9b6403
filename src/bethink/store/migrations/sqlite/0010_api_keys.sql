-- Who may come in by the network. No secret is kept, only a keyed digest of it; and no content.
CREATE TABLE api_keys (
    prefix TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    scopes TEXT NOT NULL,
    spaces TEXT,
    created_at INTEGER NOT NULL,
    lifetime INTEGER,
    expires_at INTEGER,
    last_used_at INTEGER,
    revoked_at INTEGER
) STRICT;
