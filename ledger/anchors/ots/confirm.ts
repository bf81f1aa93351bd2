import { withTimeout } from "./_http.ts";
import { BadHeader, NotConfirmed, SourceFailed } from "./errors.ts";
import { type BlockHeader, checkHeader, type Network, parseHeader } from "./header.ts";
import type { BitcoinSource } from "./sources.ts";

/** Confirmations that a block needs before it counts; the block itself is the first. */
const CONFIRMATIONS = 6;

/** Limit for all requests to one source about one block. */
const BLOCK_TIMEOUT_MS = 30_000;

/** A block that the sources agree on. */
export interface ConfirmedBlock {
  readonly header: BlockHeader;
  /** Number of sources that returned it. */
  readonly sources: number;
}

/**
 * Finds the block at a height. All sources that respond must return the same header (at least two of them if two are
 * configured), each with five linked blocks on top, and all headers must have the work that the network required.
 *
 * @throws {NotConfirmed}
 */
export async function confirmBlock(
  sources: readonly BitcoinSource[],
  height: number,
  network: Network,
): Promise<ConfirmedBlock> {
  if (sources.length === 0) throw new NotConfirmed("No source of block headers is configured");
  const answers = await Promise.allSettled(
    sources.map((source) =>
      withTimeout(BLOCK_TIMEOUT_MS, (limit) => fetchBuriedHeader(source, height, network, limit))
    ),
  );
  const headers = answers.flatMap((answer) => answer.status === "fulfilled" ? [answer.value] : []);
  const failures = answers.flatMap((answer) =>
    answer.status === "rejected" ? [failureMessage(answer.reason)] : []
  );
  const [header] = headers;
  if (!header) throw new NotConfirmed(failures.join("; "));
  if (headers.some(({ hash }) => hash !== header.hash)) {
    const hashes = [...new Set(headers.map(({ hash }) => hash))].join(" and ");
    throw new NotConfirmed(`The sources disagree about block ${height}: ${hashes}`);
  }
  const needed = Math.min(2, sources.length);
  if (headers.length >= needed) return { header, sources: headers.length };
  throw new NotConfirmed(
    `Only one source responded about block ${height}: ${failures.join("; ")}`,
  );
}

/** Returns the message of a source's failure; throws any other error. */
function failureMessage(error: unknown): string {
  if (error instanceof SourceFailed) return error.message;
  throw error;
}

/** Fetches the header of a block, and checks it and the headers on top of it. */
async function fetchBuriedHeader(
  source: BitcoinSource,
  height: number,
  network: Network,
  limit: AbortSignal,
): Promise<BlockHeader> {
  const tip = await source.tip(limit);
  const confirmations = tip - height + 1;
  if (confirmations < CONFIRMATIONS) {
    throw new SourceFailed(
      source.name,
      `block ${height} has ${Math.max(0, confirmations)} confirmations of ${CONFIRMATIONS}`,
    );
  }
  const chain: BlockHeader[] = [];
  for (let at = height; at < height + CONFIRMATIONS; at++) {
    const header = await fetchHeader(source, at, network, limit);
    const previous = chain.at(-1);
    if (previous && header.previousHash !== previous.hash) {
      throw new SourceFailed(source.name, `its block ${at} is not built on its block ${at - 1}`);
    }
    chain.push(header);
  }
  return chain[0]!;
}

async function fetchHeader(
  source: BitcoinSource,
  height: number,
  network: Network,
  limit: AbortSignal,
): Promise<BlockHeader> {
  const bytes = await source.header(height, limit);
  try {
    const header = parseHeader(bytes);
    checkHeader(header, height, network);
    return header;
  } catch (error) {
    if (!(error instanceof BadHeader)) throw error;
    throw new SourceFailed(source.name, `its block ${height}: ${error.message}`);
  }
}
