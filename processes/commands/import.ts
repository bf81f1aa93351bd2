/** `npm run ledger -- import <file>`: takes over an existing ledger as the beginning of this one. */
import { accessSync, constants } from "node:fs";
import { type Config, loadConfig } from "../../config.ts";
import { claimDataFolder, startPostgres } from "../../embedded/mod.ts";
import { importLedger, type ImportOptions, readPublicKey } from "../../ledger/mod.ts";
import { migrate, openStore, type Role } from "../../store/mod.ts";
import { type Meter, openMeter } from "./_meter.ts";
import { Misused, readWords, sentenceOf } from "./_typed.ts";

const USAGE = `Usage: npm run ledger -- import <file> [--key <key>]

Takes over a ledger as the beginning of this one, which must be empty: what /api/export gave, one receipt a line,
or an array, newest or oldest first. All of it is verified before; called again after it was stopped, it goes on.
--key: the public key that signed it, as hex, base64, PEM, or a file with it; needed where the file names none.`;

/** A database to import into. */
interface Database {
  readonly urls: Readonly<Pick<Record<Role, string>, "owner" | "sequencer">>;
  stop(): Promise<void>;
}

process.exitCode = await main().catch((error: Error) => {
  console.error(`\nNothing was taken over: ${sentenceOf(error, USAGE)}`);
  return 1;
});
process.exit();

async function main(): Promise<number> {
  const { positionals: [path, ...more], values } = readWords("import", USAGE, {
    key: { type: "string", multiple: true },
  });
  if (path === undefined || more.length > 0) throw new Misused("it takes one file");
  const keys = (values.key ?? []).map(readPublicKey);
  accessSync(path, constants.R_OK); // before a database is made for it
  const database = await openDatabase(loadConfig(process.env));
  try {
    const owner = openStore(database.urls.owner, "owner", 2);
    await migrate(owner).finally(() => owner.close());
    const store = openStore(database.urls.sequencer, "sequencer", 2);
    try {
      const progress = sayer();
      const { total, isNew } = await importLedger(store, path, { keys, onProgress: progress.say })
        .finally(progress.end);
      console.log(
        isNew ? `Took over ${total} receipts` : `These ${total} receipts were taken over before`,
      );
    } finally {
      await store.close();
    }
    return 0;
  } finally {
    await database.stop();
  }
}

/** The database that the environment names, or this machine's own, started for this alone. */
async function openDatabase({ settings, dataDir }: Config): Promise<Database> {
  const { DATABASE_URL, SEALOOP_DATABASE_SEQUENCER_URL: sequencer = DATABASE_URL } = settings;
  if (DATABASE_URL && sequencer) {
    return { urls: { owner: DATABASE_URL, sequencer }, stop: () => Promise.resolve() };
  }
  const tree = await claimDataFolder(dataDir);
  const stop = async () => {
    await tree.stop();
    await tree.release();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(1)));
  }
  try {
    const { urls } = await startPostgres(dataDir, settings.SEALOOP_POSTGRES_PORT, tree);
    return { urls, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Says how far each step has come, on a line of its own. */
function sayer(): { say: NonNullable<ImportOptions["onProgress"]>; end(): void } {
  let step: string | undefined;
  let meter: Meter | undefined;
  return {
    say(next, done, total) {
      if (next !== step) {
        meter?.end();
        meter = openMeter(next, () => total, done);
        step = next;
      }
      meter?.at(done);
    },
    end: () => meter?.end(),
  };
}
