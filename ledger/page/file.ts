import { type Break, type Primitives, readPosition, type TrustedKey } from "../rules/mod.ts";
import { checkRange } from "./check.ts";
import { recordsOf } from "./records.ts";

/** What was found in an exported file. */
export interface FileReport {
  readonly count: number;
  /** Position of the first record; undefined: the file does not say. */
  readonly from: number | undefined;
  readonly breaks: readonly Break[];
  /** False: the link of the first record points at one that is not in the file. */
  readonly fromStart: boolean;
  /** One after the last position. */
  readonly to: number;
  /** `hash_sha256` of the last record, to be compared with the ledger's; undefined: it is missing. */
  readonly lastHash: string | undefined;
}

/**
 * Checks the receipts of an exported file.
 *
 * @throws {TypeError} the file holds none
 */
export function reportOf(
  text: string,
  keys: readonly TrustedKey[],
  primitives: Primitives,
): FileReport {
  const { records, from } = recordsOf(text);
  if (records.length === 0) throw new TypeError("The file holds no receipts");
  const start = from ?? 0;
  const to = Math.max(start + records.length, (readPosition(records.at(-1)!) ?? 0) + 1);
  const range = { from: start, to: Math.min(to, start + 2 * records.length), alone: from !== 0 };
  const { breaks, lastHash } = checkRange(
    records,
    { ...range, source: "file" },
    keys,
    primitives,
  );
  return { count: records.length, from, breaks, fromStart: from === 0, lastHash, to: range.to };
}
