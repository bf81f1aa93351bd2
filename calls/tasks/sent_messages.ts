import { createHash, randomUUID } from "node:crypto";
import { ENDS, type TaskRecord } from "../../domain/mod.ts";
import { getTask } from "../../store/mod.ts";
import { isStarted } from "./_lost_tasks.ts";
import type { Platform } from "../platform.ts";

/** A message that opens a task, as far as it tells one that is sent again from another. */
export interface Sent {
  /** Public id of the sender's key. */
  readonly key_id: string;
  /** Of the sender's choice. */
  readonly message_id: string;
  readonly context_id?: string | undefined;
  /** What it says. */
  readonly content: unknown;
}

/** A task that a message opened when it was sent before, or the id of the one that it opens. */
export type Opened = { readonly task: TaskRecord } | { readonly id: string };

/** Most times that a message opens a task, as the ones before were cancelled or are of long ago. */
const MOST_TIMES = 100;
/** Who says the same so long after its task has ended, wants to know how it is now. */
const STALE_MS = 24 * 3_600_000;

/**
 * What comes of a message, which may have been sent before: as clients do that have heard no answer, over a restart of
 * anything. Whoever cancels a task and then says the same again wants it done. Other words under the same id are
 * another message, as A2A makes ids of messages the sender's own affair.
 */
export async function openedBy(
  platform: Pick<Platform, "store" | "temporal">,
  sent: Sent,
): Promise<Opened> {
  for (let times = 0; times < MOST_TIMES; times++) {
    const id = taskIdOf(sent, times);
    const task = await begunTask(platform, id, sent.key_id);
    if (!task) return { id };
    const stale = ENDS.has(task.state) && Date.now() - Date.parse(task.since) > STALE_MS;
    if (task.state !== "canceled" && !stale) return { task };
  }
  return { id: randomUUID() };
}

/** A task; undefined also where what has shown it died before anything could drive it. */
export async function begunTask(
  { store, temporal }: Pick<Platform, "store" | "temporal">,
  id: string,
  keyId: string,
): Promise<TaskRecord | undefined> {
  const task = await getTask<TaskRecord>(store.asPlatform(), id, keyId);
  return task && (task.version > 0 || await isStarted(temporal, id)) ? task : undefined;
}

/** What is the same of the same message alone. */
export function fingerprint({ key_id, message_id, context_id, content }: Sent, times = 0): Buffer {
  const text = JSON.stringify([key_id, message_id, context_id ?? null, content, times], inOrder);
  return createHash("sha256").update(text).digest();
}

/** The id of the task that a message opens: always the same. */
function taskIdOf(sent: Sent, times: number): string {
  const hash = fingerprint(sent, times);
  hash[6] = hash[6]! & 0x0f | 0x80; // RFC 9562: version 8, of our own making
  hash[8] = hash[8]! & 0x3f | 0x80;
  return hash.toString("hex", 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

const inOrder = (_name: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
    : value;
