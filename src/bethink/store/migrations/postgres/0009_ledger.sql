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
