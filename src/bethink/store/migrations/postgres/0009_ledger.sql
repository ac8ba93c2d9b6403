-- What was shown, when, to whom: names only, so that nothing which is forgotten lives on here.
CREATE TABLE ledger (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    purpose text NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    shown_at bigint NOT NULL,
    tokens bigint NOT NULL,
    digest text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, id)
);

CREATE INDEX ledger_session ON ledger (space_id, session_id, shown_at);

CREATE TABLE ledger_items (
    space_id text COLLATE "C" NOT NULL,
    ledger_id text COLLATE "C" NOT NULL,
    place bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    label text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, ledger_id, place),
    FOREIGN KEY (space_id, ledger_id) REFERENCES ledger (space_id, id) ON DELETE CASCADE
);

CREATE INDEX ledger_items_shown ON ledger_items (space_id, kind, id, number);

-- How often something that was shown was of use.
CREATE TABLE usage (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    kind text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    usage_count bigint NOT NULL,
    last_usage bigint NOT NULL,
    PRIMARY KEY (space_id, kind, id, number)
);

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['ledger', 'ledger_items', 'usage'] LOOP
        EXECUTE format(
            'CREATE POLICY own_space ON %I USING (space_id = current_setting(''bethink.space'', true))', name
        );
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    END LOOP;
END
$$;

-- What is gone is of no use any more.
CREATE FUNCTION forget_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'DELETE FROM usage u USING gone g WHERE u.space_id = g.space_id AND u.kind = %L AND u.id = g.%I AND u.number = %s',
        TG_ARGV[0], TG_ARGV[1], TG_ARGV[2]
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER usage_forgotten AFTER DELETE ON messages REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_usage('message', 'session_id', 'g.number');
CREATE TRIGGER usage_forgotten AFTER DELETE ON facts REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_usage('fact', 'id', 'g.version');
CREATE TRIGGER usage_forgotten AFTER DELETE ON session_memories REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_usage('session_memory', 'session_id', '0');
CREATE TRIGGER usage_forgotten AFTER DELETE ON documents REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT EXECUTE FUNCTION forget_usage('document', 'id', 'g.version');
