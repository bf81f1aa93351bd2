/** Checks in a thread of its own, so that the page stays quick however much there is to check. */
import type { TrustedKey } from "../../rules.ts";
import { checkRange, type Chunk } from "../check.ts";
import { type FileReport, reportOf } from "../file.ts";
import { fetchRecords, NotAnswered } from "./export.ts";
import { NOBLE } from "./primitives.ts";

/** What a worker is asked for. */
export type Task =
  | { readonly do: "range"; readonly from: number; readonly to: number }
  | { readonly do: "file"; readonly text: string };

/** A task with the keys to check by. */
export interface Job {
  readonly task: Task;
  readonly keys: readonly TrustedKey[];
}

/** What came of a job; `failed`: nothing was checked, and why. */
export type Outcome =
  | { readonly chunk: Chunk }
  | { readonly report: FileReport }
  | { readonly failed: string };

/** The worker's side of the channel, which the types of a page do not know. */
interface Scope {
  onmessage: (event: MessageEvent<Job>) => void;
  postMessage(outcome: Outcome): void;
}

const scope = globalThis as unknown as Scope;

scope.onmessage = async ({ data: { task, keys } }) => {
  try {
    if (task.do === "file") return scope.postMessage({ report: reportOf(task.text, keys, NOBLE) });
    const records = await fetchRecords(Math.max(0, task.from - 1), task.to);
    scope.postMessage({ chunk: checkRange(records, task, keys, NOBLE) });
  } catch (error) {
    const known = error instanceof NotAnswered || error instanceof TypeError;
    scope.postMessage({ failed: known ? error.message : `The check itself failed: ${error}` });
  }
};
