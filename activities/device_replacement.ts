import { sha256 } from "../calls/approvals/mod.ts";
import { REPLACE_DEVICE } from "../domain/mod.ts";
import { canonicalize, randomHex, requestSeal } from "../ledger/mod.ts";
import { type ApprovalRecord, getApproval } from "../store/approvals/mod.ts";
import { getApprovers, quarantineDevice, setReplaced } from "../store/devices/mod.ts";
import type { TenantParts } from "./parts.ts";

/** Returns true where people were shown what they have approved. */
const isShown = ({ action, actionSha256 }: ApprovalRecord): boolean =>
  sha256(canonicalize(action)) === actionSha256;

/** Creates the activity that lets a new device take the place of one whose keys are lost. */
export function deviceReplacementActivities(
  { store: { db }, config: { settings } }: Pick<TenantParts, "store" | "config">,
) {
  /** Does what people have approved: the database says what. Safe to repeat. */
  async function replaceDevice(
    { approval_id }: { readonly approval_id: string },
  ): Promise<void> {
    await db.transaction(async (trx) => {
      const approval = await getApproval(trx, approval_id);
      const { kind, device_id, replaces } = approval?.action as Record<string, string>;
      if (approval?.status !== "approved" || kind !== REPLACE_DEVICE) return;
      // As many people as decide about the commands that it will get, whatever the server that has asked them says.
      const { signatures_required = 0 } = (await getApprovers(trx))?.approvers ?? {};
      const needed = Math.max(settings.SEALOOP_APPROVERS, signatures_required);
      if (approval.approvers.length < needed || !isShown(approval)) return;
      if (!await setReplaced(trx, device_id!, replaces!)) return;
      await quarantineDevice(trx, replaces!, "replaced");
      await requestSeal(trx, {
        id: randomHex(16),
        category: "device_replaced",
        actor: "people",
        subject: device_id!,
        action: "devices.replace",
        outcome: "success",
        details: { device_id: device_id!, replaces: replaces!, approval_id },
      });
    });
  }

  return { replaceDevice };
}
