-- What learning a space again would change. proposal: the changes as JSON, as long as they are only proposed; undo: what
-- an applied one must restore, as ids.
CREATE TABLE relearnings (
    space_id TEXT NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    id TEXT NOT NULL,
    status TEXT NOT NULL,
    model TEXT NOT NULL,
    counts TEXT NOT NULL CHECK (json_valid(counts)),
    proposal TEXT CHECK (json_valid(proposal)),
    undo TEXT CHECK (json_valid(undo)),
    created_at INTEGER NOT NULL,
    applied_at INTEGER,
    PRIMARY KEY (space_id, id)
) STRICT;
