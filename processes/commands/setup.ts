/** `npm run setup`: makes what the processes need on servers of the operator's own. */
import { mkdir } from "node:fs/promises";
import { type Config, loadConfig } from "../../config.ts";
import { connectBare, prepareNamespace } from "../../runtime/temporal/mod.ts";
import { runToEnd } from "../_end.ts";
import { localDatabaseUrl } from "../_local_database.ts";
import { openProgress, prepareDatabase } from "../supervisor/mod.ts";
import { parseArguments, reportFailure, UsageError } from "./_arguments.ts";

const USAGE = `Usage: npm run setup

Brings the schema of the database up to date; makes the ledger's recovery key, the first admin key, and Temporal's namespace
and search attributes, where there are none. Run it before the first process and after each update. Needs DATABASE_URL,
SEALOOP_DATABASE_OPERATOR_URL and TEMPORAL_ADDRESS.`;

await runToEnd(async () => {
  try {
    if (parseArguments(USAGE, {}).positionals.length > 0) throw new UsageError("It takes no words");
    await setUp(loadConfig(process.env));
    return 0;
  } catch (error) {
    return reportFailure(error, USAGE);
  }
});

async function setUp(config: Config): Promise<void> {
  const progress = openProgress(process.stdout);
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 }); // for the keys that it makes
  const owner = localDatabaseUrl(config, "owner");
  const operator = localDatabaseUrl(config, "operator");
  await prepareDatabase({ config, progress }, { owner, operator });
  const { client, namespace, close } = await connectBare(config);
  try {
    await progress.step("Temporal", {
      run: () => prepareNamespace(client, config),
      describe: () => `namespace ${namespace}`,
    });
  } finally {
    await close();
  }
}
