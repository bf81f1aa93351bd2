/** Recorded histories: `test/histories/<workflow type>.<what happens>.json`, one event a line. */
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { PayloadCodec } from "@temporalio/common";
import { type History, historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import * as workflows from "../../workflows/mod.ts";

/** The folder of the histories. */
export const HISTORIES = new URL("../histories/", import.meta.url);

/** Every type that workers run: the functions that workflows/mod.ts exports. */
export const WORKFLOW_TYPES: readonly string[] = Object.entries(workflows)
  .filter(([, value]) => typeof value === "function")
  .map(([name]) => name);

/** A recorded history. */
export interface RecordedHistory {
  /** Name of the file, without `.json`. */
  readonly name: string;
  readonly workflowType: string;
  /** Text of the file. */
  readonly text: string;
  readonly history: { readonly events: readonly HistoryEvent[] };
}

/** An event, in the JSON form of Temporal's API. */
export type HistoryEvent = { readonly eventType: string } & Readonly<Record<string, unknown>>;

/** Reads all histories. */
export function readHistories(): RecordedHistory[] {
  return readdirSync(HISTORIES).filter((name) => name.endsWith(".json")).map((file) => {
    const text = readFileSync(new URL(file, HISTORIES), "utf8");
    const name = file.slice(0, -".json".length);
    return { name, workflowType: name.split(".")[0]!, text, history: JSON.parse(text) };
  });
}

/**
 * Prints a history, one event a line, without the names of machine and worker and without stack traces. Texts that stand
 * in the database are put back, so that it can be replayed without one.
 *
 * @param codec of the worker that ran it
 */
export async function printHistory(
  history: History,
  codec: PayloadCodec,
): Promise<string> {
  const decoded = await decodePayloads(JSON.parse(historyToJSON(history)), codec);
  const { events } = JSON.parse(JSON.stringify(decoded), (key, value) => {
    if (key === "identity") return "recorder";
    if (key === "stackTrace") return "";
    if (key === "data" && typeof value === "string") return withoutFolders(value);
    if (value?.kind === "TASK_QUEUE_KIND_STICKY") return { ...value, name: "recorder" };
    return value;
  });
  const lines = events.map((event: unknown) => JSON.stringify(event));
  return `{"events":[\n${lines.join(",\n")}\n]}\n`;
}

/** Decodes the payloads within a history's JSON, in which bytes are base64. */
async function decodePayloads(value: unknown, codec: PayloadCodec): Promise<unknown> {
  if (value === null || typeof value !== "object") return value;
  if (isCoded(value)) {
    const metadata = Object.entries(value.metadata).map(([name, text]) => [name, toBytes(text)]);
    const payload = { metadata: Object.fromEntries(metadata), data: toBytes(value.data) };
    const [decoded] = await codec.decode([payload]);
    const { tenant: _, ...others } = value.metadata;
    return { metadata: others, data: Buffer.from(decoded!.data!).toString("base64") };
  }
  if (Array.isArray(value)) {
    return await Promise.all(value.map((one) => decodePayloads(one, codec)));
  }
  const entries = Object.entries(value)
    .map(async ([name, one]) => [name, await decodePayloads(one, codec)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Returns true for a payload some of whose texts stand in the database. */
function isCoded(
  value: object,
): value is { metadata: Readonly<Record<string, string>>; data: string } {
  return "data" in value && "metadata" in value &&
    (value.metadata as Record<string, string>)?.tenant !== undefined;
}

const toBytes = (base64: string) => Buffer.from(base64, "base64");

/** Replaces the names of the recorder's folders in a payload, and removes a failure's stack trace. */
function withoutFolders(base64: string): string {
  const text = Buffer.from(base64, "base64").toString();
  if (text.includes('"stack_trace":')) {
    const { message } = JSON.parse(text);
    return Buffer.from(JSON.stringify({ message, stack_trace: "" })).toString("base64");
  }
  if (!text.includes(tmpdir())) return base64;
  const folders = new RegExp(`${tmpdir()}/sealoop-test-[^/"]+`, "g");
  return Buffer.from(text.replace(folders, "/srv/recorder")).toString("base64");
}
