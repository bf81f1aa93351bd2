/** `npm run ledger -- import <file>`: takes over an existing ledger as the beginning of this one. */
import { accessSync, constants } from "node:fs";
import { type Config, loadConfig } from "../../config.ts";
import { claimDataFolder, startPostgres } from "../../embedded/mod.ts";
import { importLedger, type ImportOptions, readPublicKey } from "../../ledger/mod.ts";
import { migrate, openStore, type Role } from "../../store/mod.ts";
import { errorText, parseArguments, UsageError } from "./_arguments.ts";
import { type Meter, openMeter } from "./_meter.ts";

const USAGE = `Usage: npm run ledger -- import <file> [--key <key>]

Takes over a ledger as the beginning of this one, which must be empty. The file is an export of a ledger (/api/export):
one receipt a line, or an array, newest or oldest first. It is verified as a whole first. An interrupted import continues
where it stopped.
--key: the public key that signed it, as hex, base64, PEM, or a file with one of these; needed if the file has none.`;

/** The database to import into. */
interface Database {
  readonly urls: Readonly<Pick<Record<Role, string>, "owner" | "sequencer">>;
  stop(): Promise<void>;
}

/**
 * Runs the command and prints its result.
 *
 * @param args after the word `import`
 * @returns exit code
 */
export async function runImport(args: string[]): Promise<number> {
  try {
    await importFile(args);
    return 0;
  } catch (error) {
    console.error(`\nNothing was imported: ${errorText(error as Error, USAGE)}`);
    return 1;
  }
}

async function importFile(args: string[]): Promise<void> {
  const { positionals: [path, ...more], values } = parseArguments(USAGE, {
    key: { type: "string", multiple: true },
  }, args);
  if (path === undefined || more.length > 0) throw new UsageError("Give one file");
  const keys = (values.key ?? []).map(readPublicKey);
  accessSync(path, constants.R_OK); // before a database is made for it
  const database = await openDatabase(loadConfig(process.env));
  try {
    const owner = openStore(database.urls.owner, "owner", 2);
    await migrate(owner).finally(() => owner.close());
    const store = openStore(database.urls.sequencer, "sequencer", 2);
    try {
      const progress = openProgress();
      const options = { keys, onProgress: progress.report };
      const { total, isNew } = await importLedger(store, path, options).finally(progress.end);
      console.log(
        isNew ? `Imported ${total} receipts` : `These ${total} receipts were imported before`,
      );
    } finally {
      await store.close();
    }
  } finally {
    await database.stop();
  }
}

/** Opens the database of the settings, or starts this machine's own for the import. */
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

/** Prints the progress of each step on a line of its own. */
function openProgress(): { report: NonNullable<ImportOptions["onProgress"]>; end(): void } {
  let step: string | undefined;
  let meter: Meter | undefined;
  return {
    report(next, done, total) {
      if (next !== step) {
        meter?.end();
        meter = openMeter(next, () => total, done);
        step = next;
      }
      meter?.update(done);
    },
    end: () => meter?.end(),
  };
}
