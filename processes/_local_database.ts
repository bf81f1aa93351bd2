import { BadSetting, type Config } from "../config.ts";
import { databaseUrl } from "../embedded/mod.ts";

/**
 * Returns the connection string of role `app` for programs that the supervisor does not start: from the settings, else
 * that of the platform that `npm start` runs on this machine.
 *
 * @throws {BadSetting} there is neither
 */
export function localDatabaseUrl({ settings, dataDir }: Config): string {
  const url = settings.SEALOOP_DATABASE_APP_URL ?? settings.DATABASE_URL ??
    databaseUrl(dataDir, settings.SEALOOP_POSTGRES_PORT, "app");
  if (url !== undefined) return url;
  throw new BadSetting(
    `There is no platform in ${dataDir} yet: start it first (npm start), or set SEALOOP_DATA to its folder`,
  );
}
