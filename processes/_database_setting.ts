import type { Settings } from "../config.ts";
import type { Role } from "../store/mod.ts";

/** Name of a role's setting. */
export type DatabaseSetting =
  | "DATABASE_URL"
  | `SEALOOP_DATABASE_${Uppercase<Exclude<Role, "owner">>}_URL`;

/** Name of a role's setting for what outlives a statement. */
export type DirectSetting =
  | "DATABASE_DIRECT_URL"
  | `SEALOOP_DATABASE_${Uppercase<Exclude<Role, "owner">>}_DIRECT_URL`;

/** Returns the name of the setting that has the connection string of a role. */
export function databaseSetting(role: Role): DatabaseSetting {
  if (role === "owner") return "DATABASE_URL";
  return `SEALOOP_DATABASE_${role.toUpperCase() as Uppercase<typeof role>}_URL`;
}

/** Returns the name of the setting that has the same without a pooler in between. */
export function directSetting(role: Role): DirectSetting {
  if (role === "owner") return "DATABASE_DIRECT_URL";
  return `SEALOOP_DATABASE_${role.toUpperCase() as Uppercase<typeof role>}_DIRECT_URL`;
}

/** Returns the connection string for what outlives a statement; undefined: the one for statements serves. */
export function directUrl(settings: Settings, role: Role): string | undefined {
  return settings[directSetting(role)];
}
