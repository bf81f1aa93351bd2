import { readPosition, type TrustedKey } from "../../rules/mod.ts";
import { pieces } from "../records.ts";

/** The server could not be asked, or gave something else than what was asked for. */
export class NotAnswered extends Error {
  override readonly name = "NotAnswered";
}

const TIMEOUT_MS = 30_000;

/** Asks the server. @param path on this origin @throws {NotAnswered} */
export async function ask(path: string): Promise<string> {
  return await read(path, await answerOf(path), (answer) => answer.text());
}

/** Asks for what may not be there (yet). @returns undefined: it is not @throws {NotAnswered} */
export async function askFor(path: string): Promise<Uint8Array | undefined> {
  const answer = await answerOf(path);
  if (answer.status === 404 || answer.status === 503) return undefined;
  return await read(path, answer, async (answer) => new Uint8Array(await answer.arrayBuffer()));
}

async function answerOf(path: string): Promise<Response> {
  try {
    return await fetch(path, { signal: AbortSignal.timeout(TIMEOUT_MS), credentials: "omit" });
  } catch {
    throw new NotAnswered("The server can’t be reached");
  }
}

async function read<T>(path: string, answer: Response, body: (answer: Response) => Promise<T>) {
  if (!answer.ok) throw new NotAnswered(`The server answered ${answer.status} to ${path}`);
  try {
    return await body(answer);
  } catch {
    throw new NotAnswered("The connection broke off");
  }
}

/**
 * Fetches records as they were exported, byte for byte: fewer than asked for where some are not there.
 *
 * @param to exclusive; at most 1000 after `from`
 * @throws {NotAnswered}
 */
export async function fetchRecords(from: number, to: number): Promise<string[]> {
  const records: string[] = [];
  for (let at = from; at < to;) {
    const found = await fetchPage(at, to); // ends early where receipts are large
    if (found.length === 0) break;
    records.push(...found);
    const last = readPosition(found.at(-1)!) ?? -1;
    at = Math.max(at + found.length, last + 1);
  }
  return records;
}

/** Fetches one page. Where a record is no JSON, it is found by halves, so that the others are seen as they are. */
async function fetchPage(from: number, to: number): Promise<string[]> {
  const page = await ask(`/api/export?from=${from}&to=${to}`);
  const start = page.indexOf(RECEIPTS);
  if (start < 0 || !page.startsWith(`{"from":${from},`)) {
    throw new NotAnswered("The server gave something else than an export");
  }
  const receipts = page.slice(start + RECEIPTS.length - 1, page.lastIndexOf("}"));
  if (isJson(receipts)) return pieces(receipts);
  if (to - from === 1) return [receipts.slice(1, -1)];
  const middle = Math.floor((from + to) / 2);
  return [...await fetchPage(from, middle), ...await fetchPage(middle, to)];
}

const RECEIPTS = '"receipts":[';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Keys that are published. */
export interface Published {
  /** In the order in which they came to be trusted. */
  readonly keys: readonly TrustedKey[];
  /** Of the Merkle log, as `name+id+key`; undefined: there is no log. */
  readonly logKey: string | undefined;
}

/** Fetches the published keys. @throws {NotAnswered} */
export async function fetchPublished(): Promise<Published> {
  const rules = parseJson(await ask("/api/how-to-verify")) as Record<string, unknown>;
  const logKey = (rules.log as Record<string, unknown> | undefined)?.verifier_key;
  return {
    keys: keysOf(rules),
    logKey: typeof logKey === "string" ? logKey : undefined,
  };
}

function keysOf({ keys }: Record<string, unknown>): TrustedKey[] {
  if (!Array.isArray(keys)) throw new NotAnswered("The server published no keys");
  return keys.map(({ public_key, from_position }) => {
    if (typeof public_key !== "string" || !Number.isSafeInteger(from_position)) {
      throw new NotAnswered("The server published something that is no key");
    }
    return { publicKey: public_key, fromPosition: from_position };
  });
}

/** What the server says of the chain; nothing here believes it. */
export interface Claim {
  readonly total: number;
  readonly lastHash: string;
  readonly intact: boolean | null;
  readonly breaks: number;
  readonly verifiedThrough: number;
}

/** Fetches how long the chain is, and what the server says of it. @throws {NotAnswered} */
export async function fetchClaim(): Promise<Claim> {
  const stats = parseJson(await ask("/api/stats")) as Record<string, unknown>;
  const { total_receipts: total, last_hash: lastHash, chain_intact: intact } = stats;
  if (!Number.isSafeInteger(total) || typeof lastHash !== "string") {
    throw new NotAnswered("The server does not say how many receipts there are");
  }
  return {
    total: total as number,
    lastHash,
    intact: typeof intact === "boolean" ? intact : null,
    breaks: Number(stats.breaks ?? 0),
    verifiedThrough: Number(stats.verified_through ?? -1),
  };
}

/** @throws {NotAnswered} */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new NotAnswered("The server gave something that is no JSON");
  }
}
