import { forTenant, getRunStatus, receiptIdOf } from "../../calls/mod.ts";
import type { MediaOrder } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import type { ActivityParts, TenantParts } from "../parts.ts";
import { failMedia, listOpenMedia } from "../../store/media/mod.ts";

/** A request that was not made, and why. */
interface FailedMedia {
  readonly order: MediaOrder;
  readonly code: string;
  readonly failure: string;
}

/** Creates the activity that ends what could not be made. */
export function endedMediaActivities({ store }: TenantParts) {
  /**
   * Notes that something was not made, and requests the receipt. Safe to repeat: what has ended already stays as it is.
   */
  async function failMediaRequest(failed: FailedMedia): Promise<void> {
    await endFailed(store, failed);
  }

  return { failMediaRequest };
}

/**
 * Ends requests for media of all tenants whose workflow was ended from outside or never began, and seals that. Safe to
 * repeat: a request ends once.
 *
 * @returns how many
 */
export async function settleEndedMedia(parts: ActivityParts): Promise<number> {
  let settled = 0;
  for (const tenant of await listTenants(parts.store.db)) {
    const { store } = forTenant(parts, tenant);
    for (const { id, kind, requestedBy, isOld } of await listOpenMedia(store.db)) {
      const workflow_id = `${kind}-${id}`;
      const { status, runId = "gone" } = await getRunStatus(parts.temporal, workflow_id);
      if (status === "RUNNING" || status === "NOT_FOUND" && !isOld) continue;
      const order = { id, requested_by: requestedBy, run: { workflow_id, run_id: runId } };
      const failure = "Its run was ended from outside, or never began";
      if (await endFailed(store, { order, code: "Cancelled", failure })) settled++;
    }
  }
  return settled;
}

/** @returns false: it has ended already */
async function endFailed(
  { db }: Pick<Store, "db">,
  { order: { id, requested_by, run }, code, failure }: FailedMedia,
): Promise<boolean> {
  return await db.transaction(async (trx) => {
    if (!await failMedia(trx, id, failure)) return false;
    await requestSeal(trx, {
      id: receiptIdOf(run, "MEDIA"),
      category: "media_made",
      actor: requested_by,
      subject: id,
      action: "media.make",
      outcome: "failed",
      details: { id, code, ...run },
      evidence: { failure },
    });
    return true;
  });
}
