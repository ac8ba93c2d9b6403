-- Where a space is while it moves to another cell, and after it has left: arriving (only the move may use it here),
-- leaving (it may still be read) or gone. token: the move. cell: where it comes from or goes to. version: that of its
-- place in the directory once it has moved. until: when a fence that still stands may be lifted. Every transaction
-- reads the row of its space in the statement that begins it. Names and times, so that it is read across spaces.
CREATE TABLE moves (
    space_id text COLLATE "C" NOT NULL PRIMARY KEY,
    state text COLLATE "C" NOT NULL CHECK (state IN ('arriving', 'leaving', 'gone')),
    token text COLLATE "C" NOT NULL,
    cell text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    until bigint NOT NULL
);

-- What moves says of a space. A function keeps its plan: planning the query each time would take longer than running it.
CREATE FUNCTION moving(asked text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (SELECT state || ' ' || token FROM moves WHERE space_id = asked);
END
$$;
