import {
  BadReceiptFile,
  canonicalizeText,
  createReceiptSplitter,
  type KeyProof,
  NotCanonical,
  proveKeys,
  readPosition,
  type TrustedKey,
} from "../../rules/mod.ts";
import { judgeCheckpoint, type Judgement, mergePins, type Trust } from "../../trust/mod.ts";
import { NOBLE } from "../checks/mod.ts";
import { readTrust } from "./trust.ts";

/** The server could not be reached, or returned something unexpected. */
export class FetchError extends Error {
  override readonly name = "NotAnswered";
}

/** Describes why a check could not be made. */
export function describeFailure(error: unknown): string {
  return error instanceof FetchError ? error.message : `The check could not run: ${error}`;
}

const TIMEOUT_MS = 30_000;

/** Fetches text. @param path on this origin @throws {FetchError} */
export async function fetchText(path: string): Promise<string> {
  const bytes = await readBody(path, await request(path), (response) => response.arrayBuffer());
  const text = decodeText(new Uint8Array(bytes));
  if (text === undefined) throw new FetchError(`The server answered ${path} with no UTF-8`);
  return text;
}

/** Decodes UTF-8, and leaves nothing out. @returns undefined: it is none */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return STRICT_UTF_8.decode(bytes);
  } catch {
    return undefined;
  }
}

const STRICT_UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Fetches bytes that may not exist yet. @returns undefined if they do not @throws {FetchError} */
export async function fetchOptional(path: string): Promise<Uint8Array | undefined> {
  const response = await request(path);
  if (response.status === 404 || response.status === 503) return undefined;
  return await readBody(
    path,
    response,
    async (response) => new Uint8Array(await response.arrayBuffer()),
  );
}

async function request(path: string): Promise<Response> {
  try {
    return await fetch(path, { signal: AbortSignal.timeout(TIMEOUT_MS), credentials: "omit" });
  } catch {
    throw new FetchError("The server cannot be reached");
  }
}

async function readBody<T>(
  path: string,
  response: Response,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  if (!response.ok) throw new FetchError(`The server answered ${response.status} to ${path}`);
  try {
    return await read(response);
  } catch {
    throw new FetchError("The connection was lost");
  }
}

/** Records of pages of `/api/export`. */
export interface FetchedRecords {
  /** Byte for byte, oldest first. Missing records are left out. */
  readonly records: readonly string[];
  /** How pages contradict the records within them. */
  readonly contradictions: readonly string[];
}

/**
 * Fetches records.
 *
 * @param to exclusive; at most 1000 after `from`
 * @throws {FetchError}
 */
export async function fetchRecords(from: number, to: number): Promise<FetchedRecords> {
  const pages: FetchedRecords[] = [];
  for (let at = from; at < to;) {
    const page = await fetchPage(at, to); // a page of large receipts ends early
    pages.push(page);
    const { records } = page;
    if (records.length === 0) break;
    const last = readPosition(records.at(-1)!) ?? -1;
    at = Math.max(at + records.length, last + 1);
  }
  return joinPages(pages);
}

const joinPages = (pages: readonly FetchedRecords[]): FetchedRecords => ({
  records: pages.flatMap(({ records }) => records),
  contradictions: pages.flatMap(({ contradictions }) => contradictions),
});

/**
 * Fetches one page, and reads it by the same lines as the command reads a file. If a record can't be read, bisects to find it,
 * so that the others can be.
 */
async function fetchPage(from: number, to: number): Promise<FetchedRecords> {
  const page = await fetchText(`/api/export?from=${from}&to=${to}`);
  if (!page.startsWith(`{"from":${from},`)) {
    throw new FetchError("The server returned something else than an export");
  }
  try {
    return splitPage(page, from);
  } catch (error) {
    if (!(error instanceof BadReceiptFile)) throw error;
    if (error.part === "other") {
      throw new FetchError(`The server’s export can’t be read: ${error.message}`);
    }
    if (to - from === 1) {
      const record = page.slice(page.indexOf("[") + 1, page.lastIndexOf("]"));
      return { records: [record], contradictions: [] };
    }
    const middle = Math.floor((from + to) / 2);
    return joinPages([await fetchPage(from, middle), await fetchPage(middle, to)]);
  }
}

/** @throws {BadReceiptFile} */
function splitPage(page: string, from: number): FetchedRecords {
  const splitter = createReceiptSplitter();
  const records = splitter.push(new TextEncoder().encode(page))
    .map(({ bytes }) => STRICT_UTF_8.decode(bytes));
  const { total = Infinity, contradiction } = splitter.end();
  if (splitter.isOfLines()) throw new BadReceiptFile("It has no receipts");
  const shown = from + records.length;
  const found = [
    contradiction,
    total < shown ? `It says that the ledger has ${total} receipts, and shows ${shown}` : undefined,
  ].filter((text) => text !== undefined);
  return {
    records,
    contradictions: found.map((text) =>
      `The server’s page from #${from} contradicts itself: ${text}`
    ),
  };
}

/** Keys and facts that receipts are checked against. */
export interface CheckKeys {
  /** In the order in which they became trusted: the pinned ones, else those that the server publishes. */
  readonly keys: readonly TrustedKey[];
  /** Proof of them by the receipts that introduce them. */
  readonly keyProof: KeyProof;
  /** Key of the Merkle log as the server names it, as `name+id+key`; undefined if it names none. */
  readonly verifierKey: string | undefined;
  readonly trust: Trust;
}

/** Fetches the published keys, which can't replace pinned ones, and the receipts that introduce them. @throws {FetchError} */
export async function fetchKeys(): Promise<CheckKeys> {
  const trust = readTrust();
  const rules = Object(parseJson(await fetchText("/api/how-to-verify")));
  const verifierKey = Object(rules.log).verifier_key;
  const hasPins = trust.ledgerKeys.length > 0;
  const published = hasPins && rules.keys === undefined ? [] : parseKeys(rules);
  const keys = mergePins(trust, published);
  const { total } = await fetchClaim();
  const read = async (position: number) => (await fetchRecords(position, position + 1)).records[0];
  return {
    keys,
    keyProof: await proveKeys(keys, total, read, NOBLE),
    verifierKey: typeof verifierKey === "string" ? verifierKey : undefined,
    trust,
  };
}

/** The server's checkpoint, and whether it holds. */
export interface JudgedCheckpoint {
  readonly note: string | undefined;
  readonly judgement: Judgement;
}

/** Fetches and judges the checkpoint, if a key of the log is pinned. @throws {FetchError} */
export async function fetchCheckpoint(trust: Trust): Promise<JudgedCheckpoint | undefined> {
  if (!trust.logKey) return undefined;
  const response = await request("/checkpoint");
  const text = await response.text().catch(() => undefined);
  const note = response.ok ? text : undefined;
  return { note, judgement: judgeCheckpoint(trust, { note, verifierKey: undefined }, NOBLE) };
}

function parseKeys({ keys }: Record<string, unknown>): TrustedKey[] {
  if (!Array.isArray(keys)) throw new FetchError("The server published no keys");
  return keys.map((key) => {
    const { public_key, from_position, recovery_key } = Object(key);
    if (typeof public_key !== "string" || !Number.isSafeInteger(from_position)) {
      throw new FetchError("The server published an invalid key");
    }
    const named = { publicKey: public_key, fromPosition: from_position };
    return typeof recovery_key === "string" ? { ...named, recoveryKey: recovery_key } : named;
  });
}

/** The server's report on the chain. It is not trusted. */
export interface ServerClaim {
  readonly total: number;
  readonly lastHash: string;
  readonly intact: boolean | null;
  readonly breaks: number;
  readonly verifiedThrough: number;
}

/** Fetches the size of the chain, and the server's verdict. @throws {FetchError} */
export async function fetchClaim(): Promise<ServerClaim> {
  const stats = Object(parseJson(await fetchText("/api/stats")));
  const { total_receipts: total, last_hash: lastHash, chain_intact: intact } = stats;
  if (!Number.isSafeInteger(total) || total < 0 || typeof lastHash !== "string") {
    throw new FetchError("The server does not report the number of receipts");
  }
  return {
    total,
    lastHash,
    intact: typeof intact === "boolean" ? intact : null,
    breaks: Number(stats.breaks ?? 0),
    verifiedThrough: Number(stats.verified_through ?? -1),
  };
}

/** Parses a response. @throws {FetchError} it is not JSON, or names something twice */
export function parseJson(json: string): unknown {
  try {
    canonicalizeText(json);
    return JSON.parse(json);
  } catch (error) {
    const reason = error instanceof NotCanonical ? `: ${error.message}` : "";
    throw new FetchError(`The server returned something else than JSON${reason}`);
  }
}
