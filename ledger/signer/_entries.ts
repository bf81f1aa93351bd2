import { sha256 } from "../crypto/mod.ts";
import type { Batch, ChainHead, Signatures } from "./batch.ts";
import { SignerStateError } from "./errors.ts";

/** An entry of the journal. */
export type Entry =
  /** The first entries are a copy of the state before: they end with `ready`. */
  | { readonly type: "ready" }
  /** The signer has begun with an end of the chain, or what it has signed up to here is committed. */
  | {
    readonly type: "committed";
    readonly head: ChainHead;
    /** Signatures of the batches that are committed since the entry before. */
    readonly signed?: readonly SignedBatch[];
  }
  /** A batch, whose signatures may have left. */
  | { readonly type: "batch"; readonly batch: Batch }
  /** Time of the newest signature, milliseconds since 1970. */
  | { readonly type: "time"; readonly at: number };

/** The signatures of a batch, by the number of receipts before it. */
export interface SignedBatch extends Signatures {
  readonly size: number;
}

/** Fields of an entry as JSON. The records of a batch follow it, as they are. */
interface Fields {
  readonly type: Entry["type"];
  readonly size?: number;
  readonly hash?: string | null;
  readonly at?: number;
  /** Id, category, number in the outbox and length of the record. */
  readonly receipts?: readonly (readonly [string, string, string, number])[];
  /** Public key of a batch that another key has signed, hex. */
  readonly key?: string;
  readonly signatures?: readonly string[];
  /** Of each batch the number of receipts before it, the public key and the signatures, hex. */
  readonly signed?: readonly (readonly [number, string, readonly string[]])[];
}

/** Encodes an entry. */
export function encodeEntry(entry: Entry): Buffer {
  switch (entry.type) {
    case "ready":
      return encode({ type: "ready" });
    case "time":
      return encode({ type: "time", at: entry.at });
    case "committed":
      return encode({
        type: "committed",
        ...encodeHead(entry.head),
        ...(entry.signed && { signed: entry.signed.map(encodeSigned) }),
      });
    case "batch": {
      const { before, receipts, signed } = entry.batch;
      const fields: Fields = {
        type: "batch",
        ...encodeHead(before),
        receipts: receipts.map(({ id, category, seq, record }) => [
          id,
          category,
          seq,
          record.length,
        ]),
        ...(signed && {
          key: signed.publicKey.toString("hex"),
          signatures: signed.signatures.map((signature) => signature.toString("hex")),
        }),
      };
      return encode(fields, receipts.map(({ record }) => record));
    }
  }
}

/** Decodes an entry. @throws {SignerStateError} it is none */
export function decodeEntry(bytes: Buffer, path: string): Entry {
  const start = 4 + bytes.readUInt32BE(0);
  const fields: Fields = JSON.parse(bytes.toString("utf8", 4, start));
  switch (fields.type) {
    case "ready":
      return { type: "ready" };
    case "time":
      return { type: "time", at: fields.at! };
    case "committed":
      return {
        type: "committed",
        head: decodeHead(fields),
        ...(fields.signed && { signed: fields.signed.map(decodeSigned) }),
      };
    case "batch":
      return { type: "batch", batch: decodeBatch(fields, bytes.subarray(start)) };
    default:
      throw new SignerStateError(`${path} has an entry of type ${fields.type}, which is unknown`);
  }
}

function encode(fields: Fields, records: readonly Buffer[] = []): Buffer {
  const json = Buffer.from(JSON.stringify(fields));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json, ...records]);
}

function encodeHead({ size, hash }: ChainHead): Pick<Fields, "size" | "hash"> {
  return { size, hash: hash?.toString("hex") ?? null };
}

function decodeHead({ size, hash }: Fields): ChainHead {
  return { size: size!, hash: hash == null ? null : Buffer.from(hash, "hex") };
}

function encodeSigned({ size, publicKey, signatures }: SignedBatch) {
  return [size, publicKey.toString("hex"), signatures.map((one) => one.toString("hex"))] as const;
}

function decodeSigned([size, key, signatures]: NonNullable<Fields["signed"]>[number]): SignedBatch {
  return {
    size,
    publicKey: Buffer.from(key, "hex"),
    signatures: signatures.map((hex) => Buffer.from(hex, "hex")),
  };
}

function decodeBatch(fields: Fields, records: Buffer): Batch {
  let at = 0;
  const receipts = fields.receipts!.map(([id, category, seq, length]) => {
    const record = records.subarray(at, at += length);
    return { id, category, seq, record, hash: Buffer.from(sha256(record)) };
  });
  const batch: Batch = { before: decodeHead(fields), receipts };
  if (fields.key === undefined) return batch;
  const signatures = fields.signatures!.map((hex) => Buffer.from(hex, "hex"));
  return { ...batch, signed: { publicKey: Buffer.from(fields.key, "hex"), signatures } };
}
