import { type Break, type Primitives, readPosition, type TrustedKey } from "../../rules/mod.ts";
import { checkRange } from "./check_range.ts";
import { splitExport } from "./records.ts";

/** The result of checking an exported file. */
export interface FileReport {
  readonly count: number;
  /** Position of the first record; undefined if the file does not say it. */
  readonly from: number | undefined;
  readonly breaks: readonly Break[];
  /** False if the first record links to one that is not in the file. */
  readonly fromStart: boolean;
  /** One after the last position. */
  readonly to: number;
  /** `hash_sha256` of the last record, to be compared with the ledger's; undefined if it is missing. */
  readonly lastHash: string | undefined;
}

/**
 * Checks the receipts of an exported file.
 *
 * @throws {TypeError} the file has no receipts
 */
export function checkFile(
  text: string,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): FileReport {
  const { records, from } = splitExport(text);
  if (records.length === 0) throw new TypeError("The file has no receipts");
  const start = from ?? 0;
  const claimedEnd = (readPosition(records.at(-1)!) ?? 0) + 1;
  // A record that claims a far position must not make a break for each position before it.
  const to = Math.min(Math.max(start + records.length, claimedEnd), start + 2 * records.length);
  const range = { from: start, to, alone: from !== 0, source: "file" } as const;
  const { breaks, lastHash } = checkRange(records, range, keys, primitives);
  return { count: records.length, from, breaks, fromStart: from === 0, lastHash, to };
}
