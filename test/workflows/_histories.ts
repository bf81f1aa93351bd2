/** Recorded histories: `test/histories/<workflow type>.<what happens>.json`, one event a line. */
import { readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import type { PayloadCodec } from "@temporalio/common";
import { type History, historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { ROOT } from "../../config.ts";
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
  /** Id of its workflow. */
  readonly workflowId: string;
  /** Id of its run. */
  readonly runId: string;
  readonly history: { readonly events: readonly HistoryEvent[] };
}

/** An event, in the JSON form of Temporal's API. */
type HistoryEvent = { readonly eventType: string } & Readonly<Record<string, unknown>>;

/** Reads all histories. */
export function readHistories(): RecordedHistory[] {
  return readdirSync(HISTORIES).filter((name) => name.endsWith(".json")).map((file) => {
    const text = readFileSync(new URL(file, HISTORIES), "utf8");
    const name = file.slice(0, -".json".length);
    const history = JSON.parse(text) as RecordedHistory["history"];
    const { workflowId, originalExecutionRunId: runId } = history.events[0]!
      .workflowExecutionStartedEventAttributes as Record<string, string>;
    const workflowType = name.split(".")[0]!;
    return { name, workflowType, text, workflowId: workflowId!, runId: runId!, history };
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
  const recorded = JSON.parse(historyToJSON(history));
  const decoded = await decodePayloads(recorded, codec, listWorkflows(recorded));
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

/** Lists the workflow of a history and its children, to which its payloads belong. */
function listWorkflows({ events }: { readonly events: readonly HistoryEvent[] }): string[] {
  const ids = events.flatMap((event) =>
    [
      "workflowExecutionStartedEventAttributes",
      "startChildWorkflowExecutionInitiatedEventAttributes",
    ]
      .map((name) => (event[name] as { workflowId?: string } | undefined)?.workflowId)
  );
  return ids.filter((id) => id !== undefined);
}

/** Decodes the payloads within a history's JSON, in which bytes are base64, and removes their MACs. */
async function decodePayloads(
  value: unknown,
  codec: PayloadCodec,
  workflows: readonly string[],
): Promise<unknown> {
  if (value === null || typeof value !== "object") return value;
  if (isSigned(value)) {
    const metadata = Object.entries(value.metadata).map(([name, text]) => [name, toBytes(text)]);
    const data = value.data === undefined ? {} : { data: toBytes(value.data) };
    const payload = { metadata: Object.fromEntries(metadata), ...data };
    const { mac: _, tenant: __, ...others } = value.metadata;
    for (const workflowId of workflows) {
      const context = { type: "workflow", namespace: "", workflowId } as const;
      const [decoded] = await codec.decode([payload], context);
      const text = Buffer.from(decoded!.data ?? []);
      if (text.includes('"$refused"')) continue;
      return {
        metadata: others,
        ...value.data === undefined ? {} : { data: text.toString("base64") },
      };
    }
    throw new Error(`A payload belongs to none of ${workflows}: ${JSON.stringify(value)}`);
  }
  if (Array.isArray(value)) {
    return await Promise.all(value.map((one) => decodePayloads(one, codec, workflows)));
  }
  const entries = Object.entries(value)
    .map(async ([name, one]) => [name, await decodePayloads(one, codec, workflows)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

/** Returns true for a payload that the codec has signed. */
function isSigned(
  value: object,
): value is { metadata: Readonly<Record<string, string>>; data?: string } {
  const { metadata, data } = value as { metadata?: Record<string, string>; data?: string };
  if (typeof metadata !== "object") return false;
  return metadata.mac !== undefined ||
    typeof data === "string" && toBytes(data).includes('"envelope":');
}

const toBytes = (base64: string) => Buffer.from(base64, "base64");

/** Replaces the names of the recorder's folders in a payload, and removes a failure's stack trace. */
function withoutFolders(base64: string): string {
  const text = Buffer.from(base64, "base64").toString();
  if (text.includes('"stack_trace":')) {
    const { message } = JSON.parse(text);
    return Buffer.from(JSON.stringify({ message, stack_trace: "" })).toString("base64");
  }
  if (!text.includes(tmpdir()) && !text.includes(ROOT)) return base64;
  const folders = new RegExp(`${tmpdir()}/sealoop-test-[^/"]+`, "g");
  const named = text.replace(folders, "/srv/recorder").replaceAll(ROOT, "/srv/sealoop");
  return Buffer.from(named).toString("base64");
}
