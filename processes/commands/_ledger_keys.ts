import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Config } from "../../config.ts";
import {
  computeFingerprint,
  ensureRecoveryKey,
  listLedgerKeys,
  parseRecoveryKey,
  readPublicKey,
  recoverLedgerKey,
  requestRotation,
} from "../../ledger/mod.ts";
import { openJournalBlobs } from "../../integrations/blobs/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { loadRunningConfig } from "../_running.ts";
import { UsageError } from "./_arguments.ts";
import type { CommandArguments } from "./_command.ts";
import { openDatabase } from "./_database.ts";

/** Time that the sequencer has for a rotation until the command no longer waits. */
const ROTATION_TIMEOUT_MS = 60_000;
const POLL_MS = 250;
const ALREADY =
  "The ledger has a recovery key already; npm run keys -- ledger list shows the public one";

/**
 * Runs `npm run keys -- ledger …`: lists the keys of the ledger, rotates or recovers its signing key.
 *
 * @param words after the word `ledger`
 */
export async function runLedgerKeys(
  openPlatformStore: () => Store,
  [verb, ...more]: readonly string[],
  options: CommandArguments["options"],
): Promise<void> {
  if (more.length > 0) throw new UsageError(`Unexpected argument: ${more.join(" ")}`);
  const config = loadRunningConfig(process.env);
  if (verb === "list") return await list(openPlatformStore());
  if (verb === "rotate") return await rotate(openPlatformStore(), config);
  if (verb === "make-recovery-key") return await makeRecoveryKey(config, options.to);
  if (verb !== "recover") {
    throw new UsageError("Give one of ledger list, make-recovery-key, rotate, recover");
  }
  await recover(config, options);
}

async function list(store: Store): Promise<void> {
  for (const { publicKey, fromPosition, recoveryKey } of await listLedgerKeys(store)) {
    const recovery = recoveryKey === undefined ? "" : `  recovery key ${recoveryKey}`;
    console.log(`from ${fromPosition}  ${publicKey}${recovery}`);
  }
}

async function rotate(store: Store, { dataDir }: Config): Promise<void> {
  const newKey = requestRotation(join(dataDir, "ledger.key"));
  const end = Date.now() + ROTATION_TIMEOUT_MS;
  while ((await listLedgerKeys(store)).at(-1)?.publicKey !== newKey) {
    if (Date.now() > end) {
      throw new Error(
        "The sequencer has not handed over to the new key yet. It will as soon as it seals again; is it running?",
      );
    }
    await sleep(POLL_MS);
  }
  printNewKey(newKey);
}

/** Makes the recovery key of a ledger that has none. Its private half goes to a terminal or a new file, never to a log. */
async function makeRecoveryKey(config: Config, file: unknown): Promise<void> {
  if (typeof file !== "string" && !process.stdout.isTTY) {
    throw new UsageError(
      "make-recovery-key needs --to and a new file, or a terminal to show it on",
    );
  }
  const database = await openDatabase(config);
  try {
    const owner = openStore(database.urls.owner, "owner", 1);
    const isMade = await ensureRecoveryKey(owner, {
      publicKey: config.settings.SEALOOP_LEDGER_RECOVERY_KEY,
      show(secret) {
        if (typeof file === "string") {
          writeFileSync(file, `${secret}\n`, { mode: 0o600, flag: "wx" });
        } else console.log(secret);
      },
    }).finally(() => owner.close());
    console.log(isMade ? "Stored the public key. Keep the private one offline." : ALREADY);
    if (!isMade) process.exitCode = 1;
  } finally {
    await database.stop();
  }
}

async function recover(config: Config, options: CommandArguments["options"]): Promise<void> {
  const { "recovery-key": file, "new-recovery-key": next } = options;
  if (typeof file !== "string") {
    throw new UsageError("recover needs --recovery-key and the file with the private recovery key");
  }
  const recoveryKey = parseRecoveryKey(readFileSync(file, "utf8"));
  const newRecoveryKey = typeof next === "string" ? readPublicKey(next) : undefined;
  const database = await openDatabase(config);
  try {
    const store = openStore(database.urls.sequencer, "sequencer", 2);
    const keyFile = join(config.dataDir, "ledger.key");
    const newKey = await recoverLedgerKey({
      store,
      keyFile,
      journal: openJournalBlobs(config),
      recoveryKey,
      newRecoveryKey,
    })
      .finally(() => store.close());
    printNewKey(newKey);
  } finally {
    await database.stop();
  }
}

function printNewKey(newKey: string): void {
  console.log(
    `The ledger's key is now ${newKey}\nIts fingerprint is ${computeFingerprint(newKey)}.\n` +
      "Who has pinned the key before needs nothing new: a receipt proves the change. Publish the new key all the same.",
  );
}
