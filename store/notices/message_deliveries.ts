import { asksPeople, type Channel } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";
import { listMessagesAfter, type Message } from "./messages.ts";

/** State of a delivery. `unknown`: it may have arrived; `skipped`: it was not needed. */
type MessageDeliveryState =
  | "queued"
  | "delivered"
  | "not_delivered"
  | "unknown"
  | "skipped";

/** A delivery to make. */
export interface PlannedMessageDelivery {
  readonly rule: string;
  /** The deliveries of an order are tried one after the other, until one has arrived. */
  readonly order: number;
  readonly channel: string;
  readonly kind: Channel;
  readonly notBefore: Date | null;
  readonly escalatesAfterMinutes: number | null;
}

/** A delivery of a message over one channel. */
export interface MessageDelivery {
  /** From 1. */
  readonly number: number;
  /** Null: a person has named the channel. */
  readonly rule: string | null;
  readonly order: number;
  /** Name of the channel. */
  readonly channel: string;
  readonly kind: Channel;
  /** Seconds until it may be made; 0: at once. Not 0 where it had to wait, as somebody may have acted meanwhile. */
  readonly waitSeconds: number;
  /** Null: it is no escalation. */
  readonly escalatesAfterSeconds: number | null;
  readonly state: MessageDeliveryState;
  readonly attempts: number;
  readonly code: string | null;
  readonly endedAt: string | null;
}

const COLUMNS = `number, rule, ordering, channel, kind, state, attempts, code, ended_at,
  CASE WHEN not_before IS NOT NULL THEN greatest(1, extract(epoch FROM not_before - now()))::float8 END AS wait_seconds,
  extract(epoch FROM escalates_after)::float8 AS escalates_after_seconds`;
const ROUTING_PAGE = 100;

/** Adds the delivery over a channel that a person has named, in the transaction that adds the message. */
export async function addDelivery(
  trx: Db,
  messageId: string,
  { channel, kind }: { readonly channel: string; readonly kind: Channel },
): Promise<void> {
  await trx.execute(
    `INSERT INTO message_deliveries (message_id, number, ordering, channel, kind)
     VALUES ($1, 1, 1, $2, $3)`,
    [messageId, channel, kind],
  );
}

/** Adds the deliveries that the rules want of a message. */
export async function addPlannedDeliveries(
  trx: Db,
  messageId: string,
  deliveries: readonly PlannedMessageDelivery[],
): Promise<void> {
  for (const [index, one] of deliveries.entries()) {
    await trx.execute(
      `INSERT INTO message_deliveries (message_id, number, rule, ordering, channel, kind, not_before, escalates_after)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8::float8 * interval '1 minute')`,
      [
        messageId,
        index + 1,
        one.rule,
        one.order,
        one.channel,
        one.kind,
        one.notBefore,
        one.escalatesAfterMinutes,
      ],
    );
  }
}

/**
 * Decides who is told of the messages about which that is not decided yet, once each.
 *
 * @param plan returns the deliveries of a message
 * @returns true if there may be more
 */
export async function routeMessages(
  db: Db,
  plan: (message: Message) => readonly PlannedMessageDelivery[],
): Promise<boolean> {
  return await db.transaction(async (trx) => {
    const row = await trx.first<{ position: string }>( // locks it, so that two workers don't decide twice
      `INSERT INTO message_routing AS r (position) VALUES (0)
       ON CONFLICT (tenant_id) DO UPDATE SET position = r.position RETURNING position`,
    );
    const messages = await listMessagesAfter(trx, Number(row!.position), ROUTING_PAGE);
    for (const message of messages) {
      if (await isAcknowledged(trx, message)) continue;
      await addPlannedDeliveries(trx, message.id, plan(message));
    }
    const last = messages.at(-1);
    if (last) await trx.execute("UPDATE message_routing SET position = $1", [last.position]);
    return messages.length === ROUTING_PAGE;
  });
}

/** Returns whether a message asks people to look at an incident that one of them has acknowledged already. */
async function isAcknowledged(
  trx: Db,
  { kind, refs }: Pick<Message, "kind" | "refs">,
): Promise<boolean> {
  if (!asksPeople(kind) || !kind.startsWith("incident.")) return false;
  const row = await trx.first(
    "SELECT FROM tickets WHERE id = $1 AND status = 'open' AND acknowledged_by IS NOT NULL",
    [refs.ticket_id],
  );
  return row !== undefined;
}

/** Returns ids of messages with deliveries whose workflow has not begun. */
export async function listUnstartedNotices(db: Db, limit: number): Promise<string[]> {
  const rows = await db.query(
    "SELECT DISTINCT message_id AS id FROM message_deliveries WHERE started_at IS NULL LIMIT $1",
    [limit],
  );
  return rows.map(({ id }) => id);
}

/** Records that the workflow of a message's deliveries has begun. */
export async function markNoticeStarted(db: Db, messageId: string): Promise<void> {
  await db.execute(
    "UPDATE message_deliveries SET started_at = now() WHERE message_id = $1 AND started_at IS NULL",
    [messageId],
  );
}

/** Returns the deliveries of a message, by their number. */
export async function listDeliveriesOf(db: Db, messageId: string): Promise<MessageDelivery[]> {
  const rows = await db.query(
    `SELECT ${COLUMNS} FROM message_deliveries WHERE message_id = $1 ORDER BY number`,
    [messageId],
  );
  return rows.map(toDelivery);
}

/** Returns a delivery, or undefined. */
export async function getDelivery(
  db: Db,
  messageId: string,
  number: number,
): Promise<MessageDelivery | undefined> {
  const row = await db.first(
    `SELECT ${COLUMNS} FROM message_deliveries WHERE message_id = $1 AND number = $2`,
    [messageId, number],
  );
  return row && toDelivery(row);
}

/** Records how an attempt went. Where an earlier one may have arrived, the end is `unknown` at worst. */
export async function recordDelivery(
  db: Db,
  messageId: string,
  number: number,
  { state, code, attempt, isLast }: {
    readonly state: "delivered" | "not_delivered" | "unknown";
    readonly code: string;
    /** From 1. */
    readonly attempt: number;
    /** False: another one follows. */
    readonly isLast: boolean;
  },
): Promise<void> {
  await db.execute(
    `UPDATE message_deliveries SET attempts = greatest(attempts, $5), code = $4, ended_at = now(),
       may_have_arrived = may_have_arrived OR $3::text = 'unknown',
       state = CASE WHEN $3 = 'delivered' THEN $3 WHEN NOT $6 THEN 'queued'
         WHEN may_have_arrived THEN 'unknown' ELSE $3 END
     WHERE message_id = $1 AND number = $2 AND state <> 'delivered'`,
    [messageId, number, state, code, attempt, isLast],
  );
}

/** Marks deliveries that were not needed. */
export async function skipDeliveries(db: Db, messageId: string): Promise<void> {
  await db.execute(
    `UPDATE message_deliveries SET state = 'skipped', ended_at = now()
     WHERE message_id = $1 AND state = 'queued'`,
    [messageId],
  );
}

/** Returns true while nobody has acted on what a message asks people to do. */
export async function needsPeople(
  db: Db,
  { kind, refs }: Pick<Message, "kind" | "refs">,
): Promise<boolean> {
  const about = asksPeople(kind) ? SUBJECTS[kind.slice(0, kind.indexOf("."))] : undefined;
  if (!about) return true;
  const row = await db.first<{ open: boolean }>(about.sql, [refs[about.ref]]);
  return row?.open ?? true;
}

/** Looks whether somebody has acted on what messages ask for, by the first word of their kind. */
const SUBJECTS: Readonly<Record<string, { readonly ref: `${string}_id`; readonly sql: string }>> = {
  approval: {
    ref: "approval_id",
    sql: "SELECT status = 'pending' AND approvers = '[]' AS open FROM approvals WHERE id = $1",
  },
  incident: {
    ref: "ticket_id",
    sql: "SELECT status = 'open' AND acknowledged_by IS NULL AS open FROM tickets WHERE id = $1",
  },
  task: {
    ref: "task_id",
    sql: "SELECT status <> 'done' AND deleted_at IS NULL AS open FROM board_tasks WHERE id = $1",
  },
};

function toDelivery(row: Row): MessageDelivery {
  return {
    number: row.number,
    rule: row.rule,
    order: row.ordering,
    channel: row.channel,
    kind: row.kind,
    waitSeconds: row.wait_seconds ?? 0,
    escalatesAfterSeconds: row.escalates_after_seconds,
    state: row.state,
    attempts: row.attempts,
    code: row.code,
    endedAt: row.ended_at?.toISOString() ?? null,
  };
}
