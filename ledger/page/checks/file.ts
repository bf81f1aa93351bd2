import {
  type Break,
  findPlaceBreaks,
  type Primitives,
  readPosition,
  type TrustedKey,
} from "../../rules/mod.ts";
import {
  createTreeCheck,
  judgeCheckpoint,
  judgeEras,
  NOTHING_PINNED,
  type Trust,
} from "../../trust/mod.ts";
import { checkRange } from "./check_range.ts";
import { splitExport } from "./records.ts";

/** The result of checking an exported file. */
export interface FileReport {
  readonly count: number;
  /** Position of the first record; undefined if the file does not say it. */
  readonly from: number | undefined;
  readonly breaks: readonly Break[];
  /** Pinned facts that the file lacks, so that nobody can tell whether they hold. */
  readonly absent: readonly string[];
  /** False if the first record links to one that is not in the file. */
  readonly fromStart: boolean;
  /** One after the last position. */
  readonly to: number;
  /** `hash_sha256` of the last record, to be compared with the ledger's; undefined if it is missing. */
  readonly lastHash: string | undefined;
}

/**
 * Checks the receipts of an exported file. The file shows no checkpoint: the pinned one stands for it.
 *
 * @throws {TypeError} the file has no receipts
 */
export function checkFile(
  file: string | Uint8Array,
  keys: readonly TrustedKey[],
  primitives: Primitives,
  trust: Trust = NOTHING_PINNED,
): FileReport {
  const { records, from, total, contradiction } = splitExport(file);
  if (records.length === 0) throw new TypeError("The file has no receipts");
  const start = from ?? 0;
  const claimedEnd = (readPosition(records.at(-1)!) ?? 0) + 1;
  // A record that claims a far position must not make a break for each position before it.
  const to = Math.min(Math.max(start + records.length, claimedEnd), start + 2 * records.length);
  const isFromStart = from === 0;
  const range = {
    from: start,
    to,
    alone: !isFromStart,
    source: "file",
    contradictions: contradiction === undefined ? [] : [contradiction],
    wantsLeaves: isFromStart && trust.checkpoint !== undefined,
  } as const;
  const { breaks, lastHash, eras, leaves, places } = checkRange(records, range, keys, primitives);
  const shown = { note: trust.checkpoint?.note, verifierKey: undefined };
  const { checkpoints, absent } = judgeCheckpoint(trust, shown, primitives);
  const tree = createTreeCheck(
    checkpoints,
    (bytes) => primitives.fromHex(primitives.sha256(bytes)),
  );
  tree.add(leaves ?? []);
  const judged = judgeEras(trust, [eras[1], eras[2], eras[3]]);
  return {
    count: records.length,
    from,
    breaks: [
      ...breaks,
      ...(isFromStart ? findPlaceBreaks(places) : []),
      ...tree.differing(),
      ...(leaves ? tree.missing() : []),
      ...(isFromStart && total !== undefined && total !== to
        ? [{ position: to, reason: `It says that its ledger has ${total} receipts, and has ${to}` }]
        : []),
      ...judged.faults.map((reason) => ({ position: start, reason })),
    ],
    absent: [
      ...absent,
      ...judged.absent,
      ...(checkpoints.length > 0 && !leaves ? [PARTIAL] : []),
    ],
    fromStart: isFromStart,
    lastHash,
    to,
  };
}

const PARTIAL =
  "It does not begin with the first receipt, so it can't be compared with the pinned checkpoint";
