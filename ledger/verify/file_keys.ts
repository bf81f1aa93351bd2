import { pinKeys, selectTrustedKeys } from "../crypto/mod.ts";
import { collectKeys, KEY_MARKS, type TrustedKey } from "../rules/mod.ts";
import type { ReceiptFile } from "./receipt_file.ts";

/**
 * Returns the keys to verify a file with: those that it names, else those that its receipts introduce, which the
 * verification proves. Reads the file once more where it names none.
 *
 * @param known keys that the reader knows, or their fingerprints, hex
 * @throws {BadPublicKey} none of the file's keys is one that the reader knows
 */
export async function readFileKeys(
  file: Pick<ReceiptFile, "envelope" | "batches">,
  known: readonly string[],
): Promise<TrustedKey[]> {
  const named = selectTrustedKeys(file.envelope, []);
  if (named.length > 0) return pinKeys(named, known);
  let keys: readonly TrustedKey[] = [];
  for await (const batch of file.batches()) {
    for (const bytes of batch) {
      if (KEY_MARKS.some((mark) => bytes.includes(mark))) {
        keys = collectKeys(keys, bytes.toString());
      }
    }
  }
  return pinKeys(keys, known);
}
