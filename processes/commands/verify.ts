/** `npm run verify -- <url or file>`: verifies a whole ledger from its receipts alone, without the platform's database. */
import { readFileSync } from "node:fs";
import {
  type ChainVerdict,
  type CheckpointCheck,
  computeFingerprint,
  openCheckpointCheck,
  openLedgerUrl,
  openReceiptFile,
  readFileKeys,
  readPublicKey,
  selectTrustedKeys,
  type SignedCheckpoint,
  type TrustedKey,
  verifyInParallel,
} from "../../ledger/mod.ts";
import { errorText, parseArguments, UsageError } from "./_arguments.ts";
import { openMeter } from "./_meter.ts";

const USAGE =
  `Usage: npm run verify -- <address of a public ledger, or file> [--key <key>] [--log-key <key>]
         [--checkpoint <file>] [--threads <n>]

Verifies every receipt, every link, and that the ledger's signed checkpoint matches the receipts. A file is an export of a
ledger (/api/export): one receipt a line, or an array.
--key: a public key that you know, as hex, base64, PEM, a file with one of these, or the fingerprint of a published key;
without it the published keys are trusted. One is enough: receipts prove how each key of a ledger hands over to the next.
--log-key: the verifier key of its Merkle log that you know. --checkpoint: a file with a checkpoint that you kept, which
the ledger must still match.
Exit code: 0 everything is valid, 1 something is not, 2 the verification failed.`;

const UNPROVEN =
  "no key that you gave vouches for the key from there on. If you know it, give it with --key";

/** A ledger to verify. */
interface Subject {
  readonly keys: readonly TrustedKey[];
  /** A checkpoint that the receipts must match, if there is one. */
  readonly checkpoint: CheckpointCheck | undefined;
  /** Returns how many receipts there should be, if the source says so. */
  total(): number | undefined;
  batches(): AsyncIterable<readonly Buffer[]>;
  close(): Promise<void>;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(`Cannot verify: ${errorText(error, USAGE)}`);
  return 2;
});
process.exit();

async function main(): Promise<number> {
  const { positionals: [source, ...more], values } = parseArguments(USAGE, {
    key: { type: "string", multiple: true },
    "log-key": { type: "string" },
    checkpoint: { type: "string" },
    threads: { type: "string" },
  });
  if (source === undefined || more.length > 0) {
    throw new UsageError("Give one address or file");
  }
  const subject = await open(source, {
    keys: values.key ?? [],
    logKey: values["log-key"],
    checkpoint: values.checkpoint,
  });
  const meter = openMeter("verified", subject.total);
  try {
    const verdict = await verifyInParallel(subject.batches(), subject.keys, {
      threads: values.threads === undefined ? undefined : parseThreads(values.threads),
      onProgress: meter.update,
      onLeaves: subject.checkpoint?.add,
    });
    meter.end();
    refuseWithoutKey(verdict, subject);
    return report(verdict, subject);
  } finally {
    await subject.close();
  }
}

function parseThreads(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new Error(`--threads ${text} is not a number from 1 to 99`);
}

/** The caller's own knowledge of a ledger. */
interface Known {
  readonly keys: readonly string[];
  readonly logKey: string | undefined;
  /** Path of a checkpoint that the caller kept. */
  readonly checkpoint: string | undefined;
}

async function open(source: string, known: Known): Promise<Subject> {
  const keys = known.keys.map(readPublicKey);
  if (/^https?:\/\//.test(source)) {
    const { howToVerify, checkpoint, total, batches } = await openLedgerUrl(source);
    return {
      keys: selectTrustedKeys(howToVerify, keys),
      checkpoint: openCheckpoint(known, checkpoint),
      total,
      batches,
      close: () => Promise.resolve(),
    };
  }
  const file = await openReceiptFile(source);
  const { envelope: { total } } = file;
  return {
    keys: await readFileKeys(file, keys),
    checkpoint: openCheckpoint(known, undefined),
    total: () => typeof total === "number" ? total : undefined,
    batches: file.batches,
    close: file.close,
  };
}

/** Opens the check of the caller's checkpoint, else of the published one. */
function openCheckpoint(
  known: Known,
  published: SignedCheckpoint | undefined,
): CheckpointCheck | undefined {
  const note = known.checkpoint === undefined
    ? published?.note
    : readFileSync(known.checkpoint, "utf8");
  const verifierKey = known.logKey ?? published?.verifierKey;
  if (note === undefined) return undefined;
  if (verifierKey === undefined) {
    throw new Error("a checkpoint needs its verifier key: give it with --log-key");
  }
  return openCheckpointCheck({ note, verifierKey });
}

/** Refuses to go on without a key: every receipt would look as if it were signed with a wrong one. */
function refuseWithoutKey({ eras: [, v2, v3] }: ChainVerdict, { keys }: Subject): void {
  if (keys.length > 0 || v2 + v3 === 0) return;
  throw new Error(
    `${v2 + v3} receipts are signed, and the file has no key: give it with --key ` +
      "(public_key in the ledger's /api/how-to-verify)",
  );
}

function report(
  { total, end, eras, breaks, firstBreaks, unproven }: ChainVerdict,
  { keys, checkpoint, ...subject }: Subject,
): number {
  for (const { position, reason } of firstBreaks) console.log(`position ${position}: ${reason}`);
  if (breaks > firstBreaks.length) console.log(`… and ${breaks - firstBreaks.length} more`);
  const expected = subject.total() ?? end;
  const missing = expected - end;
  if (missing > 0) console.log(`position ${end}: Missing: there should be ${expected} receipts`);
  const compared = end === total ? checkpoint : undefined; // it cannot match if receipts are missing
  const problem = compared?.problem();
  if (problem) console.log(`position ${problem.position}: ${problem.reason}`);
  const isPinned = keys.some((key) => key.isPinned);
  if (unproven !== undefined) {
    console.log(`unproven from position ${unproven}: ${UNPROVEN}`);
  }
  for (const { publicKey, fromPosition } of keys) {
    console.log(
      `key of fingerprint ${computeFingerprint(publicKey)}, from position ${fromPosition}`,
    );
  }
  const [v1, v2, v3] = eras;
  console.log(
    `${total} receipts (${v1} of era 1, ${v2} of era 2, ${v3} of era 3), ${breaks} ${
      breaks === 1 ? "break" : "breaks"
    }` +
      (checkpoint ? `, checkpoint of ${checkpoint.size}` : "") +
      (checkpoint && !compared ? " (not compared, as receipts are missing)" : ""),
  );
  if (breaks > 0 || missing > 0 || problem) return 1;
  return unproven !== undefined && isPinned ? 2 : 0;
}
