import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config.ts";
import { ensureAdminKey } from "../../calls/mod.ts";
import { EmbeddedError } from "../../runtime/embedded/mod.ts";
import { ensureRecoveryKey } from "../../ledger/mod.ts";
import { migrate, openStore, requirePooler } from "../../store/mod.ts";
import { directSetting } from "../_database_setting.ts";
import type { DatabaseUrls } from "./process_list.ts";
import type { Progress } from "./progress.ts";

interface PrepareParts {
  readonly config: Config;
  readonly progress: Progress;
}

/**
 * Brings the schema of a database up to date, and makes the recovery key and the first admin key where there are none. Safe
 * to repeat.
 */
export async function prepareDatabase(
  parts: PrepareParts,
  urls: Pick<DatabaseUrls, "owner" | "operator">,
): Promise<void> {
  const { firstKey } = await parts.progress.step("Database", {
    run: () => prepare(parts, urls),
    describe: ({ migrations }) => migrations === 0 ? "up to date" : `${migrations} migrations`,
  });
  if (firstKey) parts.progress.line(`  First key    ${firstKey}  (admin; shown this once)`);
}

async function prepare(
  { config: { settings, dataDir }, progress }: PrepareParts,
  urls: Pick<DatabaseUrls, "owner" | "operator">,
): Promise<{ migrations: number; firstKey: string | undefined }> {
  const owner = openStore(urls.owner, "owner", 2);
  const operator = openStore(urls.operator, "operator", 1);
  try {
    await requirePooler(owner, directSetting("owner"));
    const { length: migrations } = await migrate(owner);
    await ensureRecoveryKey(owner, {
      publicKey: settings.SEALOOP_LEDGER_RECOVERY_KEY,
      show: (secret) => showRecoveryKey(secret, dataDir, progress),
    });
    return { migrations, firstKey: await ensureAdminKey(operator, join(dataDir, "admin.key")) };
  } catch (error) {
    const { host } = new URL(urls.owner);
    throw new EmbeddedError(`Cannot use the database at ${host}: ${(error as Error).message}`);
  } finally {
    await Promise.all([owner.close(), operator.close()]);
  }
}

/** Shows the private recovery key on the terminal. Where the output may be kept as a log, a file takes it instead. */
async function showRecoveryKey(
  secret: string,
  dataDir: string,
  progress: Progress,
): Promise<void> {
  const purpose = "it replaces a ledger key that is lost or stolen, see docs/keys.md)";
  if (progress.isTerminal) {
    progress.line(`  Recovery key ${secret}  (of the ledger; shown this once: keep it offline,`);
    return progress.line(`               ${purpose}`);
  }
  const file = join(dataDir, "recovery.key");
  await writeFile(file, `${secret}\n`, { mode: 0o600 });
  progress.line(`  Recovery key in ${file}  (of the ledger; move it offline,`);
  progress.line(`               ${purpose}`);
}
