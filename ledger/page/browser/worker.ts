/** Checks in a thread of its own, so that the page stays quick however much there is to check. */
import { checkRange, type Chunk } from "../check.ts";
import { type FileReport, reportOf } from "../file.ts";
import { type Step, stepsOf } from "../steps.ts";
import { type AnchorAnswer, anchorStep, type InclusionAnswer, inclusionStep } from "../proofs.ts";
import { ask, askFor, fetchRecords, NotAnswered, parseJson, type Published } from "./export.ts";
import { NOBLE } from "./primitives.ts";

/** What a worker is asked for. */
export type Task =
  | { readonly do: "range"; readonly from: number; readonly to: number }
  | { readonly do: "receipt"; readonly position: number; readonly asked: string | undefined }
  | { readonly do: "file"; readonly text: string };

/** A task with the keys to check by. */
export interface Job extends Published {
  readonly task: Task;
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

async function outcomeOf({ task, keys, logKey }: Job): Promise<Outcome> {
  try {
    switch (task.do) {
      case "range": {
        const records = await fetchRecords(Math.max(0, task.from - 1), task.to);
        return { chunk: checkRange(records, task, keys, NOBLE) };
      }
      case "receipt":
        return { steps: await checkOne(task, { keys, logKey }) };
      case "file":
        return { report: reportOf(task.text, keys, NOBLE) };
    }
  } catch (error) {
    const known = error instanceof NotAnswered || error instanceof TypeError;
    return { failed: known ? error.message : `The check itself failed: ${error}` };
  }
}

async function checkOne(
  { position, asked }: { readonly position: number; readonly asked: string | undefined },
  { keys, logKey }: Published,
): Promise<Step[]> {
  const from = Math.max(0, position - 1);
  const records = await fetchRecords(from, position + 2);
  const record = records[position - from];
  if (record === undefined) throw new NotAnswered("The server did not give the record");
  const exhibit = {
    ...{ asked, position, record, after: records[position - from + 1] },
    before: position === 0 ? undefined : records[0],
  };
  const steps = stepsOf(exhibit, keys, NOBLE);
  if (asked === undefined) return steps;
  const proven = { position, id: asked, record };
  return [
    ...steps,
    ...await Promise.all([
      orNotChecked(
        "Merkle log",
        async () => inclusionStep(proven, await fetchInclusion(asked), logKey, NOBLE),
      ),
      orNotChecked("Bitcoin", async () => anchorStep(record, await fetchAnchor(asked), NOBLE)),
    ]),
  ];
}

/** What can't be asked for does not keep the other checks from being shown. */
async function orNotChecked(name: string, check: () => Promise<Step>): Promise<Step> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof NotAnswered)) throw error;
    return { name, state: "not_checked", text: error.message, compared: [] };
  }
}

async function fetchInclusion(id: string): Promise<InclusionAnswer | undefined> {
  const bytes = await askFor(`/api/log/inclusion/${encodeURIComponent(id)}`);
  if (!bytes) return undefined;
  const { tree_size, hashes, checkpoint } = parseJson(textOf(bytes)) as Record<string, unknown>;
  const isList = Array.isArray(hashes) && hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash));
  if (!Number.isSafeInteger(tree_size) || !isList || typeof checkpoint !== "string") {
    throw new NotAnswered("The server gave something else than a proof of inclusion");
  }
  return { tree_size: tree_size as number, hashes, checkpoint };
}

/** The proof, and the header of the block that it is said to end in; undefined: the server has none to give. */
async function fetchAnchor(id: string): Promise<AnchorAnswer | undefined> {
  const said = parseJson(await ask(`/api/verify/${encodeURIComponent(id)}`));
  const { anchor } = said as { anchor?: Record<string, unknown> };
  if (!anchor?.proof_url) return undefined;
  const { block_height, block_header } = anchor;
  const proof = await askFor(`/api/receipt/${encodeURIComponent(id)}.ots`);
  if (!proof) return undefined;
  const isHeader = typeof block_header === "string" && /^[0-9a-f]{160}$/.test(block_header);
  return {
    proof,
    height: Number.isSafeInteger(block_height) ? block_height as number : undefined,
    header: isHeader ? NOBLE.fromHex(block_header) : undefined,
  };
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
