-- Who is signed in to the web window: the digest of a random id, and the key that was shown once. Like a key, it is
-- looked up before a space is known. once: a link for signing in a single time.
CREATE TABLE web_sessions (
    digest text COLLATE "C" NOT NULL PRIMARY KEY,
    key_prefix text COLLATE "C" NOT NULL REFERENCES api_keys (prefix),
    once integer NOT NULL CHECK (once IN (0, 1)),
    created_at bigint NOT NULL,
    seen_at bigint NOT NULL,
    expires_at bigint NOT NULL
);

CREATE INDEX web_sessions_by_end ON web_sessions (expires_at);
