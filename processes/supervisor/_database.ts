import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BadSetting } from "../../config.ts";
import { ensureAdminKey } from "../../calls/mod.ts";
import { EmbeddedError, logPath, startPostgres } from "../../runtime/embedded/mod.ts";
import { ensureRecoveryKey } from "../../ledger/mod.ts";
import { migrate, openStore, type Role, ROLES } from "../../store/mod.ts";
import { databaseSetting } from "../_database_setting.ts";
import { applySettings } from "./_settings.ts";
import type { Supervisor } from "./_supervisor.ts";
import { describeServer } from "../_presence.ts";
import { keepServer } from "./kept_server.ts";
import type { DatabaseUrls } from "./process_list.ts";
import type { Progress } from "./progress.ts";

/**
 * Starts PostgreSQL, unless the settings name one, brings its schema up to date, makes the first admin key, checks the
 * settings files and puts the governance file in force.
 */
export async function bringUpDatabase(supervisor: Supervisor): Promise<DatabaseUrls> {
  const { config: { settings }, progress } = supervisor;
  const urls = settings.DATABASE_URL === undefined
    ? await startEmbedded(supervisor)
    : externalUrls(settings);
  const { firstKey } = await progress.step("Database", {
    run: () => prepare(supervisor, urls),
    describe: ({ migrations }) => migrations === 0 ? "up to date" : `${migrations} migrations`,
  });
  if (firstKey) progress.line(`  First key    ${firstKey}  (admin; shown this once)`);
  await applySettings(supervisor.config, urls.operator);
  return urls;
}

async function startEmbedded(
  { config: { settings, dataDir }, progress, tree, restarted, kept, fail }: Supervisor,
): Promise<DatabaseUrls> {
  const { urls } = await progress.step("PostgreSQL", {
    async run() {
      const server = await keepServer({
        title: "PostgreSQL",
        log: logPath(dataDir, "postgres"),
        start: () => startPostgres(dataDir, settings.SEALOOP_POSTGRES_PORT, tree),
        print: progress.news,
        fail,
      });
      restarted.push(server);
      kept.push(() => describeServer("postgresql", dataDir, server));
      return server.current();
    },
    describe: ({ version, port }) => `${version} on 127.0.0.1:${port}`,
  });
  return urls;
}

/** @throws {BadSetting} a role has no connection string */
function externalUrls(settings: Supervisor["config"]["settings"]): DatabaseUrls {
  const names = (Object.keys(ROLES) as Role[]).map((role) =>
    [role, databaseSetting(role)] as const
  );
  const missing = names.filter(([, name]) => settings[name] === undefined);
  if (missing.length > 0) {
    const list = missing.map(([role, name]) => `\n  ${name}, for ${ROLES[role]}`).join("");
    throw new BadSetting(
      "Each process logs in to the database as a role of its own. Set besides DATABASE_URL:" +
        `${list}\nnpm run database -- roles prints the statements that create the roles, and these settings`,
    );
  }
  return Object.fromEntries(names.map(([role, name]) => [role, settings[name]!])) as DatabaseUrls;
}

async function prepare(
  { config: { settings, dataDir }, progress }: Supervisor,
  urls: DatabaseUrls,
): Promise<{ migrations: number; firstKey: string | undefined }> {
  const owner = openStore(urls.owner, "owner", 2);
  const operator = openStore(urls.operator, "operator", 1);
  try {
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
