import type pg from "pg";
import { printRecord } from "../receipts/mod.ts";
import { findTrustedKey, type TrustedKey } from "../rules/mod.ts";

/** A ledger can't be imported. This ledger is unchanged. */
export class ImportRefused extends Error {
  override readonly name = "ImportRefused";
}

/** A receipt as it is staged. */
export interface Row {
  readonly id: string;
  readonly hash: Buffer;
  readonly category: string;
  readonly era: 1 | 2 | 3;
  readonly record: Buffer;
  /** Null before era 3. */
  readonly signature: Buffer | null;
  /** The imported text, where it can't be printed from the others. */
  readonly original: Buffer | null;
}

/**
 * Makes the row of a receipt.
 *
 * @param bytes of a receipt that was verified
 * @throws {ImportRefused} it can't be stored
 */
export function makeRow(bytes: Buffer, position: number, keys: readonly TrustedKey[]): Row {
  const text = bytes.toString();
  const { id, hash_sha256: hash, category, ...fields } = JSON.parse(text);
  if (typeof id !== "string" || id.length < 1 || id.length > 128) {
    throw new ImportRefused(`The receipt at position ${position} has no id of 1 to 128 characters`);
  }
  if (typeof category !== "string" || !/^[0-9a-f]{64}$/.test(hash)) {
    throw new ImportRefused(
      `The receipt at position ${position} has no category, or no hash_sha256`,
    );
  }
  const base = { id, category, hash: Buffer.from(hash, "hex") };
  if (fields.schema_version !== "3.0") {
    const era = fields.schema_version === undefined ? 1 as const : 2 as const;
    return { ...base, era, record: bytes, signature: null, original: null };
  }
  const record = Buffer.from(fields.canonical_bytes, "hex");
  const publicKey = findTrustedKey(keys, position)?.publicKey ?? "";
  const signature: string = fields.signature.value;
  const printed = printRecord({ record, hash, publicKey, signature });
  return {
    ...base,
    era: 3,
    record,
    signature: Buffer.from(signature, "hex"),
    original: printed === text ? null : bytes,
  };
}

const STAGE = {
  name: "import_stage",
  text: `INSERT INTO ledger_import_receipts
           (position, id, category, era, hash, record, signature, original)
         SELECT $1::bigint + r.n - 1, r.id, r.category, r.era, r.hash, r.record, r.signature, r.original
         FROM unnest($2::text[], $3::text[], $4::smallint[], $5::bytea[], $6::bytea[], $7::bytea[], $8::bytea[])
           WITH ORDINALITY AS r (id, category, era, hash, record, signature, original, n)`,
};

/** Stages rows, from a position on. @throws {ImportRefused} one of them is staged already */
export async function stageRows(
  client: pg.ClientBase,
  position: number,
  rows: readonly Row[],
): Promise<void> {
  try {
    await client.query({
      ...STAGE,
      values: [
        position,
        rows.map((row) => row.id),
        rows.map((row) => row.category),
        rows.map((row) => row.era),
        rows.map((row) => row.hash),
        rows.map((row) => row.record),
        rows.map((row) => row.signature),
        rows.map((row) => row.original),
      ],
    });
  } catch (error) {
    throw asDuplicate(error) ?? error;
  }
}

/** Returns the refusal for an id or hash that is stored already, or undefined for any other error. */
export function asDuplicate(error: unknown): ImportRefused | undefined {
  const { code, detail } = error as { code?: string; detail?: string };
  return code === "23505"
    ? new ImportRefused(`The file has a receipt twice: ${detail}`)
    : undefined;
}
