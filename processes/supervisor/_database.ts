import { BadSetting } from "../../config.ts";
import { logPath, startPostgres } from "../../runtime/embedded/mod.ts";
import { type Role, ROLES } from "../../store/mod.ts";
import { databaseSetting, directUrl } from "../_database_setting.ts";
import { applySettings } from "./_settings.ts";
import type { Supervisor } from "./_supervisor.ts";
import { describeServer } from "../_presence.ts";
import { keepServer } from "./kept_server.ts";
import { prepareDatabase } from "./prepare.ts";
import type { DatabaseUrls } from "./process_list.ts";

/**
 * Starts PostgreSQL, unless the settings name one, brings its schema up to date, makes the first admin key, checks the
 * settings files and puts the governance file in force.
 */
export async function bringUpDatabase(supervisor: Supervisor): Promise<DatabaseUrls> {
  const { config: { settings } } = supervisor;
  const urls = settings.DATABASE_URL === undefined
    ? await startEmbedded(supervisor)
    : externalUrls(settings);
  await prepareDatabase(supervisor, urls);
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

/** Returns those of the settings; of the roles that this process logs in as itself, those around a pooler. @throws {BadSetting} a role has no connection string */
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
  const urls = Object.fromEntries(names.map(([role, name]) => [role, settings[name]!]));
  const own = (["owner", "operator"] as const).map((
    role,
  ) => [role, directUrl(settings, role) ?? urls[role]]);
  return { ...urls, ...Object.fromEntries(own) } as DatabaseUrls;
}
