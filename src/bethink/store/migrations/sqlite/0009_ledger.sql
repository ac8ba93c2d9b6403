-- What was shown, when, to whom: names only, so that nothing which is forgotten lives on here.
CREATE TABLE ledger (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    purpose TEXT NOT NULL,
    session_id TEXT NOT NULL,
    shown_at INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (space_id, id)
) STRICT;

CREATE INDEX ledger_session ON ledger (space_id, session_id, shown_at);

CREATE TABLE ledger_items (
    space_id TEXT NOT NULL,
    ledger_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (space_id, ledger_id, place),
    FOREIGN KEY (space_id, ledger_id) REFERENCES ledger (space_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX ledger_items_shown ON ledger_items (space_id, kind, id, number);

-- How often something that was shown was of use.
CREATE TABLE usage (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,
    usage_count INTEGER NOT NULL,
    last_usage INTEGER NOT NULL,
    PRIMARY KEY (space_id, kind, id, number)
) STRICT;

-- What is gone is of no use any more.
CREATE TRIGGER messages_usage_ad AFTER DELETE ON messages BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'message' AND id = old.session_id AND number = old.number;
END;
CREATE TRIGGER facts_usage_ad AFTER DELETE ON facts BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'fact' AND id = old.id AND number = old.version;
END;
CREATE TRIGGER session_memories_usage_ad AFTER DELETE ON session_memories BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'session_memory' AND id = old.session_id AND number = 0;
END;
CREATE TRIGGER documents_usage_ad AFTER DELETE ON documents BEGIN
    DELETE FROM usage WHERE space_id = old.space_id AND kind = 'document' AND id = old.id AND number = old.version;
END;
