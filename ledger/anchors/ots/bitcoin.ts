import { fromHex } from "./_bytes.ts";
import { within } from "./_within.ts";
import { BadHeader, SourceFailed } from "./errors.ts";
import { type BlockHeader, checkHeader, type Network, parseHeader } from "./header.ts";
import { guardedFetch } from "./_http.ts";

/** Blocks that must stand, the block itself included, before it counts. */
export const CONFIRMATIONS = 6;

/** Something that knows the block chain, and is believed only as far as headers prove themselves. */
export interface BitcoinSource {
  /** What messages call it: its kind and number, never its address. */
  readonly name: string;
  /** Height of the newest block. @throws {SourceFailed} */
  tip(signal?: AbortSignal): Promise<number>;
  /** Header of the block at a height, 80 bytes. @throws {SourceFailed} */
  header(height: number, signal?: AbortSignal): Promise<Uint8Array>;
}

/** For one question, and for all of them about a block. */
const TIMEOUT_MS = 10_000;
const BLOCK_TIMEOUT_MS = 30_000;
const MAX_ANSWER = 64 * 1024;
const HEADER = /^[0-9a-f]{160}$/i;
const HASH = /^[0-9a-f]{64}$/i;

/**
 * Opens sources by their addresses.
 *
 * @param addresses `https://…` of an Esplora-style endpoint, or `core+http://user:password@host:8332` of Bitcoin
 * Core's RPC
 */
export function openBitcoinSources(addresses: readonly string[]): BitcoinSource[] {
  return addresses.map((address, i) =>
    address.startsWith("core+")
      ? core(`Bitcoin source ${i + 1}`, address.slice("core+".length))
      : esplora(`Bitcoin source ${i + 1}`, address.replace(/\/$/, ""))
  );
}

/** @see https://github.com/Blockstream/esplora/blob/master/API.md */
function esplora(name: string, address: string): BitcoinSource {
  const { url, headers } = withoutCredentials(address);
  const get = async (path: string, signal?: AbortSignal) => {
    const { status, bytes } = await guardedFetch(`${url.replace(/\/$/, "")}${path}`, {
      ...{ source: name, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER, signal },
    });
    if (status !== 200) throw new SourceFailed(name, `status ${status} to GET ${path}`);
    return new TextDecoder().decode(bytes).trim();
  };
  return {
    name,
    tip: async (signal) => {
      const text = await get("/blocks/tip/height", signal);
      return heightOf(name, /^\d+$/.test(text) ? Number(text) : undefined);
    },
    header: async (height, signal) => {
      const hash = await get(`/block-height/${height}`, signal);
      if (!HASH.test(hash)) throw new SourceFailed(name, "it gave no block hash");
      return headerOf(name, await get(`/block/${hash}/header`, signal));
    },
  };
}

/** @see https://developer.bitcoin.org/reference/rpc/ */
function core(name: string, address: string): BitcoinSource {
  const { url, headers } = withoutCredentials(address);
  const call = async (signal: AbortSignal | undefined, method: string, ...params: unknown[]) => {
    const { status, bytes } = await guardedFetch(url, {
      ...{ source: name, timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER, signal },
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "1.0", id: "sealoop", method, params }),
    });
    if (status !== 200) throw new SourceFailed(name, `status ${status} to ${method}`);
    try {
      return (JSON.parse(new TextDecoder().decode(bytes)) as { result?: unknown } | null)?.result;
    } catch {
      throw new SourceFailed(name, `no JSON to ${method}`);
    }
  };
  return {
    name,
    tip: async (signal) => heightOf(name, await call(signal, "getblockcount")),
    header: async (height, signal) => {
      const hash = await call(signal, "getblockhash", height);
      return headerOf(name, await call(signal, "getblockheader", hash, false));
    },
  };
}

function withoutCredentials(address: string) {
  const url = new URL(address);
  const { username, password } = url;
  url.username = url.password = "";
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers: Record<string, string> = username || password
    ? { authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(pair)))}` }
    : {};
  return { url: url.href, headers };
}

function heightOf(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new SourceFailed(name, "it gave no height");
}

function headerOf(name: string, value: unknown): Uint8Array {
  if (typeof value === "string" && HEADER.test(value)) return fromHex(value);
  throw new SourceFailed(name, "it gave no header of 80 bytes as hex");
}

/** What sources say of a block, where they agree. */
export interface ConfirmedBlock {
  readonly header: BlockHeader;
  /** How many sources agree. */
  readonly sources: number;
}

/** The block does not count, or not yet; the message says why. */
export class NotConfirmed extends Error {
  override readonly name = "NotConfirmed";
}

/**
 * Finds the block at a height: every source that answers must give the same header, two of them where two are set, each
 * with five linked blocks on it, all of them with work that the network can have asked for then.
 *
 * @throws {NotConfirmed}
 */
export async function confirmBlock(
  sources: readonly BitcoinSource[],
  height: number,
  network: Network,
): Promise<ConfirmedBlock> {
  if (sources.length === 0) throw new NotConfirmed("No source of block headers is configured");
  const answers = await Promise.allSettled(sources.map((s) => buriedHeader(s, height, network)));
  const headers = answers.flatMap((a) => a.status === "fulfilled" ? [a.value] : []);
  const [header] = headers;
  const failed = answers.flatMap((a) => a.status === "rejected" ? [reasonOf(a.reason)] : []);
  if (!header) throw new NotConfirmed(failed.join("; "));
  if (headers.some(({ hash }) => hash !== header.hash)) {
    const hashes = [...new Set(headers.map(({ hash }) => hash))].join(" and ");
    throw new NotConfirmed(`The sources disagree about block ${height}: ${hashes}`);
  }
  const needed = Math.min(2, sources.length);
  if (headers.length >= needed) return { header, sources: headers.length };
  throw new NotConfirmed(
    `Only one source could be asked about block ${height}: ${failed.join("; ")}`,
  );
}

/** What went wrong on the other side, in words; anything else is ours, and thrown. */
function reasonOf(error: unknown): string {
  if (error instanceof SourceFailed) return error.message;
  throw error;
}

/** The header of a source's block, with those on it checked. */
async function buriedHeader(
  source: BitcoinSource,
  height: number,
  network: Network,
): Promise<BlockHeader> {
  return await within(BLOCK_TIMEOUT_MS, (limit) => buriedWithin(source, height, network, limit));
}

async function buriedWithin(
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
    const header = await checkedHeader(source, at, network, limit);
    const previous = chain.at(-1);
    if (previous && header.previousHash !== previous.hash) {
      throw new SourceFailed(source.name, `its block ${at} is not built on its block ${at - 1}`);
    }
    chain.push(header);
  }
  return chain[0]!;
}

async function checkedHeader(
  source: BitcoinSource,
  height: number,
  network: Network,
  limit: AbortSignal,
) {
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
