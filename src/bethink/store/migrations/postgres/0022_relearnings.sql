-- What learning a space again would change. proposal: the changes as JSON, as long as they are only proposed; undo: what
-- an applied one must restore, as ids.
CREATE TABLE relearnings (
    space_id text COLLATE "C" NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    status text COLLATE "C" NOT NULL,
    model text NOT NULL,
    counts json NOT NULL,
    proposal json,
    undo json,
    created_at bigint NOT NULL,
    applied_at bigint,
    PRIMARY KEY (space_id, id)
);

CREATE POLICY own_space ON relearnings USING (space_id = current_setting('bethink.space', true));
ALTER TABLE relearnings ENABLE ROW LEVEL SECURITY;
ALTER TABLE relearnings FORCE ROW LEVEL SECURITY;
