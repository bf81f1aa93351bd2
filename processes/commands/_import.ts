/** `npm run ledger -- import <file>`: takes over an existing ledger as the beginning of this one. */
import { accessSync, constants } from "node:fs";
import { loadConfig } from "../../config.ts";
import { importLedger, readPublicKey } from "../../ledger/mod.ts";
import { migrate, openStore } from "../../store/mod.ts";
import { errorText, parseArguments, reportFailure, UsageError } from "./_arguments.ts";
import { openDatabase } from "./_database.ts";
import { openMeters } from "./_meter.ts";

const USAGE = `Usage: npm run ledger -- import <file> [--key <key>]

Takes over a ledger as the beginning of this one, which must be empty. The file is an export of a ledger (/api/export):
one receipt a line, or an array, newest or oldest first. It is verified as a whole first. An interrupted import continues
where it stopped.
--key: the public key that signed it, as hex, base64, PEM, or a file with one of these; needed if the file has none.`;

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
    return reportFailure(
      error,
      USAGE,
      (error) => `\nNothing was imported: ${errorText(error, USAGE)}`,
    );
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
      const progress = openMeters();
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
