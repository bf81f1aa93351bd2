import type { ClientBase } from "pg";

/** A request in the outbox. */
export interface OutboxEntry {
  /** Number of its row; rows may become visible in another order than that of their numbers. */
  readonly seq: string;
  readonly id: string;
  /** Canonical JSON of all that the receipt is to say. */
  readonly payload: string;
}

/** A read that gives fewer has given all that waits. */
export const MOST_IN_A_BATCH = 256;
const FROM_THE_START_MS = 500;

/**
 * Gives a function that reads what waits, oldest first, but for what it is told is being sealed already.
 *
 * What was sealed leaves dead rows at the front until the database clears them away, and reading over them costs more
 * than all else when there is little to do. So a read starts after what had been read a while ago; whoever committed
 * later than that is found by the next read from the very start.
 */
export function openOutbox(
  client: ClientBase,
): (inFlight: readonly string[]) => Promise<OutboxEntry[]> {
  let lastWhole = -Infinity;
  let readNow = 0;
  let readBefore = 0;
  let from = 0;
  return async (inFlight) => {
    const whole = performance.now() - lastWhole >= FROM_THE_START_MS;
    if (whole) {
      lastWhole = performance.now();
      [from, readBefore] = [readBefore, readNow];
    }
    const { rows } = await client.query<OutboxEntry>({
      name: "outbox_read",
      text: `SELECT seq, id, payload FROM seal_outbox
             WHERE seq > $1 AND seq NOT IN (SELECT unnest($2::bigint[]))
             ORDER BY seq LIMIT ${MOST_IN_A_BATCH}`,
      values: [whole ? 0 : from, inFlight],
    });
    readNow = Math.max(readNow, Number(rows.at(-1)?.seq ?? 0));
    return rows;
  };
}
