-- Where a space is while it moves to another cell, and after it has left: arriving (only the move may use it here),
-- leaving (it may still be read) or gone. token: the move. cell: where it comes from or goes to. version: that of its
-- place in the directory once it has moved. until: when a fence that still stands may be lifted. Every transaction
-- reads the row of its space in the statement that begins it. Names and times, so that it is read across spaces.
CREATE TABLE moves (
    space_id TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('arriving', 'leaving', 'gone')),
    token TEXT NOT NULL,
    cell TEXT NOT NULL,
    version INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;
