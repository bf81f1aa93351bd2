/** Checks in a thread of its own, so that the page stays quick however much there is to check. */
import type { TrustedKey } from "../../rules.ts";
import { checkRange, type Chunk } from "../check.ts";
import { type FileReport, reportOf } from "../file.ts";
import { type Step, stepsOf } from "../steps.ts";
import { fetchRecords, NotAnswered } from "./export.ts";
import { NOBLE } from "./primitives.ts";

/** What a worker is asked for. */
export type Task =
  | { readonly do: "range"; readonly from: number; readonly to: number }
  | { readonly do: "receipt"; readonly position: number; readonly asked: string | undefined }
  | { readonly do: "file"; readonly text: string };

/** A task with the keys to check by. */
export interface Job {
  readonly task: Task;
  readonly keys: readonly TrustedKey[];
}

/** What came of a job; `failed`: nothing was checked, and why. */
export type Outcome =
  | { readonly chunk: Chunk }
  | { readonly steps: readonly Step[] }
  | { readonly report: FileReport }
  | { readonly failed: string };

/** The worker's side of the channel, which the types of a page do not know. */
interface Scope {
  onmessage: (event: MessageEvent) => void;
  postMessage(outcome: Outcome): void;
}

const scope = globalThis as unknown as Scope;

scope.onmessage = async ({ data }) => scope.postMessage(await outcomeOf(data as Job));

async function outcomeOf({ task, keys }: Job): Promise<Outcome> {
  try {
    switch (task.do) {
      case "range": {
        const records = await fetchRecords(Math.max(0, task.from - 1), task.to);
        return { chunk: checkRange(records, task, keys, NOBLE) };
      }
      case "receipt":
        return { steps: await checkOne(task.position, task.asked, keys) };
      case "file":
        return { report: reportOf(task.text, keys, NOBLE) };
    }
  } catch (error) {
    const known = error instanceof NotAnswered || error instanceof TypeError;
    return { failed: known ? error.message : `The check itself failed: ${error}` };
  }
}

async function checkOne(position: number, asked: string | undefined, keys: readonly TrustedKey[]) {
  const from = Math.max(0, position - 1);
  const records = await fetchRecords(from, position + 2);
  const record = records[position - from];
  if (record === undefined) throw new NotAnswered("The server did not give the record");
  const exhibit = {
    ...{ asked, position, record, after: records[position - from + 1] },
    before: position === 0 ? undefined : records[0],
  };
  return stepsOf(exhibit, keys, NOBLE);
}
