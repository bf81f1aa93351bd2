/** Witnesses of the log (C2SP tlog-witness), over HTTP, honest or not. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sha256 } from "../../../ledger/crypto/mod.ts";
import { formatSignature, formatVerifierKey } from "../../../ledger/log/mod.ts";
import { type NoteKey, parseCheckpoint, parseNote } from "../../../ledger/notes/mod.ts";
import { type Hash, isConsistent } from "../../../ledger/rules/mod.ts";

/** An answer of a dishonest witness, in place of the right one. */
export type Lie = (request: Asked, response: ServerResponse, own: Signer) => void;

/** A checkpoint that a witness is asked to cosign. */
interface Asked {
  /** Size from which the proof leads. */
  readonly old: number;
  readonly size: number;
  readonly text: string;
}

interface Signer {
  readonly key: NoteKey;
  readonly privateKey: KeyObject;
}

/** A running witness. */
export interface TestWitness {
  readonly key: NoteKey;
  /** For `SEALOOP_WITNESSES`. */
  readonly setting: string;
  /** Size that it has cosigned last. */
  readonly size: number;
  /** Number of hashes of proofs that it was given. */
  readonly proofs: number;
  /** The checkpoints that it was asked to cosign. */
  readonly asked: readonly Asked[];
  /** Makes it forget what it has cosigned, as one that was set up again. */
  forget(): void;
  /** Makes it lie, or speak the truth again. */
  lie(how: Lie | undefined): void;
  stop(): Promise<void>;
}

/** The ways in which a witness lies. */
export const LIES: Readonly<Record<string, Lie>> = {
  "signs with another key": ({ text }, response, { key }) => {
    const other = generateKeyPairSync("ed25519").privateKey;
    response.end(formatSignature(key, cosign(text, other)));
  },
  "cosigns another checkpoint": ({ text }, response, { key, privateKey }) => {
    response.end(formatSignature(key, cosign(text.replace(/\n\d+\n/, "\n1000000\n"), privateKey)));
  },
  "answers in the name of another witness": ({ text }, response, { key, privateKey }) => {
    const line = formatSignature(
      { ...key, name: "witness.example/other" },
      cosign(text, privateKey),
    );
    response.end(line);
  },
  "says that it has cosigned a billion receipts": (_, response) => {
    response.writeHead(409).end("1000000000\n");
  },
  "says another size each time": (_, response) => {
    response.writeHead(409).end(`${claims++ % 2}\n`);
  },
  "refuses each proof": (_, response) => void response.writeHead(422).end(),
  "answers with a page that does not end": (_, response) => {
    const page = setInterval(() => response.write("<p>".repeat(5_000)), 1);
    response.on("close", () => clearInterval(page));
  },
  "breaks off": (_, response) => void response.destroy(),
};

let claims = 0;

/** Starts a witness of one log. It cosigns a checkpoint that is proven to begin with its last. */
export async function openWitness(name: string): Promise<TestWitness> {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  const key: NoteKey = { name, publicKey: raw, kind: "witness" };
  const asked: Asked[] = [];
  let [size, proofs] = [-1, 0];
  let root: Hash = Buffer.alloc(0);
  let lie: Lie | undefined;
  const server = createServer(async (request, response) => {
    if (request.url !== "/add-checkpoint") return void response.writeHead(404).end();
    let body = "";
    for await (const chunk of request) body += chunk;
    const at = body.indexOf("\n\n");
    const [first, ...lines] = body.slice(0, at).split("\n");
    const { text } = parseNote(body.slice(at + 2));
    const next = parseCheckpoint(text);
    const old = Number(/^old (\d+)$/.exec(first!)?.[1]);
    asked.push({ old, size: next.size, text });
    if (lie) return lie({ old, size: next.size, text }, response, { key, privateKey });
    const known = Math.max(size, 0);
    if (old !== known) return void response.writeHead(409).end(`${known}\n`);
    const proof = lines.map((line) => Buffer.from(line, "base64"));
    proofs += proof.length;
    const growth = {
      oldSize: known,
      oldRoot: root,
      newSize: next.size,
      newRoot: next.root,
      proof,
    };
    if (known > 0 && !isConsistent(growth, sha256)) return void response.writeHead(422).end();
    [size, root] = [next.size, next.root];
    response.end(formatSignature(key, cosign(text, privateKey)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    key,
    setting: `${formatVerifierKey(key)} ${url}/`,
    asked,
    get size() {
      return size;
    },
    get proofs() {
      return proofs;
    },
    forget: () => void (size = -1),
    lie: (how) => void (lie = how),
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Returns a cosignature: 8 bytes of the time, and the signature. */
function cosign(text: string, privateKey: KeyObject): Buffer {
  const time = BigInt(Math.floor(Date.now() / 1000));
  const stamp = Buffer.alloc(8);
  stamp.writeBigUInt64BE(time);
  const signed = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
  return Buffer.concat([stamp, sign(null, signed, privateKey)]);
}
