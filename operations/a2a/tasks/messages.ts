import { randomUUID } from "node:crypto";
import { type TaskRecord, TERMINAL_STATES } from "../../../contract/domain/mod.ts";
import { keyedHash } from "../../../store/mod.ts";
import { isStarted } from "./lost.ts";
import { getTask } from "../../../store/a2a/mod.ts";
import { type Platform } from "../../../calls/mod.ts";

/** A message that opens a task: the fields that tell a repeated message from another one. */
export interface OpeningMessage {
  /** Public id of the sender's key. */
  readonly key_id: string;
  /** Chosen by the sender. */
  readonly message_id: string;
  readonly context_id?: string | undefined;
  readonly content: unknown;
}

/** The task that a message opened when it was sent before, or the id of the task that it opens now. */
export type OpenedTask = { readonly task: TaskRecord } | { readonly id: string };

type Parts = Pick<Platform, "store" | "temporal">;

/** Most tasks that one message opens, as the ones before were cancelled or ended long ago. */
const MAX_REPETITIONS = 100;
/** A message that is repeated so long after its task has ended asks for the state as it is now. */
const STALE_AFTER_MS = 24 * 3_600_000;

/**
 * Finds the task of a message that may have been sent before: clients repeat a message when they get no answer. A message
 * that is repeated after its task was cancelled opens another task. Other words under the same id are another message, as
 * A2A leaves ids of messages to the sender.
 */
export async function findOpenedTask(parts: Parts, message: OpeningMessage): Promise<OpenedTask> {
  for (let repetition = 0; repetition < MAX_REPETITIONS; repetition++) {
    const id = await taskIdOf(parts, message, repetition);
    const task = await findStartedTask(parts, id, message.key_id);
    if (!task) return { id };
    const isStale = TERMINAL_STATES.has(task.state) &&
      Date.now() - Date.parse(task.since) > STALE_AFTER_MS;
    if (task.state !== "canceled" && !isStale) return { task };
  }
  return { id: randomUUID() };
}

/** Finds a task; undefined also where the process that stored it died before it could start the workflow. */
export async function findStartedTask(
  { store, temporal }: Parts,
  id: string,
  keyId: string,
): Promise<TaskRecord | undefined> {
  const task = await getTask<TaskRecord>(store.db, id, keyId);
  return task && (task.version > 0 || await isStarted(temporal, id)) ? task : undefined;
}

/** Returns a hash that the same message has each time it is sent. */
export async function messageHash(
  { store }: Pick<Platform, "store">,
  { key_id, message_id, context_id, content }: OpeningMessage,
  repetition = 0,
): Promise<Buffer> {
  const fields = [key_id, message_id, context_id ?? null, content, repetition];
  return await keyedHash(store, "messages", JSON.stringify(fields, withSortedKeys));
}

/** Returns the id of a message's task, a UUID of version 8 (RFC 9562). */
async function taskIdOf(
  parts: Pick<Platform, "store">,
  message: OpeningMessage,
  repetition: number,
): Promise<string> {
  const hash = await messageHash(parts, message, repetition);
  hash[6] = hash[6]! & 0x0f | 0x80;
  hash[8] = hash[8]! & 0x3f | 0x80;
  return hash.toString("hex", 0, 16).replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
}

const withSortedKeys = (_name: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1))
    : value;
