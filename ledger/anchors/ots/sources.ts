import { fromHex } from "./_bytes.ts";
import { limitedFetch } from "./_http.ts";
import { SourceFailed } from "./errors.ts";

/** A server that knows the block chain. It is trusted only as far as headers prove themselves. */
export interface BitcoinSource {
  /** Name in messages: kind and number, never the address. */
  readonly name: string;
  /** Fetches the height of the newest block. @throws {SourceFailed} */
  tip(signal?: AbortSignal): Promise<number>;
  /** Fetches the 80-byte header of the block at a height. @throws {SourceFailed} */
  header(height: number, signal?: AbortSignal): Promise<Uint8Array>;
}

const LIMITS = { timeoutMs: 10_000, maxBytes: 64 * 1024 };
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
      ? openCore(`Bitcoin source ${i + 1}`, address.slice("core+".length))
      : openEsplora(`Bitcoin source ${i + 1}`, address.replace(/\/$/, ""))
  );
}

/** @see https://github.com/Blockstream/esplora/blob/master/API.md */
function openEsplora(name: string, address: string): BitcoinSource {
  const { url, headers } = splitCredentials(address);
  const get = async (path: string, signal?: AbortSignal) => {
    const request = { source: name, headers, signal, ...LIMITS };
    const { status, bytes } = await limitedFetch(`${url.replace(/\/$/, "")}${path}`, request);
    if (status !== 200) throw new SourceFailed(name, `status ${status} for GET ${path}`);
    return new TextDecoder().decode(bytes).trim();
  };
  return {
    name,
    tip: async (signal) => {
      const text = await get("/blocks/tip/height", signal);
      return parseHeight(name, /^\d+$/.test(text) ? Number(text) : undefined);
    },
    header: async (height, signal) => {
      const hash = await get(`/block-height/${height}`, signal);
      if (!HASH.test(hash)) throw new SourceFailed(name, "it returned no block hash");
      return parseHexHeader(name, await get(`/block/${hash}/header`, signal));
    },
  };
}

/** @see https://developer.bitcoin.org/reference/rpc/ */
function openCore(name: string, address: string): BitcoinSource {
  const { url, headers } = splitCredentials(address);
  const call = async (signal: AbortSignal | undefined, method: string, ...params: unknown[]) => {
    const { status, bytes } = await limitedFetch(url, {
      source: name,
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "1.0", id: "sealoop", method, params }),
      signal,
      ...LIMITS,
    });
    if (status !== 200) throw new SourceFailed(name, `status ${status} for ${method}`);
    try {
      return (JSON.parse(new TextDecoder().decode(bytes)) as { result?: unknown } | null)?.result;
    } catch {
      throw new SourceFailed(name, `it returned no JSON for ${method}`);
    }
  };
  return {
    name,
    tip: async (signal) => parseHeight(name, await call(signal, "getblockcount")),
    header: async (height, signal) => {
      const hash = await call(signal, "getblockhash", height);
      return parseHexHeader(name, await call(signal, "getblockheader", hash, false));
    },
  };
}

/** Moves user and password from the address into a header, as `fetch` refuses addresses that have them. */
function splitCredentials(address: string) {
  const url = new URL(address);
  const { username, password } = url;
  url.username = url.password = "";
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const headers: Record<string, string> = username || password
    ? { authorization: `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(pair)))}` }
    : {};
  return { url: url.href, headers };
}

function parseHeight(name: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new SourceFailed(name, "it returned no height");
}

function parseHexHeader(name: string, value: unknown): Uint8Array {
  if (typeof value === "string" && HEADER.test(value)) return fromHex(value);
  throw new SourceFailed(name, "it returned no header of 80 bytes as hex");
}
