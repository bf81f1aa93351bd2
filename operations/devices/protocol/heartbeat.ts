import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../../contract/mod.ts";
import { isHolderGone, type Store } from "../../../store/mod.ts";
import {
  beginHeartbeat,
  challengeDevice,
  getDevice,
  getNewestHeartbeat,
  takeOverHeartbeat,
} from "../../../store/devices/mod.ts";
import { type Begun, finishHeartbeat, readCosigned } from "./heartbeat_answer.ts";
import type { HeartbeatCall, HeartbeatParts } from "./heartbeat_call.ts";
import { judgeUsedCounter } from "./heartbeat_rules.ts";
import { quarantine } from "./quarantine.ts";

/** Milliseconds between looks at a heartbeat that another process answers. */
const POLL_MS = 500;
/** Seconds after which nobody answers a heartbeat any more: more than it waits, and what is left to do. */
const MAX_ANSWER_SECONDS = 60;

/** Answers that this process is working on, by database and request. */
const inHand = new WeakMap<Store["pool"], Map<string, Promise<string>>>();

/**
 * Answers a heartbeat, once: its exact repetition gets the same text, also while the first is being answered, and from
 * whatever process.
 *
 * @throws {Problem} `Conflict`: the counter was used by another heartbeat; `Unavailable`: this process stops
 */
export async function answerHeartbeat(parts: HeartbeatParts, call: HeartbeatCall): Promise<string> {
  const { pool } = parts.store;
  const answers = inHand.get(pool) ?? new Map<string, Promise<string>>();
  inHand.set(pool, answers);
  const key = `${call.deviceId} ${call.request.toString("hex")}`;
  const known = answers.get(key);
  if (known) return await known;
  const answer = parts.watch.answer(() => answerOnce(parts, call));
  answers.set(key, answer);
  try {
    return await answer;
  } finally {
    answers.delete(key);
  }
}

async function answerOnce(parts: HeartbeatParts, call: HeartbeatCall): Promise<string> {
  const { store, holder } = parts;
  const { deviceId, message, request } = call;
  const device = await getDevice(store.db, deviceId);
  if (!device) throw new Problem("NotFound", `There is no device ${deviceId}`);
  const cosigned = await readCosigned(store, device, message);
  const begun = await beginHeartbeat(store.db, {
    deviceId,
    counter: message.counter,
    request,
    holder,
    logSize: message.log_size,
    cosigned,
    journal: message.journal,
  });
  return begun
    ? await finishHeartbeat(parts, call, { device, begun, cosigned })
    : await repeat(parts, call, { device, cosigned });
}

/** Answers a heartbeat whose counter was used. @throws {Problem} `Conflict`: by another one */
async function repeat(
  parts: HeartbeatParts,
  call: HeartbeatCall,
  { device, cosigned }: Pick<Begun, "device" | "cosigned">,
): Promise<string> {
  const { store: { db }, holder, watch } = parts;
  const { deviceId, message: { counter, challenge }, request, signal } = call;
  for (;;) {
    const newest = await getNewestHeartbeat(db, deviceId);
    if (!newest) throw new Problem("NotFound", `There is no device ${deviceId}`);
    const use = judgeUsedCounter(newest, { counter, request, challenge });
    if (use === "late") throw lateHeartbeat(counter, await challengeDevice(db, deviceId, counter));
    if (use === "cloned") {
      await quarantine(db, device, "cloned");
      throw clonedDevice(counter);
    }
    if (newest.answer !== undefined) return newest.answer;
    const isAbandoned = newest.holder === holder || newest.ageSeconds > MAX_ANSWER_SECONDS ||
      await isHolderGone(db, newest.holder);
    if (isAbandoned && await takeOverHeartbeat(db, deviceId, newest, holder)) {
      return await finishHeartbeat(parts, call, { device, begun: newest, cosigned });
    }
    if (signal.aborted) throw new Problem("Cancelled", "The device has gone");
    watch.check();
    await sleep(POLL_MS);
  }
}

function lateHeartbeat(counter: number, challenge: string): Problem {
  const detail = `Heartbeat ${counter} is late: a later one has come before it`;
  return new Problem("Conflict", detail, { body: { code: "counter_late", detail, challenge } });
}

function clonedDevice(counter: number): Problem {
  const detail =
    `Number ${counter} was used by another heartbeat: two programs have this device's key, and it is quarantined`;
  return new Problem("Conflict", detail, { body: { code: "counter_cloned", detail } });
}
