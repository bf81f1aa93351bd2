/** A block chain of a test, really mined at a difficulty that a test can bear, and sources that tell of it. */
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import { type Network, targetFromBits } from "../../../../ledger/anchors/ots/mod.ts";

/** Some 500 hashes a block. */
const BITS = 0x1f7fffff;
/** Any hash of two will do. */
export const TOO_EASY_BITS = 0x207fffff;

/** Whose difficulty never changes. Only tests hand it on; what runs in production knows Bitcoin alone. */
export const TEST_NETWORK: Network = {
  name: "the test network",
  reachedHeight: 0,
  targetRange: () => ({ easiest: targetFromBits(BITS), hardest: targetFromBits(BITS) }),
};

export const sha256 = (...parts: Uint8Array[]): Buffer =>
  parts.reduce((hash, part) => hash.update(part), createHash("sha256")).digest();
export const doubleSha256 = (...parts: Uint8Array[]): Buffer => sha256(sha256(...parts));

/** A chain by its headers; the index is the height. */
export interface TestChain {
  readonly headers: Buffer[];
  /** Mines the next block. @returns its height */
  mine(merkleRoot?: Uint8Array, bits?: number): number;
  /** Mines so many blocks with nothing of ours. */
  bury(blocks: number): void;
}

/** A chain of one block. */
export function testChain(headers: Buffer[] = []): TestChain {
  const chain: TestChain = {
    headers,
    mine(merkleRoot = randomBytes(32), bits = BITS) {
      const previous = headers.at(-1);
      headers.push(mined(previous ? doubleSha256(previous) : Buffer.alloc(32), merkleRoot, bits));
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

function mined(previous: Uint8Array, merkleRoot: Uint8Array, bits: number): Buffer {
  const header = Buffer.alloc(80);
  header.writeUInt32LE(0x20000000 + count++ % 2 ** 16, 0); // no two blocks are the same
  header.set(previous, 4);
  header.set(merkleRoot, 36);
  header.writeUInt32LE(Math.floor(Date.now() / 1000), 68);
  header.writeUInt32LE(bits, 72);
  for (let nonce = 0;; nonce++) {
    header.writeUInt32LE(nonce, 76);
    if (BigInt(`0x${shown(doubleSha256(header))}`) <= targetFromBits(bits)) return header;
  }
}

/** The header with a nonce that is not the one which was searched for. */
export function workless(header: Uint8Array): Buffer {
  const other = Buffer.from(header);
  do other.writeUInt32LE((other.readUInt32LE(76) + 1) % 2 ** 32, 76); while (
    BigInt(`0x${hashOf(other)}`) <= targetFromBits(BITS)
  );
  return other;
}

/** A hash as people see it: last byte first. */
export const shown = (hash: Uint8Array): string => Buffer.from(hash.toReversed()).toString("hex");

/** A server of a test on loopback. */
export interface TestServer {
  readonly url: string;
  stop(): void;
}

/** Serves until it is stopped; whatever `answer` throws becomes status 500. */
export async function serveTest(
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

/** What a source does in place of telling the truth. */
export interface Lies {
  /** The chain that it tells of. */
  chain?: TestChain;
  /** Answers with this, whatever is asked. */
  answer?: (response: ServerResponse) => void;
}

/** An Esplora-style endpoint. */
export async function esplora(honest: TestChain): Promise<TestServer & { lies: Lies }> {
  const lies: Lies = {};
  const server = await serveTest(({ url }, response) => {
    if (lies.answer) return lies.answer(response);
    const { headers } = lies.chain ?? honest;
    const [, height] = /^\/block-height\/(\d+)$/.exec(url!) ?? [];
    const [, hash] = /^\/block\/([0-9a-f]{64})\/header$/.exec(url!) ?? [];
    const header = height ? headers[Number(height)] : headers.find((h) => hash === hashOf(h));
    if (url === "/blocks/tip/height") response.end(String(headers.length - 1));
    else if (header) response.end(height ? hashOf(header) : header.toString("hex"));
    else response.writeHead(404).end("Block not found");
  });
  return { ...server, lies };
}

/** Bitcoin Core's RPC. */
export async function bitcoinCore(chain: TestChain, password: string): Promise<TestServer> {
  const wanted = `Basic ${Buffer.from(`rpc:${password}`).toString("base64")}`;
  const { url, stop } = await serveTest(({ headers, method }, response, body) => {
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

export const hashOf = (header: Uint8Array): string => shown(doubleSha256(header));
