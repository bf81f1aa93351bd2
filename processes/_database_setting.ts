import type { Role } from "../store/mod.ts";

/** Name of a role's setting. */
export type DatabaseSetting =
  | "DATABASE_URL"
  | `SEALOOP_DATABASE_${Uppercase<Exclude<Role, "owner">>}_URL`;

/** Returns the name of the setting that has the connection string of a role. */
export function databaseSetting(role: Role): DatabaseSetting {
  if (role === "owner") return "DATABASE_URL";
  return `SEALOOP_DATABASE_${role.toUpperCase() as Uppercase<typeof role>}_URL`;
}
