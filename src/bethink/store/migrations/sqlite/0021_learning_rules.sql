-- What a space learns, or with a name one agent in it, as its owner decided. rules: the rules as JSON.
CREATE TABLE learning_rules (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    agent TEXT NOT NULL,
    rules TEXT NOT NULL CHECK (json_valid(rules)),
    changed_at INTEGER NOT NULL,
    PRIMARY KEY (space_id, agent)
) STRICT;
