import { receiptIdOf } from "../../calls/mod.ts";
import { type Finding, LOOP_ACTOR, type RunId } from "../../contract/domain/mod.ts";
import type { SealRequest } from "../../ledger/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** Longest that one attempt waits for the sequencer; Temporal retries for ever. */
export const SEAL_TIMEOUT_MS = 30_000;

/** Creates the activity that seals a run without a ticket. */
export function sealActivities({ sealer, store }: ActivityParts) {
  /**
   * Seals that a requested run found nothing. Safe to repeat: the run names the receipt.
   *
   * @returns receipt id
   */
  async function sealClear(
    { finding, run }: { readonly finding: Finding; readonly run: RunId },
  ): Promise<string> {
    const request: SealRequest & { id: string } = {
      id: receiptIdOf(run, "CLEAR"),
      category: "platform_health_check",
      actor: LOOP_ACTOR,
      subject: finding.fingerprint || "all-services",
      action: "probe",
      outcome: "clear",
      tenant: store.tenant,
      details: { requested_by: finding.requested_by ?? "schedule", ...run },
      evidence: { finding },
    };
    await sealer.request(request);
    await sealer.sealed(request.id, { timeoutMs: SEAL_TIMEOUT_MS });
    return request.id;
  }

  return { sealClear };
}
