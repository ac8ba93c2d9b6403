-- The access record: who did what to which memories. Ids and names of verbs, never a text. It outlives what it names:
-- a space that is forgotten stays in it, so it refers to no other table. refs: a JSON list;
-- it stands behind the id, so that a random id and a word never make up a piece of what was forgotten. It is read across spaces.
CREATE TABLE access_log (
    space_id text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    refs text NOT NULL,
    door text COLLATE "C" NOT NULL,
    key_prefix text COLLATE "C" NOT NULL,
    person text NOT NULL,
    verb text COLLATE "C" NOT NULL,
    PRIMARY KEY (space_id, at, id)
);

CREATE INDEX access_log_newest ON access_log (at, id);

CREATE FUNCTION access_log_stands() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the access record is only added to';
END
$$;

CREATE TRIGGER access_log_bu BEFORE UPDATE ON access_log FOR EACH ROW EXECUTE FUNCTION access_log_stands();
