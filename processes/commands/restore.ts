/** `npm run restore -- …`: restores the ledger after a loss of receipts or of the signer's state. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Config, loadConfig } from "../../config.ts";
import {
  acceptClock,
  beginNewLedger,
  loadBackup,
  readLogSettings,
  restoreLedger,
} from "../../ledger/mod.ts";
import { openJournalBlobs } from "../../integrations/blobs/mod.ts";
import { migrate, openStore } from "../../store/mod.ts";
import { forgetSharedSecret } from "../../store/platform/mod.ts";
import { runToEnd } from "../_end.ts";
import { errorText, parseArguments, reportFailure, UsageError } from "./_arguments.ts";
import { openDatabase, openRunningDatabase } from "./_database.ts";
import { openMeters } from "./_meter.ts";

const USAGE = `Usage: npm run restore -- <export>… [--checkpoint <file>] [--backup <folder>]
       npm run restore -- --new-ledger
       npm run restore -- --accept-clock

Puts back the receipts that the database has lost, from exports of the ledger (/api/export) that anyone has kept, until it has
all that the signer knows to be committed. Each export may have any part, and each receipt is verified. All are put back, or
none. The platform may run: sealing is held meanwhile, and continues by itself.
--checkpoint: where the signer's state (the folder signer) is lost, damaged or older than the ledger: the newest checkpoint of
the ledger that you can find, in a backup or where others keep it. The signer starts from there. You answer for it that no
receipts were published beyond those that the database then has.
--backup: loads the database of a backup first (npm run backup). The present database must be empty, and the keys, which are
not in a backup, in their places.
--new-ledger: where nobody has the lost receipts. Stop the platform, set SEALOOP_LEDGER_ORIGIN to another name, and give this.
The old keys are put aside, and a new ledger with new keys continues from the receipts that are left; its first receipt says
what it replaces and what is lost. Readers have to be given the new keys.
--accept-clock: where the clock of this machine was wrong at the newest signature, takes the present time for right.`;

await runToEnd(() =>
  main().then(
    () => 0,
    (error) =>
      reportFailure(error, USAGE, (error) => `\nNothing was restored: ${errorText(error, USAGE)}`),
  )
);

async function main(): Promise<void> {
  const { positionals: exports, values } = parseArguments(USAGE, {
    checkpoint: { type: "string" },
    backup: { type: "string" },
    "new-ledger": { type: "boolean" },
    "accept-clock": { type: "boolean" },
  });
  const config = loadConfig(process.env);
  const keyFile = join(config.dataDir, "ledger.key");
  if (values["accept-clock"]) {
    if (exports.length > 0) throw new UsageError("--accept-clock takes no exports");
    await acceptClock(keyFile, openJournalBlobs(config));
    return console.log("The signer takes the present time for right");
  }
  if (values["new-ledger"]) {
    if (exports.length > 0) throw new UsageError("--new-ledger takes no exports");
    return await replaceLedger(config, keyFile);
  }
  const checkpoint = values.checkpoint && readFileSync(values.checkpoint, "utf8");
  const database = await openRunningDatabase(config);
  const log = readLogSettings(config);
  const owner = openStore(database.urls.owner, "owner", 2);
  const store = openStore(database.urls.sequencer, "sequencer", 2);
  const meters = openMeters();
  try {
    await migrate(owner);
    const backup = values.backup === undefined
      ? undefined
      : await loadBackup({ databaseUrl: database.superuserUrl, log, folder: values.backup });
    if (backup) {
      await forgetSharedSecret(owner.asPlatform(), "engine"); // another machine may make its own
      console.log(`Loaded the backup of ${backup.createdAt}`);
    }
    const { restored, size, startedFrom } = await restoreLedger({
      store,
      keyFile,
      journal: openJournalBlobs(config),
      signerSocket: config.settings.SEALOOP_SIGNER_SOCKET,
      log,
      exports,
      checkpoint,
      minSize: backup?.signedSize,
      onProgress: meters.report,
    }).finally(meters.end);
    if (restored > 0) console.log(`Put back ${restored} receipts; there are ${size} now`);
    if (startedFrom !== undefined) {
      console.log(
        `The signer starts from ${size} receipts, of which a checkpoint proves ${startedFrom}`,
      );
    } else if (restored === 0) {
      console.log(`Nothing is missing: the database has all ${size} receipts that were committed`);
    }
  } finally {
    await Promise.all([owner.close(), store.close()]);
    await database.stop();
  }
}

async function replaceLedger(config: Config, keyFile: string): Promise<void> {
  const database = await openDatabase(config);
  const owner = openStore(database.urls.owner, "owner", 2);
  try {
    await migrate(owner);
    const log = readLogSettings(config);
    const { replaced, retired } = await beginNewLedger({
      owner,
      keyFile,
      journal: openJournalBlobs(config),
      log,
    });
    console.log(
      `A new ledger, ${log.origin}, continues from ${replaced.size} receipts; ` +
        `${replaced.signed_size - replaced.size} are lost. The old keys are in ${retired}. ` +
        "Start the platform, and publish the new keys",
    );
  } finally {
    await owner.close();
    await database.stop();
  }
}
