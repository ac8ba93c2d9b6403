-- What changed in each space, and webhooks that are told of it.
-- What changed in a space, in order: kinds, times and refs, never a text. A number is taken under the lock of the space,
-- so that none appears after a higher one. The last row of a space stays, also when the space is forgotten, so that no
-- number is used twice: hence no reference to spaces. session_id: the session that it was learnt from.
CREATE TABLE changes (
    space_id text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    at bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    ref text COLLATE "C" NOT NULL,
    session_id text COLLATE "C",
    PRIMARY KEY (space_id, number)
);

CREATE INDEX changes_session ON changes (space_id, session_id, number) WHERE session_id IS NOT NULL;

-- Where changes are sent. A webhook's secret is made from its id and a key of the deployment, and stored nowhere.
-- only_space: the space whose changes it gets; NULL for all of them.
CREATE TABLE webhooks (
    id text COLLATE "C" NOT NULL PRIMARY KEY,
    url text NOT NULL,
    only_space text COLLATE "C",
    created_at bigint NOT NULL,
    disabled_at bigint,
    disabled_because text
);

-- How far each webhook has come with each space: ids, numbers and times, so that workers look across spaces.
-- due_at: when it may next be claimed. While it is claimed, the end of the lease; NULL means that nothing waits.
CREATE TABLE webhook_queues (
    space_id text COLLATE "C" NOT NULL,
    webhook_id text COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    recorded bigint NOT NULL,
    delivered bigint NOT NULL,
    due_at bigint,
    token bigint NOT NULL DEFAULT 0,
    attempts integer NOT NULL DEFAULT 0,
    failing_since bigint,
    PRIMARY KEY (space_id, webhook_id)
) WITH (fillfactor = 70);

CREATE INDEX webhook_queues_due ON webhook_queues (due_at) WHERE due_at IS NOT NULL;

-- What became of each change that was sent: numbers, times and status, so that it is read across spaces, too.
-- at: when it was last tried. status: what the receiver answered, 0 for nothing.
CREATE TABLE deliveries (
    space_id text COLLATE "C" NOT NULL,
    webhook_id text COLLATE "C" NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    attempts integer NOT NULL,
    status integer NOT NULL,
    error text,
    delivered_at bigint,
    PRIMARY KEY (space_id, webhook_id, number)
);

CREATE INDEX deliveries_newest ON deliveries (webhook_id, at);
CREATE INDEX deliveries_at ON deliveries (at);

CREATE POLICY own_space ON changes USING (space_id = current_setting('bethink.space', true));
ALTER TABLE changes ENABLE ROW LEVEL SECURITY;
ALTER TABLE changes FORCE ROW LEVEL SECURITY;
