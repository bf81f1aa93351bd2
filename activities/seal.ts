import type { Finding, RunId } from "../domain/mod.ts";
import type { SealRequest } from "../ledger/mod.ts";
import { LOOP_ACTOR } from "../domain/mod.ts";
import { receiptIdOf } from "../calls/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** Longest that one attempt waits for the sequencer; it is tried again for ever. */
export const SEALED_WITHIN_MS = 30_000;

/** Sealing what is no part of another change. */
export function sealing({ sealer }: ActivityParts) {
  /** Seals what a caller asked for. Safe to repeat: the request names the receipt. */
  async function sealReceipt(request: SealRequest & { id: string }) {
    await sealer.request(request);
    return await sealer.sealed(request.id, { timeoutMs: SEALED_WITHIN_MS });
  }

  /** Seals that a run which somebody asked for found nothing. Safe to repeat: the run names the receipt. */
  async function sealClear({ finding, run }: { finding: Finding; run: RunId }): Promise<string> {
    const { id } = await sealReceipt({
      id: receiptIdOf(run, "CLEAR"),
      category: "platform_health_check",
      actor: LOOP_ACTOR,
      subject: finding.fingerprint || "all-services",
      action: "probe",
      outcome: "clear",
      details: { requested_by: finding.requested_by ?? "schedule", ...run },
      evidence: { finding },
    });
    return id;
  }

  return { sealReceipt, sealClear };
}
