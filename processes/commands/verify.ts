/** `npm run verify -- <url or file>`: verifies a whole ledger, without a database and without its word. */
import { readFileSync } from "node:fs";
import {
  type ChainVerdict,
  openCheckpointCheck,
  type CheckpointCheck,
  computeFingerprint,
  selectTrustedKeys,
  openLedgerUrl,
  openReceiptFile,
  readPublicKey,
  type SignedCheckpoint,
  type TrustedKey,
  verifyInParallel,
} from "../../ledger/mod.ts";
import { openMeter } from "./_meter.ts";
import { Misused, readWords, sentenceOf } from "./_typed.ts";

const USAGE =
  `Usage: npm run verify -- <address of a public ledger, or file> [--key <key>] [--log-key <key>]
         [--checkpoint <file>] [--threads <n>]

Verifies every receipt and every link, and that the ledger's signed checkpoint is of these receipts. A file is what /api/export gave, one receipt a line, or an array.
--key: a public key that you know, as hex, base64, PEM, or a file with it, or the fingerprint of a published one;
without it the published ones are believed. A ledger that has had several keys takes one --key for each.
--log-key: the verifier key of its Merkle log that you know; --checkpoint: a checkpoint that you have kept, which this
ledger must still hold.
Ends with 0 where everything holds, with 1 where it does not, and with 2 where that can't be told.`;

/** What is verified. */
interface Subject {
  readonly keys: readonly TrustedKey[];
  /** A checkpoint that it must fit; undefined: there is none. */
  readonly checkpoint: CheckpointCheck | undefined;
  /** How many receipts there should be; undefined: nobody says. */
  total(): number | undefined;
  batches(): AsyncIterable<readonly Buffer[]>;
  close(): Promise<void>;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(`Cannot verify: ${sentenceOf(error, USAGE)}`);
  return 2;
});
process.exit();

async function main(): Promise<number> {
  const { positionals: [source, ...more], values } = readWords("verify", USAGE, {
    key: { type: "string", multiple: true },
    "log-key": { type: "string" },
    checkpoint: { type: "string" },
    threads: { type: "string" },
  });
  if (source === undefined || more.length > 0) {
    throw new Misused("it takes one address or file");
  }
  const subject = await open(source, {
    keys: values.key ?? [],
    logKey: values["log-key"],
    checkpoint: values.checkpoint,
  });
  const meter = openMeter("verified", subject.total);
  try {
    const verdict = await verifyInParallel(subject.batches(), subject.keys, {
      threads: values.threads === undefined ? undefined : threads(values.threads),
      onProgress: meter.at,
      onLeaves: subject.checkpoint?.add,
    });
    meter.end();
    refuseWithoutKey(verdict, subject);
    return report(verdict, subject);
  } finally {
    await subject.close();
  }
}

function threads(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new Error(`--threads ${text} is not a number from 1 to 99`);
}

/** What the caller knows of a ledger beforehand. */
interface Known {
  readonly keys: readonly string[];
  readonly logKey: string | undefined;
  /** Path of a kept checkpoint. */
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
    keys: selectTrustedKeys(file.envelope, keys),
    checkpoint: openCheckpoint(known, undefined),
    total: () => typeof total === "number" ? total : undefined,
    batches: file.batches,
    close: file.close,
  };
}

/** What is kept comes before what the ledger says of itself. */
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
    throw new Error("a checkpoint needs its key: give it by --log-key");
  }
  return openCheckpointCheck({ note, verifierKey });
}

/** Without a key, what is signed would look as if it were signed by a wrong one. */
function refuseWithoutKey({ eras: [, v2, v3] }: ChainVerdict, { keys }: Subject): void {
  if (keys.length > 0 || v2 + v3 === 0) return;
  throw new Error(
    `${v2 + v3} receipts are signed, and the file does not say by which key: give it by --key ` +
      "(the ledger has it in /api/how-to-verify as public_key)",
  );
}

function report(
  { total, end, eras, breaks, firstBreaks }: ChainVerdict,
  { keys, checkpoint, ...subject }: Subject,
): number {
  for (const { position, reason } of firstBreaks) console.log(`position ${position}: ${reason}`);
  if (breaks > firstBreaks.length) console.log(`… and ${breaks - firstBreaks.length} more`);
  const expected = subject.total() ?? end;
  const missing = expected - end;
  if (missing > 0) console.log(`position ${end}: Missing: there should be ${expected} receipts`);
  const compared = end === total ? checkpoint : undefined; // else it can't fit
  const problem = compared?.problem();
  if (problem) console.log(`position ${problem.position}: ${problem.reason}`);
  for (const { publicKey, fromPosition } of keys) {
    console.log(`key of fingerprint ${computeFingerprint(publicKey)}, from position ${fromPosition}`);
  }
  const [v1, v2, v3] = eras;
  console.log(
    `${total} receipts (${v1} of era 1, ${v2} of era 2, ${v3} of era 3), ${breaks} ${
      breaks === 1 ? "break" : "breaks"
    }` +
      (checkpoint ? `, checkpoint of ${checkpoint.size}` : "") +
      (checkpoint && !compared ? " (not compared, as receipts are missing)" : ""),
  );
  return breaks === 0 && missing <= 0 && !problem ? 0 : 1;
}
