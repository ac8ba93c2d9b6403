-- Who may come in by the network. No secret is kept, only a keyed digest of it; and no content.
-- A key is looked up before its space is known, so it belongs to none.
CREATE TABLE api_keys (
    prefix text COLLATE "C" NOT NULL PRIMARY KEY,
    name text NOT NULL,
    digest text NOT NULL,
    scopes json NOT NULL,
    spaces json,
    created_at bigint NOT NULL,
    lifetime bigint,
    expires_at bigint,
    last_used_at bigint,
    revoked_at bigint
);
