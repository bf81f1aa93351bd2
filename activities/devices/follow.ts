import { setTimeout as sleep } from "node:timers/promises";
import { cancellationSignal } from "@temporalio/activity";
import { Problem } from "../../contract/mod.ts";
import {
  type CommandEnd,
  type CommandResult,
  hasCommandEnded,
  say,
  type Text,
} from "../../contract/domain/mod.ts";
import { getPublishedCheckpoint, getReceipt } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type DeviceCommandRecord,
  getDeviceCommand,
  getTime,
  lockDeviceCommand,
  noteSealed,
} from "../../store/devices/mod.ts";
import { addMessage } from "../../store/notices/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { endByPlatform } from "./_end.ts";
import type { CommandOrder } from "./commands.ts";

/** State of a command, and when to look at it again. */
export interface CommandProgress {
  readonly status: string;
  /** Set once it has ended. */
  readonly result: CommandResult | null;
  /** Seconds; 0: at once. */
  readonly wait_seconds: number;
}

/** Seconds that a command which has begun may take beyond its timeout, until its end is in the ledger. */
const GRACE_SECONDS = 60;
/** Longest time that one attempt waits for the log. */
const MAX_LOG_WAIT_MS = 15_000;
const LOG_POLL_MS = 50;

/** Creates the activity that follows a command to its end. */
export function followCommandActivities(parts: ActivityParts) {
  const { store, sealer } = parts;
  const { db } = store;

  /**
   * Brings a command that was issued into the log; and ends one whose time is over: as `expired` where its device has not
   * begun, else as `unknown`. Safe to repeat: what its device states comes first, and a command ends once.
   */
  async function followCommand({ command_id, run }: CommandOrder): Promise<CommandProgress> {
    const command = await getDeviceCommand(db, command_id);
    if (!command) throw new Problem("NotFound", `There is no command ${command_id}`);
    if (command.status === "queued" && command.issuedReceipt) await awaitLog(command);
    return await db.transaction(async (trx) => {
      const current = (await lockDeviceCommand(trx, command_id))!;
      if (!hasCommandEnded(current.status)) {
        const waitMs = deadlineOf(current) - (await getTime(trx)).getTime();
        if (waitMs > 0) {
          return { status: current.status, result: null, wait_seconds: waitMs / 1_000 };
        }
        const hasBegun = current.status === "begun";
        const end = hasBegun
          ? { status: "unknown", code: "no_result" } as const
          : { status: "expired", code: `was_${current.status}` } as const;
        await endByPlatform(trx, current, end, run);
      }
      const ended = (await getDeviceCommand(trx, command_id))!;
      await tellPeople(trx, ended);
      return { status: ended.status, result: toResult(ended), wait_seconds: 0 };
    });
  }

  /** Waits until the receipt that issues a command is in the published log, as its device wants it. */
  async function awaitLog(command: DeviceCommandRecord): Promise<void> {
    const until = performance.now() + MAX_LOG_WAIT_MS;
    const id = command.issuedReceipt!;
    const sealed = await sealer
      .sealed(id, { timeoutMs: MAX_LOG_WAIT_MS, signal: cancellationSignal() })
      .catch(() => undefined);
    const position = sealed?.position ?? (await getReceipt(store, id))?.position;
    while (position !== undefined && performance.now() < until) {
      const published = await getPublishedCheckpoint(store);
      if (published && published.size > position) return await noteSealed(db, command, position);
      await sleep(LOG_POLL_MS, undefined, { signal: cancellationSignal() });
    }
  }

  return { followCommand };
}

/** Returns when a command has ended or never will, in milliseconds. */
function deadlineOf({ status, begunAt, expires_at, timeout_seconds }: DeviceCommandRecord): number {
  const expiry = Date.parse(expires_at);
  if (status !== "begun") return expiry;
  return Math.max(expiry, begunAt!.getTime() + (timeout_seconds + GRACE_SECONDS) * 1_000);
}

/** Tells people of an end that they may have to do something about. */
async function tellPeople(trx: Db, command: DeviceCommandRecord): Promise<void> {
  const { id, deviceId, status, code, description, endedReceipt, approvalId } = command;
  if (status === "done" || status === "cancelled") return;
  await addMessage(trx, {
    kind: status === "unknown" ? "command.unknown" : "command.not_done",
    from: deviceId,
    subject: say`${id} on ${deviceId} ended as ${status}: ${description}`,
    text: status === "unknown" ? wayToFindOut(command) : code ?? "",
    refs: {
      device_id: deviceId,
      command_id: id,
      ...(endedReceipt ? { receipt_id: endedReceipt } : {}),
      ...(approvalId ? { approval_id: approvalId } : {}),
    },
    severity: status === "unknown" ? "high" : "medium",
    key: `command/${id}/${status}`,
  });
}

function wayToFindOut({ id, deviceId }: DeviceCommandRecord): Text {
  return say`${deviceId} has begun ${id}, and has not said how it ended. It is not run again. What its device states later is taken over; sealoop_agent.py verify-bundle ${id} on the device shows what is known there.`;
}

function toResult({ id, status, code, endedReceipt }: DeviceCommandRecord): CommandResult {
  return { command_id: id, status: status as CommandEnd, code, receipt_id: endedReceipt };
}
