import { hasApproved, putQuestion, type StoredQuestion } from "../../calls/approvals/mod.ts";
import { approversWanted, findObstacle } from "../../operations/devices/orders/mod.ts";
import { receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { type CommandEnd, hasCommandEnded, type RunId } from "../../contract/domain/mod.ts";
import { actionOfCommand, toDeviceCommand } from "../../operations/devices/protocol/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { type Db, makeSalt } from "../../store/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import { getScript } from "../../store/catalogue/mod.ts";
import {
  type DeviceCommandRecord,
  getDeviceCommand,
  getTime,
  lockDeviceCommand,
  nextCommandSequence,
  noteIssued,
  queueDeviceCommand,
} from "../../store/devices/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { endByPlatform } from "./_end.ts";

/** An order about one command. */
export interface CommandOrder {
  readonly command_id: string;
  readonly run: RunId;
}

/** An approval that a command waits for. */
export interface CommandApproval extends StoredQuestion {
  readonly expires_in_seconds: number;
}

/** Creates the activities that have people decide about commands, and issue them. */
export function commandActivities(parts: ActivityParts) {
  const { store, config } = parts;
  const { db } = store;

  /** Stores what people are asked about a command, where they are. Safe to repeat: the command names its approval. */
  async function prepareCommand(
    { command_id }: CommandOrder,
  ): Promise<{ readonly held: CommandApproval | null }> {
    const command = await existing(command_id);
    const { status, approvalId, requestedBy, requestedByKey, needed, insteadOf } = command;
    if (status !== "waiting_approval" || approvalId === null) return { held: null };
    const now = await getTime(db);
    // An approval that comes too late would be in vain.
    const secondsLeft = Math.floor((Date.parse(command.expires_at) - now.getTime()) / 1_000);
    const expiresInSeconds = Math.max(
      1,
      Math.min(config.settings.SEALOOP_APPROVAL_EXPIRES_SECONDS, secondsLeft),
    );
    const asked = await putQuestion(db, config, {
      id: approvalId,
      subject: command.id,
      description: `Run on ${command.deviceId}: ${command.description}`,
      action: { ...actionOfCommand(command) },
      grounds: command.grounds,
      requestedBy,
      requestedByKey,
      needed,
      expiresInSeconds,
      ...(insteadOf ? { insteadOf } : {}),
    });
    return { held: { ...asked, expires_in_seconds: expiresInSeconds } };
  }

  /** Takes over what people have decided about a command: the database says what. Safe to repeat. */
  async function decideCommand({ command_id, run }: CommandOrder): Promise<void> {
    await db.transaction(async (trx) => {
      const command = await lockDeviceCommand(trx, command_id);
      if (command?.status !== "waiting_approval") return;
      const approval = await getApproval(trx, command.approvalId!);
      if (hasApproved(approval, { ...actionOfCommand(command) })) {
        return await queueDeviceCommand(trx, command_id);
      }
      const isLate = approval?.status === "expired" || approval?.status === "pending";
      await end(trx, command, isLate ? "expired" : "refused", approvalCode(approval?.status), run);
    });
  }

  /**
   * Numbers a command and requests the receipt that issues it; or ends it, where it must not be issued. Safe to repeat: a
   * command is issued once.
   */
  async function issueCommand({ command_id, run }: CommandOrder): Promise<void> {
    const wanted = await approversWanted(parts, await existing(command_id));
    await db.transaction(async (trx) => {
      const command = await lockDeviceCommand(trx, command_id);
      if (command?.status !== "queued" || command.sequence !== null) return;
      if (await getTime(trx) >= new Date(command.expires_at)) {
        return await end(trx, command, "expired", "not_issued", run);
      }
      const obstacle = typeof wanted === "number" ? await findObstacle(parts, command) : wanted;
      if (obstacle) return await end(trx, command, "cancelled", obstacle.code, run);
      if (!await isApproved(trx, command, Math.max(command.needed, Number(wanted)))) {
        return await end(trx, command, "refused", "not_approved", run);
      }
      const sequence = await nextCommandSequence(trx, command.deviceId);
      const salt = makeSalt();
      const release = command.script && await getScript(trx, command.script.id);
      const receiptId = receiptIdOf(run, "ISSUED");
      await noteIssued(trx, command_id, { sequence, salt, receiptId });
      await requestSeal(trx, {
        id: receiptId,
        category: "device_command",
        actor: command.requestedByKey ? `key:${command.requestedByKey}` : command.requestedBy,
        subject: command.deviceId,
        action: "issued",
        outcome: "issued",
        details: {
          command_id,
          // Ids of the user's own scripts are not public.
          ...(release?.origin === "shipped" ? { script: release.name } : {}),
          ...(command.approvalId ? { approval_id: command.approvalId } : {}),
          ...run,
        },
        evidence: { command: toDeviceCommand(command, sequence) },
        salts: { command: salt },
      });
    });
  }

  /** Returns whether as many people as are needed have approved exactly this command. */
  async function isApproved(
    trx: Db,
    command: DeviceCommandRecord,
    needed: number,
  ): Promise<boolean> {
    if (needed === 0) return true;
    const approval = command.approvalId === null
      ? undefined
      : await getApproval(trx, command.approvalId);
    return hasApproved(approval, { ...actionOfCommand(command) }, needed);
  }

  /** Ends a command that its device can't have got. Safe to repeat. */
  async function stopCommand({ command_id, run }: CommandOrder): Promise<void> {
    await db.transaction(async (trx) => {
      const command = await lockDeviceCommand(trx, command_id);
      const isOpen = command && !hasCommandEnded(command.status) && command.offeredAt === null;
      if (isOpen) await end(trx, command, "cancelled", "cancelled", run);
    });
  }

  async function end(
    trx: Db,
    command: DeviceCommandRecord,
    status: CommandEnd,
    code: string,
    run: RunId,
  ): Promise<void> {
    await endByPlatform(trx, command, { status, code }, run);
  }

  async function existing(id: string): Promise<DeviceCommandRecord> {
    const command = await getDeviceCommand(db, id);
    if (command) return command;
    throw new Problem("NotFound", `There is no command ${id}`);
  }

  return { prepareCommand, decideCommand, issueCommand, stopCommand };
}

function approvalCode(status = "missing"): string {
  return `approval_${status === "pending" ? "ended" : status}`;
}
