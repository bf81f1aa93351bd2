import { receiptIdOf } from "../../calls/mod.ts";
import type { CommandEnd, RunId } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { type DeviceCommandRecord, endDeviceCommand } from "../../store/devices/mod.ts";

/** Ends a command of whose device nothing more is awaited, and requests the receipt. Must run in a transaction. */
export async function endByPlatform(
  trx: Db,
  { id, deviceId, issuedReceipt }: DeviceCommandRecord,
  { status, code }: { readonly status: CommandEnd; readonly code: string },
  run: RunId,
): Promise<void> {
  const receiptId = receiptIdOf(run, `ENDED ${status}`);
  await endDeviceCommand(trx, id, { status, code, by: "platform", receiptId });
  await requestSeal(trx, {
    id: receiptId,
    category: "device_command",
    actor: "devices",
    subject: deviceId,
    action: "ended",
    outcome: status,
    details: {
      command_id: id,
      code,
      ...(issuedReceipt ? { issued_receipt: issuedReceipt } : {}),
      ...run,
    },
  });
}
