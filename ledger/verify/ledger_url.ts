import { setTimeout as sleep } from "node:timers/promises";
import { readPosition } from "../rules/mod.ts";
import { selectTrustedKeys } from "../crypto/mod.ts";
import { NOTHING_PINNED, type ShownCheckpoint, type Trust } from "../trust/mod.ts";
import { groupReceipts } from "./receipt_file.ts";
import type { LedgerSource } from "./verify_source.ts";
import { BadReceiptFile, createReceiptSplitter, type RawReceipt } from "./receipt_stream.ts";

/** A public ledger that is read over HTTP: `named` is the answer of its `/api/how-to-verify`. */
export interface RemoteLedger extends LedgerSource {
  /**
   * Reads its receipts in batches, oldest first, byte for byte. After an interruption it continues where it was.
   *
   * @throws {LedgerUnreachable} it does not answer any more, or not with receipts
   */
  batches(): AsyncIterable<readonly Buffer[]>;
}

/** A public ledger can't be read. */
export class LedgerUnreachable extends Error {
  override readonly name = "LedgerUnreachable";
}

const NDJSON = "application/x-ndjson";
const MAX_ATTEMPTS = 5;
const RETRY_MS = 250;

/**
 * Opens a public ledger.
 *
 * @param url without a path
 * @param trust where it pins a key of the log, the ledger is asked for a checkpoint even if it names no log
 * @throws {LedgerUnreachable} no ledger answers there
 * @throws {BadPublicKey} it names a key that is none
 */
export async function openLedgerUrl(
  url: string,
  trust: Trust = NOTHING_PINNED,
): Promise<RemoteLedger> {
  const base = url.replace(/\/+$/, "");
  const response = await get(`${base}/api/how-to-verify`, "application/json");
  const named = await response.json().catch(() => undefined) as
    | Readonly<Record<string, unknown>>
    | undefined;
  if (typeof named !== "object" || named === null) {
    throw new LedgerUnreachable(`${base}/api/how-to-verify does not say how to verify`);
  }
  const checkpoint = await readCheckpoint(base, named, trust);
  let total: number | undefined;
  async function* batches() {
    for (let at = 0, attempts = 0; total === undefined || at < total;) {
      const before = at;
      try {
        for await (const batch of groupReceipts(readReceipts(base, at, (size) => total = size))) {
          yield batch.map(({ bytes }) => bytes);
          // Where some are missing, the position that the last one claims is higher than the count.
          const claimed = readPosition(batch.at(-1)!.bytes.toString()) ?? 0;
          at = Math.max(at + batch.length, claimed + 1);
        }
        if (at === before) return; // it ends earlier than it said, which the verifier reports
      } catch (error) {
        if (error instanceof BadReceiptFile && at === before && attempts > 0) {
          throw asUnreachable(base, error);
        }
        attempts = at > before ? 1 : attempts + 1;
        if (attempts >= MAX_ATTEMPTS) throw asUnreachable(base, error);
        await sleep(RETRY_MS * attempts);
      }
    }
  }
  const keys = selectTrustedKeys(named, []);
  return { named, keys, checkpoint, total: () => total, isTotalExact: true, batches };
}

async function readCheckpoint(
  base: string,
  { log }: Readonly<Record<string, unknown>>,
  { logKey }: Trust,
): Promise<ShownCheckpoint> {
  const { verifier_key: named } = Object(log);
  const verifierKey = typeof named === "string" ? named : undefined;
  if (verifierKey === undefined && !logKey) return { note: undefined, verifierKey };
  const response = await request(`${base}/checkpoint`, "text/plain");
  const text = await response.text();
  return { note: response.ok ? text : undefined, verifierKey };
}

/** Reads the receipts of one response: all the rest where the ledger streams, else a page. */
async function* readReceipts(
  base: string,
  from: number,
  onTotal: (size: number) => void,
): AsyncGenerator<RawReceipt[]> {
  const response = await get(`${base}/api/export?from=${from}`, `${NDJSON}, application/json`);
  const size = response.headers.get("x-ledger-size");
  if (size !== null) onTotal(Number(size));
  const splitter = createReceiptSplitter(({ total }) => onTotal(Number(total)));
  let isEmpty = true;
  for await (const chunk of response.body!) {
    isEmpty = false;
    yield splitter.push(Buffer.from(chunk));
  }
  if (size === null || !isEmpty) splitter.end();
}

async function request(url: string, accept: string): Promise<Response> {
  return await fetch(url, { headers: { accept } }).catch((error) => {
    throw asUnreachable(url, error);
  });
}

async function get(url: string, accept: string): Promise<Response> {
  const response = await request(url, accept);
  if (response.ok) return response;
  await response.body?.cancel();
  throw new LedgerUnreachable(`${url} answers with status ${response.status}`);
}

function asUnreachable(url: string, error: unknown): LedgerUnreachable {
  if (error instanceof LedgerUnreachable) return error;
  const { message, cause } = error as Error;
  const why = cause instanceof Error ? cause.message : message;
  return new LedgerUnreachable(`Cannot read ${url}: ${why}`, { cause: error });
}
