/** `npm run verify -- <url or file>`: verifies a whole ledger from its receipts alone, without the platform's database. */
import { existsSync, readFileSync } from "node:fs";
import { escapeInvisible } from "../../contract/mod.ts";
import {
  BadTrust,
  computeFingerprint,
  exitCodeOf,
  formatTrust,
  type LedgerSource,
  type LedgerVerdict,
  NODE_PRIMITIVES,
  NOTHING_PINNED,
  openLedgerUrl,
  openReceiptFile,
  parseTrust,
  pinShown,
  readFileKeys,
  type Trust,
  verifyEvidence,
  verifySource,
  withCheckpoint,
  writeDurably,
} from "../../ledger/mod.ts";
import { runToEnd } from "../_end.ts";
import { errorText, parseArguments, reportFailure, UsageError } from "./_arguments.ts";
import { openMeter } from "./_meter.ts";

const USAGE =
  `Usage: npm run verify -- <address of a public ledger, or file> [--trust <file>] [--remember] [--allow-unsigned]
         [--pin <new file>] [--threads <n>]
       npm run verify -- --evidence <file> [--trust <file>]

Verifies every receipt, every link, and that the ledger's signed checkpoint matches the receipts. A file is an export of a
ledger (/api/export): one receipt a line, an array, or one page with all of them, and nothing else.
--trust: a trust file, usually sealoop.trust.json, with what you know about the ledger from elsewhere: its keys, the log's
key, witnesses, the newest checkpoint seen. Without it, whatever the ledger names is believed.
--remember: writes the checkpoint into the trust file if everything is valid.
--allow-unsigned: receipts of era 1 are not signed; with a trust file they count only with this, or with "min_era": 1.
--pin: writes a new trust file with what the ledger shows, if everything is valid. Compare its keys with another source.
--evidence: verifies a file of private evidence that an operator has opened (npm run evidence -- … --save <file>), without a
ledger: its receipts and their place in the log, that what was opened is what was sealed, and of approvals what passkeys have
signed, and who decided. Prints what is claimed, and what is not.
Exit code: 0 everything is valid, 1 something is not, 2 nobody can tell, as something is missing or can't be read.`;

await runToEnd(() =>
  main().catch((error) => {
    const part = error instanceof BadTrust ? "The trust file is not usable. " : "";
    const describe = (error: Error) =>
      `Cannot verify: ${part}${escapeInvisible(errorText(error, USAGE))}`;
    return reportFailure(error, USAGE, describe, 2);
  })
);

async function main(): Promise<number> {
  const { positionals: [address, ...more], values } = parseArguments(USAGE, {
    trust: { type: "string" },
    remember: { type: "boolean" },
    "allow-unsigned": { type: "boolean" },
    pin: { type: "string" },
    threads: { type: "string" },
    evidence: { type: "string" },
  });
  const { trust: trustFile, remember, pin, evidence } = values;
  if (evidence !== undefined) {
    if (address !== undefined || remember || pin !== undefined) {
      throw new UsageError("--evidence takes --trust alone");
    }
    return await verifyOpened(evidence, readTrust(trustFile));
  }
  if (address === undefined || more.length > 0) throw new UsageError("Give one address or file");
  if (remember && trustFile === undefined) throw new UsageError("--remember needs --trust");
  if (pin !== undefined && existsSync(pin)) throw new UsageError(`The file ${pin} exists already`);
  const trust = readTrust(trustFile, values["allow-unsigned"]);
  const { source, close } = await open(address, trust);
  const meter = openMeter("verified", source.total);
  try {
    const verdict = await verifySource(source, trust, {
      threads: values.threads === undefined ? undefined : parseThreads(values.threads),
      onProgress: meter.update,
    });
    meter.end();
    const code = report(verdict);
    if (code === 0 && remember) await rememberCheckpoint(trustFile!, source);
    if (code === 0 && pin !== undefined) await writePins(pin, source, verdict);
    return code;
  } finally {
    await close();
  }
}

async function verifyOpened(file: string, trust: Trust): Promise<number> {
  const { exit, lines } = await verifyEvidence(readFileSync(file, "utf8"), trust, NODE_PRIMITIVES);
  console.log(lines.join("\n"));
  return exit;
}

function readTrust(file: string | undefined, allowUnsigned = false): Trust {
  if (file === undefined) return NOTHING_PINNED;
  const trust = parseTrust(readFileSync(file, "utf8"), NODE_PRIMITIVES);
  return allowUnsigned ? { ...trust, minEra: 1 } : trust;
}

function parseThreads(text: string): number {
  if (/^[1-9]\d?$/.test(text)) return Number(text);
  throw new Error(`--threads ${text} is not a number from 1 to 99`);
}

/** Opens a ledger. A file shows no checkpoint: the pinned one stands for it. */
async function open(
  address: string,
  trust: Trust,
): Promise<{ source: LedgerSource; close(): Promise<void> }> {
  if (/^https?:\/\//.test(address)) {
    return { source: await openLedgerUrl(address, trust), close: () => Promise.resolve() };
  }
  const file = await openReceiptFile(address);
  const { envelope, total, contradiction, batches, close } = file;
  const source = {
    named: envelope,
    keys: await readFileKeys(file, []),
    checkpoint: { note: trust.checkpoint?.note, verifierKey: undefined },
    total: () => total,
    contradiction: () => contradiction,
    batches,
  };
  return { source, close };
}

function report(verdict: LedgerVerdict): 0 | 1 | 2 {
  const { total, eras, breaks, firstBreaks, faults, absent, keys, unproven } = verdict;
  const say = (text: string) => console.log(escapeInvisible(text)); // a server may have written it
  for (const { position, reason } of firstBreaks) say(`position ${position}: ${reason}`);
  if (breaks > firstBreaks.length) console.log(`… and ${breaks - firstBreaks.length} more`);
  for (const fault of faults) say(`the ledger: ${fault}`);
  if (unproven !== undefined && !keys.some(({ isPinned }) => isPinned)) {
    console.log(
      `unproven from position ${unproven}: a new key adopted the receipts before; pin it if you know it`,
    );
  }
  for (const { publicKey, fromPosition } of keys) {
    console.log(
      `key of fingerprint ${computeFingerprint(publicKey)}, from position ${fromPosition}`,
    );
  }
  const [v1, v2, v3] = eras;
  const problems = breaks + faults.length;
  console.log(
    `${total} receipts (${v1} of era 1, ${v2} of era 2, ${v3} of era 3), ${problems} ${
      problems === 1 ? "problem" : "problems"
    }${describeCheckpoints(verdict)}`,
  );
  for (const reason of absent) console.error(escapeInvisible(`Cannot verify: ${reason}`));
  return exitCodeOf(verdict);
}

function describeCheckpoints({ checkpointSizes: sizes, isUncompared }: LedgerVerdict): string {
  if (sizes.length === 0) return "";
  const missing = isUncompared ? " (not compared, as receipts are missing)" : "";
  return `, ${sizes.length === 1 ? "checkpoint" : "checkpoints"} of ${
    sizes.join(" and ")
  }${missing}`;
}

async function rememberCheckpoint(file: string, { checkpoint }: LedgerSource): Promise<void> {
  const trust = readTrust(file); // without what the command line has changed
  if (!trust.logKey || checkpoint.note === undefined) {
    throw new Error(`Nothing to remember: ${file} has no log_key, so no checkpoint is trusted`);
  }
  const newer = withCheckpoint(trust, checkpoint.note, NODE_PRIMITIVES);
  await writeDurably(file, formatTrust(newer, NODE_PRIMITIVES));
  console.log(`remembered the checkpoint of ${newer.checkpoint!.size} receipts in ${file}`);
}

async function writePins(
  file: string,
  source: LedgerSource,
  { keys, eras }: LedgerVerdict,
): Promise<void> {
  const trust = pinShown(source.named, source.checkpoint, { keys, eras }, NODE_PRIMITIVES);
  await writeDurably(file, formatTrust(trust, NODE_PRIMITIVES));
  console.log(`wrote ${file}: compare its keys with another source before you rely on it`);
}
