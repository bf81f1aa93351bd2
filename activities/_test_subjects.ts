import { createHash } from "node:crypto";
import { stopManagedProcess } from "../integrations/host/mod.ts";
import {
  addTicketEvent,
  deleteLogPlaces,
  listCancelledTickets,
  removeService,
  resolveTicket,
} from "../store/mod.ts";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { requestSeal } from "../ledger/mod.ts";
import { LOOP_ACTOR } from "../domain/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** Services that only exist for a test, each with a process and a folder of its own, by their names. */
export function testSubjects({ store, config }: Pick<ActivityParts, "store" | "config">) {
  const folderOf = (name: string) => join(config.dataDir, "test-services", name);

  /** Ends the service, and leaves nothing of it behind. */
  async function remove(name: string): Promise<void> {
    await stopManagedProcess(config.dataDir, name);
    await removeService(store.asPlatform(), name);
    await deleteLogPlaces(store.asPlatform(), folderOf(name));
    for (const id of await listCancelledTickets(store.asPlatform(), name)) await closeCancelled(id);
    rmSync(folderOf(name), { recursive: true, force: true });
  }

  /** Closes the ticket of a drill that was cancelled: there is nothing left of it that people could do. */
  async function closeCancelled(id: string): Promise<void> {
    const resolution = "The drill was cancelled, and all of it is removed";
    const receiptId = createHash("sha256").update(`drill_cancelled\n${id}`).digest("hex").slice(
      0,
      16,
    );
    await store.asPlatform().transaction(async (trx) => {
      const end = { outcome: "resolved", resolution, receiptId };
      if (!await resolveTicket(trx, id, end)) return;
      await addTicketEvent(trx, id, {
        ...{ key: "resolved", kind: "resolved", phase: "sealed" as const },
        data: { receipt_id: receiptId },
      });
      await requestSeal(trx, {
        ...{ id: receiptId, category: "ticket_closed", actor: LOOP_ACTOR, subject: id },
        ...{ action: "drill.cancelled", outcome: "resolved", details: {} },
      });
    });
  }

  return { folderOf, remove };
}
