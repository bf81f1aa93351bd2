import { computeBatchRoot } from "../../operations/devices/protocol/mod.ts";
import { getReceipt } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { findHeartbeatBatch } from "../../store/devices/mod.ts";

/**
 * Prints which receipt proves that a device was heard from, having opened it.
 *
 * @param store of the device's tenant
 * @throws {Error} there is none, or it is sealed over something else
 */
export async function printSeen(store: Store, deviceId: string): Promise<void> {
  const batch = await findHeartbeatBatch(store.db, deviceId);
  const receipt = batch && await getReceipt(store, batch.receiptId);
  if (!receipt) {
    throw new Error(
      `No receipt says yet that ${deviceId} was heard from; there is one every ten minutes`,
    );
  }
  const { details } = JSON.parse(receipt.text) as { readonly details: { readonly root: string } };
  const root = computeBatchRoot(batch);
  if (!root || Buffer.from(root).toString("hex") !== details.root) {
    throw new Error(
      `Receipt ${batch.receiptId} does not seal the stored heartbeats: they were changed`,
    );
  }
  const heartbeats = JSON.parse(batch.heartbeats) as readonly {
    readonly device_id: string;
    readonly counter: number;
    readonly seen_at: string;
  }[];
  const { counter, seen_at } = heartbeats.find((one) => one.device_id === deviceId)!;
  console.log(`Heartbeat ${counter} of ${deviceId} was received at ${seen_at}`);
  console.log(
    `Receipt ${batch.receiptId} at position ${receipt.position} seals it: the proof holds`,
  );
}
