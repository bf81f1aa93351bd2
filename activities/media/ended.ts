import { receiptIdOf } from "../../calls/mod.ts";
import type { MediaOrder } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import type { ActKind } from "../acts/mod.ts";
import type { TenantParts } from "../parts.ts";
import { failMedia } from "../../store/media/mod.ts";

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

/** Returns how requests for media that were not made are ended, by the word that their workflow's id begins with. */
export function mediaKind(kind: "video" | "speech" | "transcription"): ActKind {
  return {
    workflowId: (id) => `${kind}-${id}`,
    async end({ store }, { id, act: requested_by }, run) {
      const order = { id, requested_by, run };
      const failure = "Its run was ended from outside, or never began";
      return await endFailed(store, { order, code: "Cancelled", failure });
    },
  };
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
      details: { id, code, state: "unknown", ...run }, // no place says what it has done
      evidence: { failure },
    });
    return true;
  });
}
