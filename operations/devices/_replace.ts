/** Devices that take the place of one whose keys are lost, once a person has approved. */
import { bindAction, openApproval } from "../../calls/approvals/mod.ts";
import type { Platform } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { REPLACE_DEVICE } from "../../contract/domain/mod.ts";
import { groundsOf } from "../../contract/records/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import { getApprovers, getDevice, type NewDevice } from "../../store/devices/mod.ts";

/** @throws {Problem} `NotFound`, `Conflict`: the device can't be replaced by this one */
export async function checkReplaced(db: Db, id: string, replaces: string): Promise<void> {
  if (id === replaces) throw new Problem("Conflict", `${id} can't replace itself`);
  if (await getDevice(db, replaces)) return;
  throw new Problem("NotFound", `There is no device ${replaces} that could be replaced`);
}

/** Asks people whether a device takes the place of another one. Safe to repeat: it is asked once. */
export async function askToReplace(
  parts: Pick<Platform, "store" | "temporal" | "config">,
  { id, name }: Pick<NewDevice, "id" | "name">,
  replaces: string,
): Promise<void> {
  const { store, config: { settings } } = parts;
  const approvalId = `APR-${id.slice("DEV-".length)}`;
  if (await getApproval(store.db, approvalId)) return;
  const action = { kind: REPLACE_DEVICE, device_id: id, replaces };
  const old = await getDevice(store.db, replaces);
  const { approvers } = await getApprovers(store.db) ?? {};
  await openApproval(parts, {
    id: approvalId,
    subject: id,
    ticketId: null,
    description:
      `Let the new device ${name} (${id}) take the place of ${
        old!.name
      } (${replaces}), whose keys are said to be ` +
      "lost. That one is quarantined, and gets no more commands",
    ...bindAction(action, canonicalize(action)),
    grounds: groundsOf({
      reasons: [
        "Whoever can install devices of the organization can ask for this: ask the one who did",
      ],
    }),
    requestedBy: id,
    requestedByKey: null,
    // Whose place it takes, its commands will be: as many people decide as about these.
    needed: Math.max(settings.SEALOOP_APPROVERS, approvers?.signatures_required ?? 0),
    expiresInSeconds: settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
    escalateAfterSeconds: settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
    askingRun: null,
  });
}
