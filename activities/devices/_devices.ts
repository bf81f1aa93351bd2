import { createHash } from "node:crypto";
import { buildBatch } from "../../operations/devices/protocol/mod.ts";
import { ReceiptConflict, requestSeal } from "../../ledger/mod.ts";
import { addHeartbeatBatch, listSeenDevices } from "../../store/devices/mod.ts";
import type { ActivityParts } from "../parts.ts";

const PERIOD_MS = 600_000;

/** Creates the activities about devices. */
export function deviceActivities({ store }: ActivityParts) {
  /**
   * Seals that devices of all tenants were heard from, once for each ten minutes that have passed. Safe to repeat: a
   * period has one receipt.
   *
   * @param now for tests
   * @returns its id; null: no device was heard from, or it was sealed before
   */
  async function sealHeartbeats(now: string = new Date().toISOString()): Promise<string | null> {
    const end = Math.floor(Date.parse(now) / PERIOD_MS) * PERIOD_MS;
    const from = new Date(end - PERIOD_MS).toISOString();
    const id = createHash("sha256").update(`heartbeats ${from}`).digest("hex").slice(0, 16);
    const db = store.asPlatform();
    if (await db.first("SELECT FROM seal_requests WHERE id = $1", [id])) return null;
    const { seen, until } = await listSeenDevices(db, new Date(from));
    if (seen.length === 0) return null;
    const { root, parts } = buildBatch(seen);
    try {
      await db.transaction(async (trx) => {
        await requestSeal(trx, {
          id,
          category: "device_heartbeats",
          actor: "platform",
          subject: "devices",
          action: "seal_heartbeats",
          outcome: "ok",
          details: { from, to: until.toISOString(), root: Buffer.from(root).toString("hex") },
        });
        for (const [tenant, part] of parts) {
          await addHeartbeatBatch(trx, tenant, { ...part, receiptId: id, endedAt: until });
        }
      });
    } catch (error) {
      if (error instanceof ReceiptConflict) return null; // another attempt was quicker
      throw error;
    }
    return id;
  }

  return { sealHeartbeats };
}
