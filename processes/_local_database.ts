import { BadSetting, type Config } from "../config.ts";
import { databaseUrl } from "../runtime/embedded/mod.ts";
import type { Role } from "../store/mod.ts";
import { databaseSetting, directUrl } from "./_database_setting.ts";

/**
 * Returns the connection string of a role for programs that the supervisor does not start: from its settings, where one
 * leads around a pooler that one, else that of the platform that `npm start` runs on this machine.
 *
 * @throws {BadSetting} there is neither
 */
export function localDatabaseUrl({ settings, dataDir }: Config, role: Role): string {
  const name = databaseSetting(role);
  const url = directUrl(settings, role) ?? settings[name];
  if (url !== undefined) return url;
  if (settings.DATABASE_URL !== undefined) {
    throw new BadSetting(
      `Set ${name}, too: DATABASE_URL is the database as its owner's role alone`,
    );
  }
  const local = databaseUrl(dataDir, settings.SEALOOP_POSTGRES_PORT, role);
  if (local !== undefined) return local;
  throw new BadSetting(
    `There is no platform in ${dataDir} yet: start it first (npm start), set SEALOOP_DATA to its folder, ` +
      `or ${name} where its database is elsewhere`,
  );
}
