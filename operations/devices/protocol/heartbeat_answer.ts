import { type DeviceBundle, type DeviceLog, say } from "../../../contract/domain/mod.ts";
import type { Store } from "../../../store/mod.ts";
import {
  type ApproversVersion,
  type BegunHeartbeat,
  type DeviceRecord,
  endHeartbeat,
  getDevice,
  noteApprovers,
  setFirewall,
} from "../../../store/devices/mod.ts";
import { addMessage } from "../../../store/notices/mod.ts";
import { takeAck } from "./acks.ts";
import { agentRelease } from "./agent.ts";
import { nextApprovers, takeApproversAck } from "./approvers.ts";
import { isCommandComing, listBundles } from "./bundles.ts";
import { contradictsLog, type CosignedCheckpoint, verifyCosigned } from "./cosignature.ts";
import { readDeviceLog } from "./device_log.ts";
import type { HeartbeatCall, HeartbeatMessage, HeartbeatParts } from "./heartbeat_call.ts";
import { isRolledBack } from "./heartbeat_rules.ts";
import { storeInventory } from "./inventory.ts";
import { quarantine } from "./quarantine.ts";
import { recordSplitView } from "./split_view.ts";
import { readAgent } from "../../../judgement/shield/mod.ts";
import type { NewsFollower } from "../../../calls/mod.ts";

/** Seconds between two heartbeats that do not wait. Devices vary it by a fifth. */
export const INTERVAL_SECONDS = 60;
/** Seconds until a device comes back whose wait was cut short, or that has to take other approvers. */
const SHORT_INTERVAL_SECONDS = 5;
/** Heartbeats that wait at a time in one process. More are answered at once. */
const MAX_WAITING = 5_000;
/** Time between looks for a command that is issued and on its way into the published log. */
const LOOK_AGAIN_MS = 250;

/** The answer to a heartbeat. */
interface HeartbeatAnswer {
  readonly server_time: string;
  readonly interval_seconds: number;
  /** Null: nothing is published that begins with what the device has accepted. */
  readonly log: DeviceLog | null;
  /** Version of the policies that devices are checked by; 0: those that ship. */
  readonly policy_version: number;
  /** In the order of their sequence. */
  readonly commands: readonly DeviceBundle[];
  /** SHA-256 of the sections that the platform has now. */
  readonly inventory_sha256: string | null;
  /** Present where the device tells of another agent than the platform serves. It only informs. */
  readonly update?: { readonly sha256: string; readonly receipt_id: string };
  /** Present where the device has to take other approvers. */
  readonly approvers?: ApproversVersion;
}

/** A heartbeat that has begun. */
export interface Begun {
  readonly device: DeviceRecord;
  readonly begun: BegunHeartbeat;
  readonly cosigned?: CosignedCheckpoint | undefined;
}

/** Returns the checkpoint that a device has validly cosigned with its heartbeat; undefined: none. */
export async function readCosigned(
  store: Store,
  device: DeviceRecord,
  { checkpoint: note, cosignature, log_size }: HeartbeatMessage,
): Promise<CosignedCheckpoint | undefined> {
  if (!note || !cosignature) return undefined;
  const newest = await readDeviceLog(store).newest(0);
  const cosigned = newest && verifyCosigned({ note, cosignature }, device, newest.verifierKey);
  return cosigned?.size === log_size ? cosigned : undefined;
}

/** Takes what a heartbeat says, waits for news where there is none, and stores the answer. Safe to repeat. */
export async function finishHeartbeat(
  parts: HeartbeatParts,
  call: HeartbeatCall,
  begun: Begun,
): Promise<string> {
  const { watch } = parts;
  const { deviceId, message: { wait_seconds } } = call;
  // Before anything is looked up, so that no news are missed.
  const follower = wait_seconds > 0 && watch.waiting < MAX_WAITING
    ? await watch.follow(deviceId)
    : undefined;
  try {
    return await finishFollowed(parts, call, begun, follower);
  } finally {
    follower?.stop();
  }
}

async function finishFollowed(
  parts: HeartbeatParts,
  call: HeartbeatCall,
  { device: known, begun, cosigned }: Begun,
  follower: NewsFollower | undefined,
): Promise<string> {
  const { store } = parts;
  const { deviceId, message } = call;
  let device = known;
  if (isRolledBack(message.journal, begun.journal)) {
    await quarantine(store.db, device, "journal_rolled_back");
    device = { ...device, status: "quarantined" };
  }
  const inventorySha256 = await takeNews(store, message, { device, begun });
  const approvers = await findApprovers(store, message, device);
  const { log, commands, isCutShort } = await awaitCommands(
    parts,
    call,
    { device, begun, cosigned },
    approvers ? undefined : follower,
  );
  const answer: HeartbeatAnswer = {
    server_time: new Date().toISOString(),
    interval_seconds: approvers || isCutShort ? SHORT_INTERVAL_SECONDS : INTERVAL_SECONDS,
    log,
    policy_version: begun.policyVersion,
    commands,
    inventory_sha256: inventorySha256,
    ...await findUpdate(message),
    ...(approvers ? { approvers } : {}),
  };
  const text = JSON.stringify(answer);
  await endHeartbeat(store.db, deviceId, message.counter, text);
  return text;
}

/** Returns the approvers that a device has to take next. */
async function findApprovers(
  { db }: Store,
  { acks = [], approvers_version }: HeartbeatMessage,
  device: DeviceRecord,
): Promise<ApproversVersion | undefined> {
  const hasTold = acks.some((ack) => "approvers_version" in ack) ||
    approvers_version !== device.approversVersion;
  const current = hasTold ? await getDevice(db, device.id) : device;
  return current && await nextApprovers(db, current);
}

/** Returns the agent that the platform serves, where a device tells of another one. */
async function findUpdate({ delta }: HeartbeatMessage): Promise<Pick<HeartbeatAnswer, "update">> {
  const told = delta?.agent as { readonly sha256?: unknown } | null | undefined;
  if (!told) return {};
  const agent = await readAgent();
  if (told.sha256 === agent.sha256) return {};
  return { update: { sha256: agent.sha256, receipt_id: agentRelease(agent).id! } };
}

/** Stores what a heartbeat says. @returns the hash of the inventory that is stored then */
async function takeNews(
  { db }: Store,
  { counter, acks = [], approvers_version, delta, firewall, inventory_sha256 }: HeartbeatMessage,
  { device: known, begun }: Begun,
): Promise<string | null> {
  const device = { ...known, approversVersion: approvers_version };
  const { id, name } = device;
  const hasPinned = approvers_version !== known.approversVersion;
  if (acks.length === 0 && !hasPinned && !delta && firewall === undefined && !begun.isBack) {
    return begun.inventorySha256;
  }
  return await db.transaction(async (trx) => {
    if (hasPinned) await noteApprovers(trx, id, approvers_version);
    for (const ack of acks) {
      if ("command_id" in ack) await takeAck(trx, device, ack);
      else await takeApproversAck(trx, device, ack);
    }
    if (firewall !== undefined) await setFirewall(trx, id, firewall);
    if (begun.isBack) {
      await addMessage(trx, {
        kind: "device.online",
        from: id,
        subject: say`${name} (${id}) is online again`,
        text: say`It has sent two heartbeats.`,
        refs: { device_id: id },
        key: `online/${id}/${counter}`,
      });
    }
    return delta ? await storeInventory(trx, id, delta, inventory_sha256) : begun.inventorySha256;
  });
}

/** Waits until there are commands for a device, or its time is over. @param follower undefined: it does not wait */
async function awaitCommands(
  { store }: HeartbeatParts,
  { deviceId, message, signal }: HeartbeatCall,
  { device: known, cosigned }: Begun,
  follower: NewsFollower | undefined,
): Promise<{ log: DeviceLog | null; commands: readonly DeviceBundle[]; isCutShort: boolean }> {
  const reader = readDeviceLog(store);
  if (cosigned && await contradictsLog(cosigned, reader)) {
    await recordSplitView(store.db, deviceId, cosigned);
    return { log: null, commands: [], isCutShort: false };
  }
  const deadline = performance.now() + message.wait_seconds * 1_000;
  let device = known;
  let hasNews = false;
  for (;;) {
    const newest = await reader.newest(message.log_size);
    if (!newest || newest.size < message.log_size) {
      return { log: null, commands: [], isCutShort: false };
    }
    const commands = device.status === "active"
      ? await listBundles(store, device, newest.size)
      : [];
    const isComing = device.status === "active" && await isCommandComing(store, deviceId);
    const leftMs = deadline - performance.now();
    // Other news are for the next heartbeat.
    const isCutShort = signal.aborted || follower?.closing === true || hasNews && !isComing;
    if (commands.length > 0 || leftMs <= 0 || isCutShort || !follower) {
      const consistency = await reader.proveConsistency(message.log_size, newest.size);
      return { log: { checkpoint: newest.note, consistency }, commands, isCutShort };
    }
    hasNews = await follower.wait(isComing ? Math.min(LOOK_AGAIN_MS, leftMs) : leftMs, signal);
    device = await getDevice(store.db, deviceId) ?? device; // it may be quarantined by now
  }
}
