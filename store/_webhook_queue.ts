/** Notification channel on which it is told that there is something to deliver. */
export const WEBHOOKS_QUEUED = "sealoop_webhooks";

/**
 * Common table expression that queues what webhooks are to be told of the event in `added`, with the ticket as the event
 * leaves it. Its description and resolution are left out: they are for those who may read the ticket.
 *
 * A ticket is told of when it is opened, not when the fault is detected that it will be about.
 */
export const QUEUED = `told AS (
       SELECT tickets.*, added.kind, added.at,
         CASE added.kind WHEN 'opened' THEN 'ticket.opened' WHEN 'resolved' THEN 'ticket.resolved'
           ELSE 'ticket.updated' END AS type,
         CASE WHEN added.phase IS NOT NULL AND (tickets.phase <> 'sealed' OR added.phase = 'detected')
           THEN added.phase ELSE tickets.phase END AS now_phase
       FROM added JOIN tickets ON tickets.id = added.ticket_id WHERE added.kind <> 'detected'
     ), queued AS (
       INSERT INTO webhook_deliveries (id, webhook_id, ticket_id, type, body)
       SELECT 'msg_' || replace(gen_random_uuid()::text, '-', ''), webhooks.id, told.id, told.type,
         json_build_object(
           'type', told.type,
           'timestamp', to_char(told.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
           'data', json_build_object(
             'ticket_id', told.id, 'event', told.kind, 'title', told.title, 'status', told.status,
             'phase', told.now_phase, 'severity', told.severity, 'category', told.category,
             'escalated', told.escalated, 'service', told.service, 'outcome', told.outcome,
             'receipt_id', told.receipt_id, 'workflow_id', told.workflow_id,
             'opened_at', told.opened_at, 'resolved_at', told.resolved_at))::text
       FROM told JOIN webhooks ON disabled_at IS NULL AND told.type = ANY (webhooks.events)
       RETURNING id
     )`;
