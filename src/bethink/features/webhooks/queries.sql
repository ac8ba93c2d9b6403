-- name: queue_deliveries
-- Queue changes for every webhook of a space. A webhook that waits for a retry keeps waiting.
INSERT INTO webhook_queues (space_id, webhook_id, recorded, delivered, due_at)
SELECT :space, w.id, :number, :delivered, :now FROM webhooks w
WHERE w.disabled_at IS NULL AND (w.only_space IS NULL OR w.only_space = :space)
ON CONFLICT (space_id, webhook_id) DO UPDATE SET
    recorded = excluded.recorded, due_at = COALESCE(webhook_queues.due_at, excluded.due_at);

-- name: forget_deliveries
-- Remove the delivery entries of a space.
DELETE FROM deliveries WHERE space_id = :space;

-- name: fence_queues
-- Revoke every queue lease.
UPDATE webhook_queues SET token = CASE WHEN token < :epoch THEN :epoch ELSE token + 1 END,
    due_at = CASE WHEN recorded > delivered THEN CAST(:now AS bigint) END;

-- name: insert_webhook
-- Store a webhook.
INSERT INTO webhooks (id, url, only_space, created_at) VALUES (:id, :url, :only_space, :now);

-- name: list_webhooks
-- All webhooks, oldest first.
SELECT id, url, only_space, created_at, disabled_at, disable_reason FROM webhooks ORDER BY created_at, id;

-- name: find_webhook
-- One webhook.
SELECT id, url, only_space, created_at, disabled_at, disable_reason FROM webhooks WHERE id = :id;

-- name: delete_webhook
-- Remove a webhook with its queues and deliveries.
DELETE FROM webhooks WHERE id = :id;

-- name: disable_webhook
-- Stop sending to a webhook.
UPDATE webhooks SET disabled_at = :now, disable_reason = :reason WHERE id = :id AND disabled_at IS NULL;

-- name: stop_queues
-- Stop the queues of a webhook and revoke their leases.
UPDATE webhook_queues SET due_at = NULL, token = token + 1 WHERE webhook_id = :id;

-- name: claim_queues
-- Lease the due queues of a webhook, longest waiting first, each with a higher token than before.
WITH due AS MATERIALIZED (
    SELECT space_id, webhook_id FROM webhook_queues WHERE webhook_id = :id AND due_at <= :now
    ORDER BY due_at LIMIT :limit /*skip_locked*/
)
UPDATE webhook_queues SET token = webhook_queues.token + 1, due_at = :lease
FROM due WHERE webhook_queues.space_id = due.space_id AND webhook_queues.webhook_id = due.webhook_id
RETURNING webhook_queues.space_id, webhook_queues.webhook_id, webhook_queues.token, webhook_queues.delivered,
    webhook_queues.attempts, webhook_queues.failing_since;

-- name: list_due_webhooks
-- Webhooks with due changes, longest due first. Reads one index entry per webhook, regardless of the number of
-- spaces that wait for a slow one.
SELECT id FROM (
    SELECT w.id, (
        SELECT q.due_at FROM webhook_queues q WHERE q.webhook_id = w.id AND q.due_at <= :now
        ORDER BY q.due_at LIMIT 1
    ) AS due_at FROM webhooks w
) AS waiting WHERE due_at IS NOT NULL ORDER BY due_at, id;

-- name: advance_queue
-- Record a delivery under a valid lease, and renew the lease.
UPDATE webhook_queues SET delivered = :number, attempts = 0, failing_since = NULL, due_at = :lease
WHERE space_id = :space AND webhook_id = :webhook AND token = :token;

-- name: release_queue
-- End a lease. Remaining changes wait for the next one.
UPDATE webhook_queues SET due_at = CASE WHEN recorded > delivered THEN CAST(:now AS bigint) END
WHERE space_id = :space AND webhook_id = :webhook AND token = :token;

-- name: skip_lost
-- Skip changes that are no longer stored.
UPDATE webhook_queues SET delivered = recorded
WHERE space_id = :space AND webhook_id = :webhook AND token = :token;

-- name: delay_queue
-- End a lease after a failed delivery, until the next attempt.
UPDATE webhook_queues SET due_at = :due, attempts = attempts + 1, failing_since = COALESCE(failing_since, :now)
WHERE space_id = :space AND webhook_id = :webhook AND token = :token;

-- name: note_delivery
-- Record an attempt to deliver a change.
INSERT INTO deliveries (space_id, webhook_id, number, kind, at, attempts, status, error, delivered_at)
VALUES (:space, :webhook, :number, :kind, :now, 1, :status, :error, :delivered_at)
ON CONFLICT (space_id, webhook_id, number) DO UPDATE SET
    at = excluded.at, attempts = deliveries.attempts + 1, status = excluded.status, error = excluded.error,
    delivered_at = COALESCE(deliveries.delivered_at, excluded.delivered_at);

-- name: list_deliveries
-- Deliveries of a webhook, last attempt first.
SELECT space_id, number, kind, at, attempts, status, error, delivered_at FROM deliveries
WHERE webhook_id = :webhook AND (CAST(:space AS text) IS NULL OR space_id = :space)
ORDER BY at DESC, space_id, number DESC LIMIT :limit;

-- name: prune_deliveries
-- Remove old delivery entries.
DELETE FROM deliveries WHERE at < :before;
