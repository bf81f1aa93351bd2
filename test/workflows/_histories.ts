/** Recorded histories: `test/histories/<workflow type>.<what happens>.json`, one event a line. */
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
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

/** Prints a history, one event a line, without the names of machine and worker and without stack traces. */
export function printHistory(json: string): string {
  const { events } = JSON.parse(json, (key, value) => {
    if (key === "identity") return "recorder";
    if (key === "stackTrace") return "";
    if (key === "data" && typeof value === "string") return withoutFolders(value);
    if (value?.kind === "TASK_QUEUE_KIND_STICKY") return { ...value, name: "recorder" };
    return value;
  });
  const lines = events.map((event: unknown) => JSON.stringify(event));
  return `{"events":[\n${lines.join(",\n")}\n]}\n`;
}

/** Replaces the names of the recorder's folders in a payload. */
function withoutFolders(base64: string): string {
  const text = Buffer.from(base64, "base64").toString();
  if (!text.includes(tmpdir())) return base64;
  const folders = new RegExp(`${tmpdir()}/sealoop-test-[^/"]+`, "g");
  return Buffer.from(text.replace(folders, "/srv/recorder")).toString("base64");
}
