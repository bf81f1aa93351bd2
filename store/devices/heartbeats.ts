/** Heartbeats of devices. One is answered at a time, and its exact repetition gets the same answer, whoever answers it. */
import { randomBytes } from "node:crypto";
import type { Db } from "../connection.ts";

/** Notification channel of devices that have news: commands, or a decision of people. The payload is the device's id. */
export const DEVICE_NEWS = "device_news";

/** Wakes the heartbeat of a device that waits for news. */
export async function notifyDevice(db: Db, deviceId: string): Promise<void> {
  await db.query("SELECT pg_notify($1, $2)", [DEVICE_NEWS, deviceId]);
}

/** A heartbeat that was received. */
export interface Heartbeat {
  readonly deviceId: string;
  /** Rises with each heartbeat. */
  readonly counter: number;
  /** SHA-256 of the request. */
  readonly request: Buffer;
  /** Number of the lock of the process that answers it. */
  readonly holder: number;
  /** Size of the log that the device has accepted. */
  readonly logSize: number;
  /** The newest checkpoint that it has cosigned; undefined: no valid one came. */
  readonly cosigned?: { readonly note: string; readonly cosignature: string } | undefined;
  readonly journal: Journal;
}

/** End of a runner's journal. */
export interface Journal {
  readonly seq: number;
  readonly head: string;
}

/** State of a device once its heartbeat has begun. */
export interface BegunHeartbeat {
  /** Highest end of its journal, this heartbeat's included. */
  readonly journal: Journal;
  /** True: it was offline, and is online from this heartbeat on. */
  readonly isBack: boolean;
  /** Hash of the inventory that is stored; null: none is. */
  readonly inventorySha256: string | null;
  /** Version of the policies that devices are checked by; 0: those that ship. */
  readonly policyVersion: number;
}

const BEGIN = {
  name: "begin-heartbeat",
  text:
    `INSERT INTO device_states AS s (device_id, counter, requests, holder, last_seen_at, online_since, log_size,
      cosigned_note, cosignature, journal_seq, journal_head)
    VALUES ($1, $2, ARRAY[$3::bytea], $4, now(), now(), $5, $6, $7, $8, $9)
    ON CONFLICT (tenant_id, device_id) DO UPDATE SET
      counter = excluded.counter,
      requests = (s.requests || excluded.requests)[greatest(1, cardinality(s.requests) - 6):],
      answer = NULL,
      holder = excluded.holder,
      last_seen_at = excluded.last_seen_at,
      online_since = CASE WHEN s.online_since IS NULL AND s.returned = 0 THEN NULL
        ELSE coalesce(s.online_since, excluded.online_since) END,
      returned = CASE WHEN s.online_since IS NULL THEN s.returned + 1 ELSE 0 END,
      log_size = excluded.log_size,
      cosigned_note = coalesce(excluded.cosigned_note, s.cosigned_note),
      cosignature = coalesce(excluded.cosignature, s.cosignature),
      journal_seq = greatest(s.journal_seq, excluded.journal_seq),
      journal_head = CASE WHEN s.journal_seq >= excluded.journal_seq THEN s.journal_head ELSE excluded.journal_head END
    WHERE s.counter < excluded.counter
    RETURNING journal_seq, journal_head, inventory_sha256, returned,
      (SELECT max(version) FROM shield_policies) AS policy_version,
      set_config('synchronous_commit', 'off', true)`, // a heartbeat that a crash of the server forgets is sent again
};

/**
 * Begins to answer a heartbeat.
 *
 * @returns undefined where the counter was used before
 */
export async function beginHeartbeat(
  db: Db,
  { deviceId, counter, request, holder, logSize, cosigned, journal }: Heartbeat,
): Promise<BegunHeartbeat | undefined> {
  const row = await db.first(BEGIN, [
    deviceId,
    counter,
    request,
    holder,
    logSize,
    cosigned?.note ?? null,
    cosigned?.cosignature ?? null,
    journal.seq,
    journal.head,
  ]);
  return row && {
    journal: { seq: Number(row.journal_seq), head: row.journal_head },
    isBack: row.returned >= 2,
    inventorySha256: row.inventory_sha256,
    policyVersion: row.policy_version ?? 0,
  };
}

const END = {
  name: "end-heartbeat",
  text: `UPDATE device_states SET answer = $3 WHERE device_id = $1 AND counter = $2
    RETURNING set_config('synchronous_commit', 'off', true)`,
};

/** Stores the answer to a heartbeat, unless a later one has come meanwhile. */
export async function endHeartbeat(
  db: Db,
  deviceId: string,
  counter: number,
  answer: string,
): Promise<void> {
  await db.execute(END, [deviceId, counter, answer]);
}

/** The newest heartbeats of a device. */
export interface NewestHeartbeat extends BegunHeartbeat {
  readonly counter: number;
  /** SHA-256 of the newest requests, the newest last. */
  readonly requests: readonly Buffer[];
  /** The text that late heartbeats are answered with, and the newest counter when it was made; null: none came. */
  readonly challenge?: { readonly text: string; readonly counter: number } | null;
  /** Undefined: it is being answered. */
  readonly answer: string | undefined;
  readonly holder: number;
  readonly ageSeconds: number;
}

/** Returns the newest heartbeats of a device; undefined: there was none. */
export async function getNewestHeartbeat(
  db: Db,
  deviceId: string,
): Promise<NewestHeartbeat | undefined> {
  const row = await db.first(
    `SELECT counter, requests, answer, holder, challenge, challenge_counter, journal_seq, journal_head, inventory_sha256, returned,
       (SELECT max(version) FROM shield_policies) AS policy_version,
       extract(epoch FROM now() - last_seen_at)::float8 AS age
     FROM device_states WHERE device_id = $1`,
    [deviceId],
  );
  return row && {
    counter: Number(row.counter),
    requests: row.requests,
    challenge: row.challenge && { text: row.challenge, counter: Number(row.challenge_counter) },
    answer: row.answer ?? undefined,
    holder: row.holder,
    ageSeconds: row.age,
    journal: { seq: Number(row.journal_seq), head: row.journal_head },
    isBack: row.returned >= 2,
    inventorySha256: row.inventory_sha256,
    policyVersion: row.policy_version ?? 0,
  };
}

/**
 * Returns the text by which a device that still lives shows that it has heard of its late heartbeat. It changes only where
 * the counter of that one is too high for it, so that copies of old heartbeats can't replace it again and again.
 */
export async function challengeDevice(
  db: Db,
  deviceId: string,
  counter: number,
): Promise<string> {
  const row = await db.first(
    `UPDATE device_states SET
       challenge = CASE WHEN challenge_counter >= $2 THEN challenge ELSE $3 END,
       challenge_counter = CASE WHEN challenge_counter >= $2 THEN challenge_counter ELSE counter END
     WHERE device_id = $1 RETURNING challenge`,
    [deviceId, counter, randomBytes(32).toString("hex")],
  );
  return row!.challenge;
}

/** Takes over a heartbeat that another process does not answer any more. @returns false where somebody else has */
export async function takeOverHeartbeat(
  db: Db,
  deviceId: string,
  { counter, holder }: Pick<NewestHeartbeat, "counter" | "holder">,
  newHolder: number,
): Promise<boolean> {
  const taken = await db.execute(
    `UPDATE device_states SET holder = $4, last_seen_at = now()
     WHERE device_id = $1 AND counter = $2 AND holder = $3 AND answer IS NULL`,
    [deviceId, counter, holder, newHolder],
  );
  return taken === 1;
}

/** Forgets counter and journal of a device that a person releases, whose next heartbeat says them anew. */
export async function resetHeartbeats(trx: Db, deviceId: string): Promise<void> {
  await trx.execute(
    `UPDATE device_states SET counter = 0, journal_seq = NULL, journal_head = NULL, challenge = NULL,
       challenge_counter = NULL
     WHERE device_id = $1`,
    [deviceId],
  );
}

/** Stores how a device's firewall was observed. */
export async function setFirewall(trx: Db, deviceId: string, firewall: unknown): Promise<void> {
  await trx.execute("UPDATE device_states SET firewall = $2 WHERE device_id = $1", [
    deviceId,
    JSON.stringify(firewall),
  ]);
}

/** A head of the log that a device has accepted, and that contradicts the published one. */
export interface SplitView {
  readonly deviceId: string;
  readonly size: number;
  readonly root: Buffer;
  /** With the log's signature. */
  readonly note: string;
  readonly cosignature: string;
  readonly receiptId: string;
}

/** Keeps a head that contradicts the log. @returns false where it is known */
export async function addSplitView(trx: Db, view: SplitView): Promise<boolean> {
  const { deviceId, size, root, note, cosignature, receiptId } = view;
  const added = await trx.execute(
    `INSERT INTO split_views (device_id, size, root, note, cosignature, receipt_id)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
    [deviceId, size, root, note, cosignature, receiptId],
  );
  return added === 1;
}
