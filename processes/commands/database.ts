/** `npm run database -- roles`: prints the statements that create the platform's roles on a PostgreSQL of the operator's own. */
import { randomBytes } from "node:crypto";
import { createDatabaseSql, createRolesSql, type Role, ROLES } from "../../store/mod.ts";
import { databaseSetting } from "../_database_setting.ts";
import { runToEnd } from "../_end.ts";
import { parseArguments, reportFailure, UsageError } from "./_arguments.ts";

const USAGE =
  `Usage: npm run -s database -- roles [--at <host:port>] [--name <database>] > roles.sql

Prints SQL that creates the roles of the platform, each with a password of its own, and the database. Run it once, as an
administrator of the server: psql -f roles.sql. Its last lines are the settings of the platform as comments. Keep the file
secret. Run again, it gives the roles new passwords.
--at: default localhost:5432. --name: of the database, default sealoop.`;

await runToEnd(() => {
  try {
    const { positionals, values } = parseArguments(USAGE, {
      at: { type: "string", default: "localhost:5432" },
      name: { type: "string", default: "sealoop" },
    });
    if (positionals.join(" ") !== "roles") throw new UsageError("Give roles");
    if (!/^[a-z_][a-z0-9_]*$/.test(values.name!)) {
      throw new UsageError("--name is of lower-case letters, digits and _");
    }
    console.log(rolesFile(values.at!, values.name!));
    return 0;
  } catch (error) {
    return reportFailure(error, USAGE);
  }
});

function rolesFile(place: string, database: string): string {
  const roles = Object.keys(ROLES) as Role[];
  const passwords = Object.fromEntries(
    roles.map((role) => [role, randomBytes(24).toString("hex")]),
  ) as Record<Role, string>;
  const settings = roles.map((role) =>
    `-- ${databaseSetting(role)}=postgres://${ROLES[role]}:${passwords[role]}@${place}/${database}`
  );
  return [
    createRolesSql(passwords),
    ...createDatabaseSql(database),
    "",
    "-- Settings of the platform. Each process needs its own alone.",
    ...settings,
  ].join("\n");
}
