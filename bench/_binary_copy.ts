/** Value of a column: bigint, text or bytea. */
export type Value = bigint | string | Buffer;

const HEAD = Buffer.from("5047434f50590aff0d0a000000000000000000", "hex");
const END = Buffer.from("ffff", "hex");

/** Formats rows as binary COPY reads them. @see https://www.postgresql.org/docs/current/sql-copy.html */
export function formatBinaryCopy(rows: readonly (readonly Value[])[]): Buffer {
  return Buffer.concat([HEAD, ...rows.map(formatRow), END]);
}

function formatRow(values: readonly Value[]): Buffer {
  const fields = values.map((value) => {
    if (typeof value === "string") return Buffer.from(value);
    if (typeof value !== "bigint") return value;
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigInt64BE(value);
    return bytes;
  });
  const row = Buffer.allocUnsafe(fields.reduce((sum, { length }) => sum + 4 + length, 2));
  let at = row.writeInt16BE(fields.length);
  for (const bytes of fields) {
    at = row.writeInt32BE(bytes.length, at);
    at += bytes.copy(row, at);
  }
  return row;
}
