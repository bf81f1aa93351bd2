/** Chains, checkpoints and cosignatures of the vectors, the same in every run: all keys come from fixed seeds. */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from "node:crypto";
import { formatSignature } from "../../../ledger/log/mod.ts";
import { formatCheckpoint, type NoteKey } from "../../../ledger/notes/mod.ts";
import {
  canonicalize,
  canonicalizeFields,
  createGrowingTree,
  formatLeaf,
  hashLeaf,
  joinFields,
} from "../../../ledger/rules/mod.ts";

/** An Ed25519 key from a seed. */
export interface TestKey {
  readonly privateKey: KeyObject;
  /** 32 bytes. */
  readonly publicKey: Buffer;
  readonly hex: string;
}

const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** Makes a key of the SHA-256 of a text. */
export function makeKey(seed: string): TestKey {
  const der = Buffer.concat([PKCS8, hash("sha256", seed, "buffer")]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" })
    .subarray(-32);
  return { privateKey, publicKey, hex: publicKey.toString("hex") };
}

type Fields = Readonly<Record<string, unknown>>;

/** A receipt's content, without what makes it part of a chain. */
export function content(n: number, more: Fields = {}): Fields {
  const minute = String(n).padStart(2, "0");
  return {
    id: hash("sha256", `receipt ${n}`).slice(0, 16),
    timestamp: `2026-07-01T12:${minute}:00.000000+00:00`,
    category: "platform_fix",
    actor: "itsm-loop",
    subject: `service-${n}`,
    action: "restart",
    outcome: "ok",
    details: { load: 1.5, run: n },
    ...more,
  };
}

/** Seals a receipt of era 3, as the ledger prints it. */
export function seal(fields: Fields, position: number, previous: string, key: TestKey): string {
  const payload = canonicalize({
    ...fields,
    schema_version: "3.0",
    chain_position: position,
    prev_hash: previous,
  });
  const bytes = Buffer.from(payload);
  const value = sign(null, bytes, key.privateKey).toString("hex");
  return `${payload.slice(0, -1)},"canonical_bytes":"${bytes.toString("hex")}",` +
    `"hash_sha256":"${hash("sha256", bytes)}","signature":{"algorithm":"Ed25519",` +
    `"public_key":"${key.hex}","value":"${value}","signs":"canonical_bytes"}}`;
}

/** Makes a receipt of era 2, whose link is not signed. */
export function sealEra2(fields: Fields, previous: string, key: TestKey): string {
  const signed = {
    ...fields,
    schema_version: "2.0",
    hash_sha256: hash("sha256", canonicalize(fields)),
  };
  const bytes = Buffer.from(canonicalize(signed));
  return JSON.stringify({
    ...signed,
    receiver_attestation: { by: "receiver", ok: true },
    prev_hash: previous,
    canonical_bytes: bytes.toString("hex"),
    signature: {
      algorithm: "Ed25519",
      public_key: key.hex,
      value: sign(null, bytes, key.privateKey).toString("hex"),
    },
  });
}

/** Makes a receipt of era 1, which is not signed. */
export function makeEra1(fields: Fields, previous: string): string {
  const hash_sha256 = hash("sha256", canonicalize({ ...fields, previous }));
  return JSON.stringify({ ...fields, prev_hash: previous, hash_sha256 });
}

/** Returns the hash that a record claims. */
export const hashOf = (record: string | undefined): string =>
  record === undefined ? "" : JSON.parse(record).hash_sha256;

/** Seals receipts of era 3 after others. @param before records of the chain so far */
export function extend(before: readonly string[], contents: readonly Fields[], key: TestKey) {
  const chain = [...before];
  for (const fields of contents) {
    chain.push(seal(fields, chain.length, hashOf(chain.at(-1)), key));
  }
  return chain;
}

/** Changes fields of a record, which are given as their JSON texts; undefined removes one. Nothing is signed again. */
export function edit(record: string, changes: Readonly<Record<string, string | undefined>>) {
  const fields = new Map(canonicalizeFields(record));
  for (const [name, json] of Object.entries(changes)) {
    if (json === undefined) fields.delete(name);
    else fields.set(name, json);
  }
  return joinFields(fields);
}

/** A signed statement about a log, without its signatures. */
export function stateCheckpoint(origin: string, records: readonly string[]): string {
  const sha256 = (bytes: Uint8Array) => hash("sha256", bytes, "buffer");
  const tree = createGrowingTree(sha256);
  for (const [position, text] of records.entries()) {
    const { id } = JSON.parse(text);
    const leaf = formatLeaf({ position, id, text }, (bytes) => hash("sha256", bytes));
    tree.add(hashLeaf(Buffer.from(leaf), sha256));
  }
  return formatCheckpoint({ origin, size: tree.size, root: tree.root() });
}

/** Signs a checkpoint as a log. */
export const signLine = (text: string, key: NoteKey, { privateKey }: TestKey): string =>
  formatSignature(key, sign(null, Buffer.from(text), privateKey));

/** Cosigns a checkpoint as a witness, at a fixed time. */
export function cosignLine(text: string, key: NoteKey, { privateKey }: TestKey): string {
  const time = 1_782_907_200n;
  const stamp = Buffer.alloc(8);
  stamp.writeBigUInt64BE(time);
  const signed = Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
  return formatSignature(key, Buffer.concat([stamp, sign(null, signed, privateKey)]));
}
