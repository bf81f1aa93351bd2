/** A test block chain, mined at a low difficulty, and sources that serve it. */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Network, targetFromBits } from "../../../../ledger/anchors/ots/mod.ts";

/** About 500 hashes a block. */
const BITS = 0x1f7fffff;
/** Every second hash meets this target. */
export const TOO_EASY_BITS = 0x207fffff;

/** A network of constant difficulty; production code only uses Bitcoin's. */
export const TEST_NETWORK: Network = {
  name: "the test network",
  reachedHeight: 0,
  targetRange: () => ({ easiest: targetFromBits(BITS), hardest: targetFromBits(BITS) }),
};

export const sha256 = (...parts: Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
const doubleSha256 = (...parts: Uint8Array[]): Buffer => sha256(sha256(...parts));

/** A chain; the index of a header is its height. */
export interface TestChain {
  readonly headers: Buffer[];
  /** Mines the next block. @returns its height */
  mine(merkleRoot?: Uint8Array, bits?: number): number;
  /** Mines blocks with random merkle roots. */
  bury(blocks: number): void;
}

/** Makes a chain, with one block if no headers are passed. */
export function testChain(headers: Buffer[] = []): TestChain {
  const chain: TestChain = {
    headers,
    mine(merkleRoot = randomBytes(32), bits = BITS) {
      const previous = headers.at(-1);
      headers.push(
        mineHeader(previous ? doubleSha256(previous) : Buffer.alloc(32), merkleRoot, bits),
      );
      return headers.length - 1;
    },
    bury(blocks) {
      for (let i = 0; i < blocks; i++) chain.mine();
    },
  };
  if (headers.length === 0) chain.mine();
  return chain;
}

let count = 0;

function mineHeader(previous: Uint8Array, merkleRoot: Uint8Array, bits: number): Buffer {
  const header = Buffer.alloc(80);
  header.writeUInt32LE(0x20000000 + count++ % 2 ** 16, 0); // makes every block unique
  header.set(previous, 4);
  header.set(merkleRoot, 36);
  header.writeUInt32LE(Math.floor(Date.now() / 1000), 68);
  header.writeUInt32LE(bits, 72);
  for (let nonce = 0;; nonce++) {
    header.writeUInt32LE(nonce, 76);
    if (BigInt(`0x${displayHash(doubleSha256(header))}`) <= targetFromBits(bits)) return header;
  }
}

/** Replaces the nonce of a header by one that does not meet the target. */
export function withoutWork(header: Uint8Array): Buffer {
  const other = Buffer.from(header);
  do other.writeUInt32LE((other.readUInt32LE(76) + 1) % 2 ** 32, 76); while (
    BigInt(`0x${hashOf(other)}`) <= targetFromBits(BITS)
  );
  return other;
}

/** Prints a hash in display order: last byte first. */
const displayHash = (hash: Uint8Array): string => Buffer.from(hash.toReversed()).toString("hex");

/** A test server on loopback. */
export interface TestServer {
  readonly url: string;
  stop(): void;
}

/** Starts a server; an error of `answer` becomes status 500. */
export async function startServer(
  answer: (
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
  ) => void | Promise<void>,
): Promise<TestServer> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    try {
      await answer(request, response, Buffer.concat(parts));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Faults of a source. */
export interface SourceFaults {
  /** Serves this chain. */
  chain?: TestChain;
  /** Responds to every request. */
  respond?: (response: ServerResponse) => void;
}

/** Starts an Esplora-style endpoint. */
export async function startEsplora(
  honest: TestChain,
): Promise<TestServer & { faults: SourceFaults }> {
  const faults: SourceFaults = {};
  const server = await startServer(({ url }, response) => {
    if (faults.respond) return faults.respond(response);
    const { headers } = faults.chain ?? honest;
    const [, height] = /^\/block-height\/(\d+)$/.exec(url!) ?? [];
    const [, hash] = /^\/block\/([0-9a-f]{64})\/header$/.exec(url!) ?? [];
    const header = height ? headers[Number(height)] : headers.find((h) => hash === hashOf(h));
    if (url === "/blocks/tip/height") response.end(String(headers.length - 1));
    else if (header) response.end(height ? hashOf(header) : header.toString("hex"));
    else response.writeHead(404).end("Block not found");
  });
  return { ...server, faults };
}

/** Starts a server with Bitcoin Core's RPC. */
export async function startBitcoinCore(chain: TestChain, password: string): Promise<TestServer> {
  const wanted = `Basic ${Buffer.from(`rpc:${password}`).toString("base64")}`;
  const { url, stop } = await startServer(({ headers, method }, response, body) => {
    if (method !== "POST") return void response.writeHead(405).end();
    if (headers.authorization !== wanted) return void response.writeHead(401).end();
    const { method: name, params, id } = JSON.parse(body.toString());
    const results: Record<string, () => unknown> = {
      getblockcount: () => chain.headers.length - 1,
      getblockhash: () => hashOf(chain.headers[params[0]]!),
      getblockheader: () =>
        params[1] === false &&
        chain.headers.find((header) => hashOf(header) === params[0])!.toString("hex"),
    };
    response.end(JSON.stringify({ result: results[name]!(), error: null, id }));
  });
  return { url: url.replace("http://", `core+http://rpc:${encodeURIComponent(password)}@`), stop };
}

export const hashOf = (header: Uint8Array): string => displayHash(doubleSha256(header));
