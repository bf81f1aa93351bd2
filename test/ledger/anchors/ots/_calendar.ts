/** A test calendar: aggregates digests, promises attestations, and commits to a test chain by a transaction. */
import { randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import {
  applyOp,
  bitcoinAttestation,
  type Op,
  OTS_TYPE,
  pendingAttestation,
  prependOps,
  serializeTimestamp,
  type Timestamp,
  treePath,
  treeRoot,
} from "../../../../ledger/anchors/ots/mod.ts";
import { startServer, type TestChain, type TestServer } from "./_chain.ts";

/** Faults of a calendar. */
interface CalendarFaults {
  /** Responds to a digest. */
  digest?: (response: ServerResponse) => unknown;
  /** Responds to a commitment. */
  timestamp?: (response: ServerResponse, commitment: Buffer) => unknown;
}

/** A calendar on loopback. */
export interface TestCalendar extends TestServer {
  readonly faults: CalendarFaults;
  /** Digests that it has accepted, hex, in order. */
  readonly accepted: string[];
  /** Commits everything promised to a new block, if there is anything. @returns the newest height */
  commit(chain: TestChain): number;
}

/** Digests that arrive within this time share a tree. */
const ROUND_MS = 20;

/** Starts a calendar. */
export async function startCalendar(): Promise<TestCalendar> {
  const faults: CalendarFaults = {};
  const accepted: string[] = [];
  const open: Buffer[] = [];
  const ready = new Map<string, Timestamp>();
  const aggregate = openRounds((commitment) => open.push(commitment));

  const server = await startServer(async ({ method, url }, response, body) => {
    if (method === "POST" && url === "/digest") {
      if (faults.digest) return void faults.digest(response);
      accepted.push(body.toString("hex"));
      const promise = { branches: [{ attestation: pendingAttestation(server.url) }] };
      return sendTimestamp(response, prependOps(await aggregate(body), promise));
    }
    const [, commitment] = /^\/timestamp\/([0-9a-f]{2,})$/.exec(url!) ?? [];
    if (!commitment) return void response.writeHead(404).end();
    if (faults.timestamp) return void faults.timestamp(response, Buffer.from(commitment, "hex"));
    const timestamp = ready.get(commitment);
    if (timestamp) sendTimestamp(response, timestamp);
    else response.writeHead(404).end("Pending confirmation in Bitcoin blockchain");
  });

  return {
    ...server,
    faults,
    accepted,
    commit(chain) {
      const commitments = open.splice(0);
      if (commitments.length === 0) return chain.headers.length - 1;
      const root = treeRoot(commitments);
      const inBlock = transactionOps();
      const merkleRoot = inBlock.reduce<Uint8Array>((message, op) => applyOp(op, message), root);
      const height = chain.mine(merkleRoot);
      const attested = { branches: [{ attestation: bitcoinAttestation(height) }] };
      commitments.forEach((commitment, i) => {
        const ops = [...treePath(commitments, i), ...inBlock];
        ready.set(commitment.toString("hex"), prependOps(ops, attested));
      });
      return height;
    },
  };
}

const SHA256: Op = { kind: "sha256" };
const append = (arg: Uint8Array): Op => ({ kind: "append", arg });
const prepend = (arg: Uint8Array): Op => ({ kind: "prepend", arg });

/** Aggregates digests that arrive together into one tree; its root gets a time and a tag, as real calendars do. */
function openRounds(commit: (commitment: Buffer) => void): (digest: Uint8Array) => Promise<Op[]> {
  let round: { digests: Uint8Array[]; done: Promise<Op[]> } | undefined;
  return async (digest) => {
    const salted: Op[] = [append(randomBytes(16)), SHA256];
    const leaf = salted.reduce<Uint8Array>((message, op) => applyOp(op, message), digest);
    round ??= { digests: [], done: closeRound() };
    const { digests, done } = round;
    const index = digests.push(leaf) - 1;
    const seal = await done;
    return [...salted, ...treePath(digests, index), ...seal];
  };
  async function closeRound(): Promise<Op[]> {
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
    const { digests } = round!;
    round = undefined;
    const time = Buffer.alloc(4);
    time.writeUInt32BE(Math.floor(Date.now() / 1000));
    const seal = [prepend(time), append(randomBytes(8))];
    commit(Buffer.from(seal.reduce<Uint8Array>((m, op) => applyOp(op, m), treeRoot(digests))));
    return seal;
  }
}

/** Makes the path from a root to the merkle root of a block: a transaction with it, and three levels of the tree. */
function transactionOps(): Op[] {
  const ops: Op[] = [prepend(randomBytes(120)), append(randomBytes(4)), SHA256, SHA256];
  for (const side of [append, prepend, append]) ops.push(side(randomBytes(32)), SHA256, SHA256);
  return ops;
}

/** Responds with a timestamp. */
export function sendTimestamp(response: ServerResponse, timestamp: Timestamp): void {
  response.writeHead(200, { "content-type": OTS_TYPE });
  response.end(Buffer.from(serializeTimestamp(timestamp)));
}
