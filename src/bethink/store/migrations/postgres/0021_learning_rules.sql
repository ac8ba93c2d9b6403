-- What a space learns, or with a name one agent in it, as its owner decided. rules: the rules as JSON.
CREATE TABLE learning_rules (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    agent text COLLATE "C" NOT NULL,
    rules json NOT NULL,
    changed_at bigint NOT NULL,
    PRIMARY KEY (space_id, agent)
);

CREATE POLICY own_space ON learning_rules USING (space_id = current_setting('bethink.space', true));
ALTER TABLE learning_rules ENABLE ROW LEVEL SECURITY;
ALTER TABLE learning_rules FORCE ROW LEVEL SECURITY;
