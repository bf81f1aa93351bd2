import type pg from "pg";
import { printRecord } from "../receipts/mod.ts";
import { findTrustedKey, type TrustedKey } from "../rules/mod.ts";
import { inOnePiece } from "../seal/mod.ts";

/** A ledger is not taken over, and why; nothing of it has become part of this one. */
export class ImportRefused extends Error {
  override readonly name = "ImportRefused";
}

/** A receipt as it is put aside. */
export interface Row {
  readonly id: string;
  readonly hash: Buffer;
  readonly category: string;
  readonly era: 1 | 2 | 3;
  readonly record: Buffer;
  /** Hex; null before era 3. */
  readonly signature: string | null;
  /** Empty where the record can be printed from the others. */
  readonly original: Buffer;
}

const NOTHING = Buffer.alloc(0);

/**
 * Takes a receipt apart.
 *
 * @param bytes of one that was verified
 * @throws {ImportRefused} it can't be kept
 */
export function asRow(bytes: Buffer, position: number, keys: readonly TrustedKey[]): Row {
  const text = bytes.toString();
  const { id, hash_sha256: hash, category, ...fields } = JSON.parse(text);
  if (typeof id !== "string" || id.length < 1 || id.length > 128) {
    throw new ImportRefused(`Its receipt at position ${position} has no id of 1 to 128 characters`);
  }
  if (typeof category !== "string" || !/^[0-9a-f]{64}$/.test(hash)) {
    throw new ImportRefused(
      `Its receipt at position ${position} has no category, or no hash_sha256`,
    );
  }
  const base = { id, category, hash: Buffer.from(hash, "hex") };
  if (fields.schema_version !== "3.0") {
    const era = fields.schema_version === undefined ? 1 as const : 2 as const;
    return { ...base, era, record: bytes, signature: null, original: NOTHING };
  }
  const record = Buffer.from(fields.canonical_bytes, "hex");
  const publicKey = findTrustedKey(keys, position)?.publicKey ?? "";
  const signature: string = fields.signature.value;
  const printed = printRecord({ record, hash, publicKey, signature });
  return { ...base, era: 3, record, signature, original: printed === text ? NOTHING : bytes };
}

const INSERT = `
  INSERT INTO ledger_import_receipts (position, id, category, era, signature, hash, record, original)
  SELECT $1::bigint + nr - 1, i, c, e, decode(s, 'hex'), substr($6::bytea, nr::int * 32 - 31, 32),
    substr($7::bytea, rs + 1, rl), nullif(substr($10::bytea, os + 1, ol), ''::bytea)
  FROM unnest($2::text[], $3::text[], $4::smallint[], $5::text[], $8::int[], $9::int[], $11::int[], $12::int[])
    WITH ORDINALITY AS t (i, c, e, s, rs, rl, os, ol, nr)`;

/** Puts rows aside, from a position on. @throws {ImportRefused} one of them is there already */
export async function insertRows(
  client: pg.ClientBase,
  position: number,
  rows: readonly Row[],
): Promise<void> {
  try {
    await client.query({
      name: "import",
      text: INSERT,
      values: [
        position,
        rows.map((row) => row.id),
        rows.map((row) => row.category),
        rows.map((row) => row.era),
        rows.map((row) => row.signature),
        Buffer.concat(rows.map((row) => row.hash)),
        ...inOnePiece(rows.map((row) => row.record)),
        ...inOnePiece(rows.map((row) => row.original)),
      ],
    });
  } catch (error) {
    throw twice(error) ?? error;
  }
}

/** What the database says of an id or hash that is there already, as a refusal. */
export function twice(error: unknown): ImportRefused | undefined {
  const { code, detail } = error as { code?: string; detail?: string };
  return code === "23505" ? new ImportRefused(`It has a receipt twice: ${detail}`) : undefined;
}
