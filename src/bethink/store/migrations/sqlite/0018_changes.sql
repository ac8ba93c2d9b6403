-- What changed in each space, and webhooks that are told of it.
-- What changed in a space, in order: kinds, times and refs, never a text. A number is taken under the lock of the space,
-- so that none appears after a higher one. The last row of a space stays, also when the space is forgotten, so that no
-- number is used twice: hence no reference to spaces. session_id: the session that it was learnt from.
CREATE TABLE changes (
    space_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    ref TEXT NOT NULL,
    session_id TEXT,
    PRIMARY KEY (space_id, number)
) STRICT;

CREATE INDEX changes_session ON changes (space_id, session_id, number) WHERE session_id IS NOT NULL;

-- Where changes are sent. A webhook's secret is made from its id and a key of the deployment, and stored nowhere.
-- only_space: the space whose changes it gets; NULL for all of them.
CREATE TABLE webhooks (
    id TEXT NOT NULL PRIMARY KEY,
    url TEXT NOT NULL,
    only_space TEXT,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER,
    disabled_because TEXT
) STRICT;

-- How far each webhook has come with each space: ids, numbers and times, so that workers look across spaces.
-- due_at: when it may next be claimed. While it is claimed, the end of the lease; NULL means that nothing waits.
CREATE TABLE webhook_queues (
    space_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    recorded INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    due_at INTEGER,
    token INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    failing_since INTEGER,
    PRIMARY KEY (space_id, webhook_id)
) STRICT;

CREATE INDEX webhook_queues_due ON webhook_queues (due_at) WHERE due_at IS NOT NULL;

-- What became of each change that was sent: numbers, times and status, so that it is read across spaces, too.
-- at: when it was last tried. status: what the receiver answered, 0 for nothing.
CREATE TABLE deliveries (
    space_id TEXT NOT NULL,
    webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    status INTEGER NOT NULL,
    error TEXT,
    delivered_at INTEGER,
    PRIMARY KEY (space_id, webhook_id, number)
) STRICT;

CREATE INDEX deliveries_newest ON deliveries (webhook_id, at);
CREATE INDEX deliveries_at ON deliveries (at);
