import { setTimeout as sleep } from "node:timers/promises";
import { readPosition } from "../rules/mod.ts";
import type { SignedCheckpoint } from "./checkpoint_check.ts";
import { groupReceipts } from "./receipt_file.ts";
import { BadReceiptFile, createReceiptSplitter, type RawReceipt } from "./receipt_stream.ts";

/** A public ledger somewhere. */
export interface RemoteLedger {
  /** What its `/api/how-to-verify` says. */
  readonly howToVerify: Readonly<Record<string, unknown>>;
  /** The checkpoint of its Merkle log, from before any receipt was read; undefined: it has no log. */
  readonly checkpoint: SignedCheckpoint | undefined;
  /** How many receipts it said it has, once the first have come. */
  total(): number | undefined;
  /**
   * Its receipts in batches, oldest first, byte for byte. Where it is cut off it goes on from where it was.
   *
   * @throws {LedgerUnreachable} it does not answer any more, or with something else
   */
  batches(): AsyncIterable<readonly Buffer[]>;
}

/** A public ledger can't be read. */
export class LedgerUnreachable extends Error {
  override readonly name = "LedgerUnreachable";
}

const NDJSON = "application/x-ndjson";
const MOST_TRIES = 5;
const PAUSE_MS = 250;

/** Opens a public ledger. @param url without a path @throws {LedgerUnreachable} there is none */
export async function openLedgerUrl(url: string): Promise<RemoteLedger> {
  const base = url.replace(/\/+$/, "");
  const rules = await get(`${base}/api/how-to-verify`, "application/json");
  const howToVerify = await rules.json().catch(() => undefined) as
    | Readonly<Record<string, unknown>>
    | undefined;
  if (typeof howToVerify !== "object") {
    throw new LedgerUnreachable(`${base}/api/how-to-verify does not say how to verify`);
  }
  const checkpoint = await checkpointOf(base, howToVerify);
  let total: number | undefined;
  async function* batches() {
    for (let at = 0, tries = 0; total === undefined || at < total;) {
      const before = at;
      try {
        for await (const batch of groupReceipts(receiptsFrom(base, at, (size) => total ??= size))) {
          yield batch.map(({ bytes }) => bytes);
          // Where some are missing, the last one says how far it has come.
          const claimed = readPosition(batch.at(-1)!.bytes.toString()) ?? 0;
          at = Math.max(at + batch.length, claimed + 1);
        }
        if (at === before) return; // it ends earlier than it said; who verifies tells
      } catch (error) {
        if (error instanceof BadReceiptFile && at === before && tries > 0) {
          throw asAway(base, error);
        }
        tries = at > before ? 1 : tries + 1;
        if (tries >= MOST_TRIES) throw asAway(base, error);
        await sleep(PAUSE_MS * tries);
      }
    }
  }
  return { howToVerify, checkpoint, total: () => total, batches };
}

async function checkpointOf(
  base: string,
  { log }: Readonly<Record<string, unknown>>,
): Promise<SignedCheckpoint | undefined> {
  const { verifier_key: verifierKey } = (log ?? {}) as { verifier_key?: unknown };
  if (typeof verifierKey !== "string") return undefined;
  const response = await get(`${base}/checkpoint`, "text/plain");
  return { note: await response.text(), verifierKey };
}

/** What one request gives: all the rest where the ledger streams, else a page. */
async function* receiptsFrom(
  base: string,
  from: number,
  onTotal: (size: number) => void,
): AsyncGenerator<RawReceipt[]> {
  const response = await get(`${base}/api/export?from=${from}`, `${NDJSON}, application/json`);
  const size = response.headers.get("x-ledger-size");
  if (size !== null) onTotal(Number(size));
  const splitter = createReceiptSplitter(({ total }) => onTotal(Number(total)));
  for await (const chunk of response.body!) yield splitter.push(Buffer.from(chunk));
  if (size === null || Number(size) > from) splitter.end();
}

async function get(url: string, accept: string): Promise<Response> {
  const response = await fetch(url, { headers: { accept } }).catch((error) => {
    throw asAway(url, error);
  });
  if (response.ok) return response;
  await response.body?.cancel();
  throw new LedgerUnreachable(`${url} answers with status ${response.status}`);
}

function asAway(url: string, error: unknown): LedgerUnreachable {
  if (error instanceof LedgerUnreachable) return error;
  const { message, cause } = error as Error;
  const why = cause instanceof Error ? cause.message : message;
  return new LedgerUnreachable(`Cannot read ${url}: ${why}`, { cause: error });
}
