/** The one way in which a device is given a command: it is stored, people approve it, and a workflow issues it. */
import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../../contract/mod.ts";
import {
  type CommandStatus,
  commandWorkflowId,
  TASK_QUEUE,
  WORKFLOW,
} from "../../../contract/domain/mod.ts";
import type { ApprovalGrounds } from "../../../contract/records/mod.ts";
import { type Db, inTenant } from "../../../store/mod.ts";
import { getApproval } from "../../../store/approvals/mod.ts";
import {
  type DeviceCommandRecord,
  type DeviceRecord,
  dropDeviceCommand,
  getDevice,
  getDeviceCommand,
  getTime,
  putDeviceCommand,
} from "../../../store/devices/mod.ts";
import { signaturesOf } from "./permission.ts";
import { type CommandRequest, resolveCommand } from "./resolve.ts";
import { type Platform, unknownRecord } from "../../../calls/mod.ts";
import { startOnce } from "../../../calls/recover/mod.ts";
import { noteCallEffects } from "../../../store/calls/mod.ts";

const EXPIRES_IN_SECONDS = 86_400;
const MAX_APPROVAL_WAIT_MS = 3_000;
const POLL_MS = 25;

/** A command that somebody wants a device to run. */
export interface CommandOrder extends CommandRequest {
  /** `CMD-` and 12 hex characters. The same id again is the same command. */
  readonly id: string;
  readonly deviceId: string;
  /** Default: a day. */
  readonly expires_in_seconds?: number | undefined;
  /** People who must approve, besides the approvers whose signatures the tenant's devices ask for. */
  readonly needed: number;
  /** Why they are asked. */
  readonly grounds: ApprovalGrounds;
  /** Principal, or the part of the platform that orders it, and its key. */
  readonly askedBy: string;
  readonly askedByKey: string | null;
  /** Approval that they have denied, and offer this instead of. */
  readonly insteadOf?: string;
  /** The call that orders it, which is found by the command if it is lost: its decision, and its caller's tenant. */
  readonly call?: { readonly decisionId: string | undefined; readonly tenant: string };
}

/** A command as its caller is told of it. */
export interface OrderedCommand {
  readonly command_id: string;
  readonly status: CommandStatus;
  readonly workflow_id: string;
  readonly run_id: string;
  readonly approval_id?: string;
  /** Receipt that issues it. */
  readonly receipt_id?: string;
}

/** The parts that ordering needs. */
export type CommandParts = Pick<Platform, "store" | "temporal">;

/**
 * Returns a device that may be given commands.
 *
 * @throws {Problem} `NotFound`; `Conflict`: it is quarantined
 */
export async function requireActiveDevice(
  { store }: Pick<Platform, "store">,
  id: string,
): Promise<DeviceRecord> {
  const device = await getDevice(store.db, id);
  if (!device) throw await unknownRecord(store.db, "device", id);
  if (device.status === "active") return device;
  throw new Problem(
    "Conflict",
    `${id} is quarantined (${device.quarantine}) and is given no commands until a person has decided: ` +
      `npm run devices -- release ${id}`,
  );
}

/**
 * Stores a command and starts its workflow, which asks people where needed, and issues it. The same order again gives the
 * same command.
 *
 * @throws {Problem} as {@linkcode requireActiveDevice} and {@linkcode resolveCommand}; `Unavailable`: it can't be started
 *   now; then what this call stored is dropped
 */
export async function orderCommand(
  parts: CommandParts,
  order: CommandOrder,
): Promise<OrderedCommand> {
  const { db } = parts.store;
  let command = await getDeviceCommand(db, order.id);
  let isNew = false;
  if (!command) {
    isNew = await storeOrder(parts, order);
    command = (await getDeviceCommand(db, order.id))!;
  }
  try {
    const run_id = await startCommand(parts, command, order.call?.decisionId);
    if (command.status === "waiting_approval") await awaitApproval(db, command.approvalId!);
    return { ...describeCommand(command), run_id };
  } catch (error) {
    if (isNew) await dropDeviceCommand(db, command.id); // an earlier call's may have its workflow
    throw error;
  }
}

/** Waits a moment until people can decide, so that a caller who is told of an approval finds it. */
async function awaitApproval(db: Db, id: string): Promise<void> {
  for (const end = Date.now() + MAX_APPROVAL_WAIT_MS; Date.now() < end; await sleep(POLL_MS)) {
    if (((await getApproval(db, id))?.moves ?? 0) > 0) return;
  }
}

async function storeOrder(parts: CommandParts, order: CommandOrder): Promise<boolean> {
  const { db } = parts.store;
  const device = await requireActiveDevice(parts, order.deviceId);
  const command = await resolveCommand(db, order, device);
  const { signatures, approvers } = await signaturesOf(db, command);
  if (signatures > approvers) {
    throw new Problem(
      "Conflict",
      `Cannot run arguments that no script has: ${order.deviceId} wants ${signatures} approvers' signatures for them, and ` +
        `the tenant has ${approvers} approver; npm run tenants -- approvers names others`,
    );
  }
  const needed = Math.max(order.needed, signatures);
  const seconds = order.expires_in_seconds ?? EXPIRES_IN_SECONDS;
  const now = await getTime(db); // the clock by which it expires
  const fields = {
    ...command,
    id: order.id,
    deviceId: order.deviceId,
    expires_at: new Date(now.getTime() + seconds * 1_000).toISOString(),
    requestedBy: order.askedBy,
    requestedByKey: order.askedByKey,
    approvalId: needed > 0 ? order.id.replace(/^CMD/, "APR") : null,
    needed,
    grounds: order.grounds,
    request: requestOf(order),
    insteadOf: order.insteadOf ?? null,
  };
  return await db.transaction(async (trx) => {
    const isAdded = await putDeviceCommand(trx, fields);
    if (isAdded) await noteCommand(trx, order);
    return isAdded;
  });
}

async function noteCommand(trx: Db, { id, call }: CommandOrder): Promise<void> {
  if (!call) return;
  const output = describeCommand((await getDeviceCommand(trx, id))!);
  const ids = { workflow_id: output.workflow_id, command_id: id };
  await inTenant(
    trx,
    call.tenant,
    (own) => noteCallEffects(own, call.decisionId, ids, { ...output }),
  );
}

/** Returns the input of the operation that orders a command, without its device and its expiry. */
function requestOf(
  { script_id, parameters, command, reason, timeout_seconds }: CommandOrder,
): Record<string, unknown> {
  return JSON.parse(JSON.stringify({ script_id, parameters, command, reason, timeout_seconds }));
}

/** Returns what callers are told of a command, but for its run. */
function describeCommand(
  { id, status, approvalId, issuedReceipt }: DeviceCommandRecord,
): Omit<OrderedCommand, "run_id"> {
  return {
    command_id: id,
    status,
    workflow_id: commandWorkflowId(id),
    ...(approvalId ? { approval_id: approvalId } : {}),
    ...(issuedReceipt ? { receipt_id: issuedReceipt } : {}),
  };
}

/** Starts the workflow of a stored command, or joins it. @returns its run */
async function startCommand(
  { store, temporal }: CommandParts,
  { id, deviceId }: DeviceCommandRecord,
  decisionId: string | undefined,
): Promise<string> {
  return await startOnce({ store, temporal, decisionId }, WORKFLOW.deviceCommand, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: commandWorkflowId(id),
    args: [{ command_id: id }],
    staticSummary: `Runs ${id} on ${deviceId}`,
  });
}
