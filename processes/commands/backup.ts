/** `npm run backup -- <folder>`: backs up the database, the newest checkpoint and the signer's state. */
import { join, resolve } from "node:path";
import { backUp, readLogSettings } from "../../ledger/mod.ts";
import { openJournalBlobs } from "../../integrations/blobs/mod.ts";
import { runToEnd } from "../_end.ts";
import { loadRunningConfig } from "../_running.ts";
import { errorText, parseArguments, reportFailure, UsageError } from "./_arguments.ts";
import { openRunningDatabase } from "./_database.ts";

const USAGE = `Usage: npm run backup -- <folder>

Makes the folder, with a dump of the database, the newest checkpoint, the signer's state, and a manifest that is signed with the
log's key. The platform may run. The dump has everything private that the platform has. The keys are not in it: keep
ledger.key, checkpoint.key, webhook.key and place.key of the data folder elsewhere.
With a PostgreSQL of your own, set SEALOOP_DATABASE_BACKUP_URL to a role that sees all rows (the superuser, or BYPASSRLS).`;

await runToEnd(() =>
  main().then(
    () => 0,
    (error) =>
      reportFailure(error, USAGE, (error) => `Nothing was backed up: ${errorText(error, USAGE)}`),
  )
);

async function main(): Promise<void> {
  const { positionals: [path, ...more] } = parseArguments(USAGE, {});
  if (path === undefined || more.length > 0) throw new UsageError("Give one folder");
  const config = loadRunningConfig(process.env);
  const folder = resolve(path);
  const database = await openRunningDatabase(config);
  try {
    await backUp({
      databaseUrl: database.superuserUrl,
      keyFile: join(config.dataDir, "ledger.key"),
      journal: openJournalBlobs(config),
      log: readLogSettings(config),
      folder,
    });
    console.log(`Backed up to ${folder}`);
  } finally {
    await database.stop();
  }
}
