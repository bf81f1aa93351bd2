/** Notification channel on which it is told that there is something to deliver. */
export const WEBHOOKS_QUEUED = "sealoop_webhooks";

/**
 * The phase that a ticket has after an event: one that is sealed stays so until the fault is detected anew.
 *
 * @param from table of the event
 */
export const PHASE = (from: string): string =>
  `CASE WHEN ${from}.phase IS NOT NULL AND (tickets.phase <> 'sealed' OR ${from}.phase = 'detected')
     THEN ${from}.phase ELSE tickets.phase END`;

/** What an open ticket says after an event of what is the matter. @param from table of the event */
export const FOUND = (from: string, what: "category" | "severity"): string =>
  `CASE WHEN tickets.status = 'open' THEN coalesce(${from}.${what}, tickets.${what}) ELSE tickets.${what} END`;

/**
 * Common table expressions that queue what webhooks are to be told of the events in `added`, which were `wanted`, with the
 * ticket as each leaves it. Its description and resolution are left out: they are for those who may read the ticket.
 *
 * A ticket is told of when it is opened, not when the fault is detected that it will be about.
 *
 * @param from table that has the ticket
 */
export const queued = (from: string): string =>
  `told AS (
       SELECT tickets.*, added.kind, added.at, ${PHASE("added")} AS now_phase,
         ${FOUND("wanted", "category")} AS now_category, ${
    FOUND("wanted", "severity")
  } AS now_severity,
         CASE added.kind WHEN 'opened' THEN 'ticket.opened' WHEN 'resolved' THEN 'ticket.resolved'
           ELSE 'ticket.updated' END AS type
       FROM added JOIN wanted USING (key) JOIN ${from} AS tickets ON tickets.id = added.ticket_id
       WHERE added.kind <> 'detected'
     ), queued AS (
       INSERT INTO webhook_deliveries (id, webhook_id, ticket_id, type, body)
       SELECT 'msg_' || replace(gen_random_uuid()::text, '-', ''), webhooks.id, told.id, told.type,
         json_build_object(
           'type', told.type,
           'timestamp', to_char(told.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
           'data', json_build_object(
             'ticket_id', told.id, 'event', told.kind, 'title', told.title, 'status', told.status,
             'phase', told.now_phase, 'severity', told.now_severity, 'category', told.now_category,
             'escalated', told.escalated, 'service', told.service, 'outcome', told.outcome,
             'receipt_id', told.receipt_id, 'workflow_id', told.workflow_id,
             'opened_at', told.opened_at, 'resolved_at', told.resolved_at))::text
       FROM told JOIN webhooks ON disabled_at IS NULL AND told.type = ANY (webhooks.events)
       RETURNING id
     )`;
