import type { Break, Primitives, TrustedKey } from "../rules.ts";
import { verifyRecord } from "../rules.ts";
import { recordsOf, valueOf } from "./records.ts";

/** What was found in an exported file. */
export interface FileReport {
  readonly count: number;
  /** Position of the first record; undefined: the file does not say. */
  readonly from: number | undefined;
  readonly breaks: readonly Break[];
  /** False: the link of the first record points at one that is not in the file. */
  readonly fromStart: boolean;
  /** `hash_sha256` of the last record, to be compared with the ledger's. */
  readonly lastHash: string;
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
  const breaks: Break[] = [];
  const fromStart = start === 0 && from !== undefined;
  let previousHash = fromStart ? "" : linkOf(records[0]!);
  let previousEra: 1 | 2 | 3 | undefined;
  records.forEach((json, n) => {
    const place = {
      position: start + n,
      previousHash,
      ...(previousEra === undefined ? {} : { previousEra }),
    };
    const { verdict, hash, era } = verifyRecord(json, place, keys, primitives);
    if (!verdict.verified) {
      breaks.push({ position: start + n, reason: verdict.reasons.join("; ") });
    }
    [previousHash, previousEra] = [hash, era];
  });
  return { count: records.length, from, breaks, fromStart, lastHash: previousHash };
}

/** What a record links to, as it says itself. */
function linkOf(record: string): string {
  const json = valueOf(record, "prev_hash") ?? "";
  return /^"[0-9a-f]*"$/.test(json) ? json.slice(1, -1) : "";
}
