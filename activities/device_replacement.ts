import { REPLACE_DEVICE } from "../domain/mod.ts";
import { randomHex, requestSeal } from "../ledger/mod.ts";
import { getApproval } from "../store/approvals/mod.ts";
import { quarantineDevice, setReplaced } from "../store/devices/mod.ts";
import type { TenantParts } from "./parts.ts";

/** Creates the activity that lets a new device take the place of one whose keys are lost. */
export function deviceReplacementActivities({ store: { db } }: Pick<TenantParts, "store">) {
  /** Does what people have approved: the database says what. Safe to repeat. */
  async function replaceDevice(
    { approval_id }: { readonly approval_id: string },
  ): Promise<void> {
    await db.transaction(async (trx) => {
      const approval = await getApproval(trx, approval_id);
      const { kind, device_id, replaces } = approval?.action as Record<string, string>;
      if (approval?.status !== "approved" || kind !== REPLACE_DEVICE) return;
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
