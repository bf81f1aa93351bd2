import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { LOOP_ACTOR } from "../../contract/domain/mod.ts";
import { pathBelow } from "../../integrations/files/mod.ts";
import { stopManagedProcess } from "../../integrations/host/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  addTicketEvent,
  deleteLogPlaces,
  listCancelledTickets,
  resolveTicket,
} from "../../store/incidents/mod.ts";
import { removeService } from "../../store/cmdb/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** Returns what manages the services of drills, each of which has a process and a folder of its own. */
export function createDrillServices({ store, config }: Pick<ActivityParts, "store" | "config">) {
  const db = store.db;

  /** Returns the folder of a service. */
  function folderOf(name: string): string {
    return pathBelow(join(config.dataDir, "test-services"), name);
  }

  /** Stops a service and removes everything of it. Safe to repeat. */
  async function remove(name: string): Promise<void> {
    const folder = folderOf(name); // nothing is done where it has none
    await stopManagedProcess(config.dataDir, name);
    await removeService(db, name);
    await deleteLogPlaces(db, folder);
    for (const id of await listCancelledTickets(db, name)) await closeCancelledTicket(id);
    rmSync(folder, { recursive: true, force: true });
  }

  /** Closes the ticket of a cancelled drill: its service is gone, so people have nothing left to do. */
  async function closeCancelledTicket(id: string): Promise<void> {
    const hash = createHash("sha256").update(`drill_cancelled\n${id}`).digest("hex");
    const receiptId = hash.slice(0, 16);
    const resolution = "The drill was cancelled, and all of it is removed";
    await db.transaction(async (trx) => {
      const end = { outcome: "resolved", resolution, receiptId };
      if (!await resolveTicket(trx, id, end)) return;
      await addTicketEvent(trx, id, {
        key: "resolved",
        kind: "resolved",
        phase: "sealed",
        data: { receipt_id: receiptId },
      });
      await requestSeal(trx, {
        id: receiptId,
        category: "ticket_closed",
        actor: LOOP_ACTOR,
        subject: id,
        action: "drill.cancelled",
        outcome: "resolved",
        details: {},
      });
    });
  }

  return { folderOf, remove };
}

/** Returns the id of the effect that starts the process of a drill. */
export function startEffectId(...names: readonly string[]): string {
  return createHash("sha256").update(names.join("\n")).digest("hex").slice(0, 24);
}

/** Returns the address of a service's HTTP health check. */
export function healthUrl({ check }: { readonly check: unknown }): string {
  return (check as { readonly http: string }).http;
}
