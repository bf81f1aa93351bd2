import { setTimeout as sleep } from "node:timers/promises";
import {
  BadReceiptFile,
  createReceiptSplitter,
  type Envelope,
  NotCanonical,
  parseObject,
  type RawReceipt,
  readPosition,
} from "../rules/mod.ts";
import { selectTrustedKeys } from "../crypto/mod.ts";
import { NOTHING_PINNED, type ShownCheckpoint, type Trust } from "../trust/mod.ts";
import { asBuffer, groupReceipts } from "./receipt_file.ts";
import type { LedgerSource } from "./verify_source.ts";

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
class LedgerUnreachable extends Error {
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
  const named = await readNamed(`${base}/api/how-to-verify`);
  const checkpoint = await readCheckpoint(base, named, trust);
  let total: number | undefined;
  let contradiction: string | undefined;
  function addPage(page: Pick<Envelope, "total" | "contradiction">): void {
    total = page.total ?? total;
    contradiction ??= page.contradiction;
  }
  async function* batches() {
    for (let at = 0, attempts = 0; total === undefined || at < total;) {
      const before = at;
      try {
        for await (const batch of groupReceipts(readReceipts(base, at, addPage))) {
          const texts = batch.map(({ bytes }) => asBuffer(bytes));
          yield texts;
          // Where some are missing, the position that the last one claims is higher than the count.
          const claimed = readPosition(texts.at(-1)!.toString()) ?? 0;
          at = Math.max(at + batch.length, claimed + 1);
        }
        if (at === before) return; // it ends earlier than it said, which the verifier reports
      } catch (error) {
        // Only an input that was cut off may be whole the next time, and not one with something behind its receipts.
        const isCut = !(error instanceof BadReceiptFile) || error.part === "end" && attempts === 0;
        const isOver = total !== undefined && at >= total;
        const isBad = error instanceof BadReceiptFile && (isOver || error.part !== "end");
        if (!isCut && at === before || isBad) throw asUnreachable(base, error);
        attempts = at > before ? 1 : attempts + 1;
        if (attempts >= MAX_ATTEMPTS) throw asUnreachable(base, error);
        await sleep(RETRY_MS * attempts);
      }
    }
  }
  const keys = selectTrustedKeys(named, []);
  return {
    named,
    keys,
    checkpoint,
    total: () => total,
    contradiction: () => contradiction,
    batches,
  };
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

/** @throws {LedgerUnreachable} the ledger says nothing, or something twice */
async function readNamed(url: string): Promise<Readonly<Record<string, unknown>>> {
  const response = await get(url, "application/json");
  try {
    return parseObject(await response.text());
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw asUnreachable(url, error);
    throw new LedgerUnreachable(`${url} does not say how to verify: ${error.message}`);
  }
}

/** Reads the receipts of one response: all the rest, one a line, where the ledger streams, else a page. */
async function* readReceipts(
  base: string,
  from: number,
  onPage: (page: Pick<Envelope, "total" | "contradiction">) => void,
): AsyncGenerator<RawReceipt[]> {
  const response = await get(`${base}/api/export?from=${from}`, `${NDJSON}, application/json`);
  const size = response.headers.get("x-ledger-size");
  if (size !== null) onPage({ total: readSize(size) });
  const splitter = createReceiptSplitter();
  let isEmpty = true;
  for await (const chunk of response.body!) {
    isEmpty = false;
    yield splitter.push(chunk);
  }
  if (size !== null && isEmpty) return;
  const page = splitter.end();
  const { from: begin = from, total } = page;
  const isExpected = size === null ? total !== undefined && begin === from : splitter.isOfLines();
  if (!isExpected) {
    throw new BadReceiptFile("Expected one receipt a line, or a page that names its total");
  }
  onPage(page);
}

/** @throws {BadReceiptFile} it is no number of receipts */
function readSize(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new BadReceiptFile(`It says that it has ${text} receipts`);
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
