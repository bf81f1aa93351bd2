import { DRILL_SERVICE_PATTERN } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** Drill that was healed. */
export interface HealedDrill {
  readonly ticket_id: string;
  readonly opened_at: Date;
  readonly resolved_at: Date;
}

/** Message that a channel has taken. */
export interface DeliveredMessage {
  readonly message_id: string;
  readonly channel: string;
  readonly ended_at: Date;
}

/** Returns the newest drill that the loop has healed; undefined: none yet. */
export async function getHealedDrill(db: Db): Promise<HealedDrill | undefined> {
  return await db.first<HealedDrill>(
    `SELECT id AS ticket_id, opened_at, resolved_at FROM tickets
     WHERE status = 'resolved' AND outcome = 'sealed' AND service ~ $1 ORDER BY resolved_at DESC LIMIT 1`,
    [DRILL_SERVICE_PATTERN],
  );
}

/** Returns the newest message that a channel has taken; undefined: none yet. */
export async function getDeliveredMessage(db: Db): Promise<DeliveredMessage | undefined> {
  return await db.first<DeliveredMessage>(
    `SELECT message_id, channel, ended_at FROM message_deliveries
     WHERE state = 'delivered' AND ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT 1`,
  );
}
