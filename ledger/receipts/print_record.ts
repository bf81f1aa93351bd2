/** The stored parts of a receipt of era 3. */
export interface StoredRecord {
  /** Canonical bytes. */
  readonly record: Buffer;
  /** Hex, as the others. */
  readonly hash: string;
  readonly publicKey: string;
  readonly signature: string;
}

/** Prints a record: the text of its payload as it was sealed, then the fields that are not part of the payload. */
export function printRecord({ record, hash, publicKey, signature }: StoredRecord): string {
  const payload = record.toString().slice(0, -1);
  const signed =
    `{"algorithm":"Ed25519","public_key":"${publicKey}","value":"${signature}","signs":"canonical_bytes"}`;
  return `${payload},"canonical_bytes":"${
    record.toString("hex")
  }","hash_sha256":"${hash}","signature":${signed}}`;
}
