/** A worker thread that runs checks, so that the page stays responsive. */
import {
  type AnchorResponse,
  checkAnchor,
  type CheckedRange,
  checkFile,
  checkInclusion,
  checkListed,
  checkRange,
  checkReceipt,
  type FileReport,
  type InclusionResponse,
  joinRanges,
  type ListedReceipt,
  NOBLE,
  type Step,
} from "../checks/mod.ts";
import { listProvenKeys } from "../../rules/mod.ts";
import {
  type CheckKeys,
  describeFailure,
  FetchError,
  fetchOptional,
  fetchRecords,
  fetchText,
  parseJson,
} from "./fetch.ts";

/** A task of a worker. */
export type Task =
  | {
    readonly do: "range";
    readonly from: number;
    readonly to: number;
    readonly wantsLeaves: boolean;
  }
  | { readonly do: "receipt"; readonly position: number; readonly asked: string | undefined }
  | { readonly do: "list"; readonly positions: readonly number[] }
  | { readonly do: "file"; readonly bytes: Uint8Array };

/** A task, with what to check against. */
export interface Job extends CheckKeys {
  readonly task: Task;
}

/** The result of a job; `failed` says why nothing was checked. */
export type Outcome =
  | { readonly range: CheckedRange }
  | { readonly steps: readonly Step[] }
  | { readonly list: readonly ListedReceipt[] }
  | { readonly report: FileReport }
  | { readonly failed: string };

/** The worker's side of the channel, which TypeScript's types of the DOM lack. */
interface Scope {
  onmessage: (event: MessageEvent) => void;
  postMessage(outcome: Outcome): void;
}

const scope = globalThis as unknown as Scope;

scope.onmessage = async ({ data }) => scope.postMessage(await run(data as Job));

async function run({ task, ...against }: Job): Promise<Outcome> {
  const { keys, keyProof, trust } = against;
  try {
    switch (task.do) {
      case "range": {
        const { records, contradictions } = await fetchRecords(
          Math.max(0, task.from - 1),
          task.to,
        );
        return { range: checkRange(records, { ...task, contradictions }, keys, NOBLE) };
      }
      case "receipt":
        return { steps: await runReceiptChecks(task, against) };
      case "list":
        return { list: await runListChecks(task.positions, against) };
      case "file":
        return { report: checkFile(task.bytes, listProvenKeys(keys, keyProof), NOBLE, trust) };
    }
  } catch (error) {
    return { failed: error instanceof TypeError ? error.message : describeFailure(error) };
  }
}

/** Checks receipts of a list, those next to each other at once. @returns in the order of the positions */
async function runListChecks(
  positions: readonly number[],
  { keys, keyProof }: CheckKeys,
): Promise<ListedReceipt[]> {
  const trusted = listProvenKeys(keys, keyProof);
  const spans = joinRanges(positions.map((position) => [position, position + 1] as const));
  const listed = new Map<number, ListedReceipt>();
  await Promise.all(spans.map(async ([from, to]) => {
    const { records, contradictions } = await fetchRecords(Math.max(0, from - 1), to);
    for (const one of checkListed(records, { from, to, contradictions }, trusted, NOBLE)) {
      listed.set(one.receipt.position, one);
    }
  }));
  return positions.flatMap((position) => listed.get(position) ?? []);
}

async function runReceiptChecks(
  { position, asked }: { readonly position: number; readonly asked: string | undefined },
  against: CheckKeys,
): Promise<Step[]> {
  const trusted = listProvenKeys(against.keys, against.keyProof);
  const from = Math.max(0, position - 1);
  const { records, contradictions } = await fetchRecords(from, position + 2);
  const record = records[position - from];
  if (record === undefined) throw new FetchError("The server did not return the record");
  const before = position === 0 ? undefined : records[0];
  const after = records[position - from + 1];
  const steps = [
    ...checkReceipt({ asked, position, record, before, after }, trusted, NOBLE),
    ...contradictions.map((text) => ({
      name: "Export",
      state: "fail" as const,
      text,
      compared: [],
    })),
  ];
  if (asked === undefined) return steps;
  const receipt = { position, id: asked, record };
  return [
    ...steps,
    ...await Promise.all([
      tryCheck(
        "Merkle log",
        async () => checkInclusion(receipt, await fetchInclusion(asked), against, NOBLE),
      ),
      tryCheck("Bitcoin", async () => checkAnchor(record, await fetchAnchor(asked), NOBLE)),
    ]),
  ];
}

/** Runs a check. Failing to get its data, or to make sense of it, must not hide the other checks. */
async function tryCheck(name: string, check: () => Promise<Step>): Promise<Step> {
  try {
    return await check();
  } catch (error) {
    return { name, state: "not_checked", text: describeFailure(error), compared: [] };
  }
}

async function fetchInclusion(id: string): Promise<InclusionResponse | undefined> {
  const bytes = await fetchOptional(`/api/log/inclusion/${encodeURIComponent(id)}`);
  if (!bytes) return undefined;
  const { tree_size, hashes, checkpoint } = parseJson(textOf(bytes)) as Record<string, unknown>;
  const isList = Array.isArray(hashes) && hashes.every((hash) => /^[0-9a-f]{64}$/.test(hash));
  if (!Number.isSafeInteger(tree_size) || !isList || typeof checkpoint !== "string") {
    throw new FetchError("The server returned something else than a proof of inclusion");
  }
  return { tree_size: tree_size as number, hashes, checkpoint };
}

/** Fetches the proof, and the block that it is said to end in. @returns undefined if there is no proof yet */
async function fetchAnchor(id: string): Promise<AnchorResponse | undefined> {
  const verified = parseJson(await fetchText(`/api/verify/${encodeURIComponent(id)}`));
  const { anchor } = verified as { anchor?: Record<string, unknown> };
  if (!anchor?.proof_url) return undefined;
  const { block_height, block_header } = anchor;
  const proof = await fetchOptional(`/api/receipt/${encodeURIComponent(id)}.ots`);
  if (!proof) return undefined;
  const isHeader = typeof block_header === "string" && /^[0-9a-f]{160}$/.test(block_header);
  return {
    proof,
    height: Number.isSafeInteger(block_height) ? block_height as number : undefined,
    header: isHeader ? NOBLE.fromHex(block_header) : undefined,
  };
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
