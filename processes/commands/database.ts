/** `npm run database`: the roles, the schema and its state, on a PostgreSQL of the operator's own. */
import { randomBytes } from "node:crypto";
import {
  createDatabaseSql,
  createRolesSql,
  migrate,
  openStore,
  type Role,
  ROLES,
  type Store,
} from "../../store/mod.ts";
import { forgetPlaceKey, forgetSharedSecret, SHARED_SECRETS } from "../../store/platform/mod.ts";
import { databaseSetting } from "../_database_setting.ts";
import { checkDatabase } from "../_check_database.ts";
import { runToEnd } from "../_end.ts";
import { localDatabaseUrl } from "../_local_database.ts";
import { loadRunningConfig } from "../_running.ts";
import { parseArguments, reportFailure, UsageError } from "./_arguments.ts";

const USAGE =
  `Usage: npm run -s database -- roles [--at <host:port>] [--name <database>] > roles.sql
       npm run database -- migrate | check
       npm run database -- forget engine | webhooks | place <name>

roles: prints SQL that creates the roles of the platform, each with a password of its own, and the database. Run it once, as
who may create roles and databases: psql -f roles.sql. Its last lines are the settings of the platform as comments. Keep the
file secret. Run again, it gives the roles new passwords.
  --at: default localhost:5432. --name: of the database, default sealoop.
migrate: brings the schema up to date, and each role's rights, as the owner (DATABASE_URL) alone.
check: says whether the schema is that of this version; ends with 1 if it is not.
forget: forgets the fingerprint of a secret that the processes share, so that they can be started with another one: the
engine's, or the key of the webhooks' secrets. Webhooks have to be registered again under another key. Of a place: forgets
which key is enrolled for it, so that its next worker has its own enrolled; receipts of the key before stay as they are.`;

await runToEnd(async () => {
  try {
    const { positionals, values } = parseArguments(USAGE, {
      at: { type: "string", default: "localhost:5432" },
      name: { type: "string", default: "sealoop" },
    });
    const [verb, ...more] = positionals;
    if (verb === "forget") return await asOwner((owner) => forget(owner, more));
    if (more.length > 0) throw new UsageError(`There is no ${more.join(" ")} to give`);
    if (verb === "migrate") return await asOwner(bringUpToDate);
    if (verb === "check") return await asOwner(check);
    if (verb !== "roles") throw new UsageError("Give roles, migrate, check or forget");
    if (!/^[a-z_][a-z0-9_]*$/.test(values.name!)) {
      throw new UsageError("--name is of lower-case letters, digits and _");
    }
    console.log(rolesFile(values.at!, values.name!));
    return 0;
  } catch (error) {
    return reportFailure(error, USAGE);
  }
});

async function asOwner(work: (owner: Store) => Promise<void>): Promise<number> {
  const owner = openStore(localDatabaseUrl(loadRunningConfig(process.env), "owner"), "owner", 2);
  try {
    await work(owner);
    return 0;
  } finally {
    await owner.close();
  }
}

async function bringUpToDate(owner: Store): Promise<void> {
  const applied = await migrate(owner);
  console.log(
    applied.length === 0
      ? "The schema is up to date"
      : `Applied ${applied.length} migrations, ${applied[0]} to ${applied.at(-1)}`,
  );
}

async function check(owner: Store): Promise<void> {
  await checkDatabase(owner);
  console.log("The schema is that of this version");
}

async function forget(owner: Store, names: readonly string[]): Promise<void> {
  const [name = "", ...more] = names;
  if (name === "place" && more.length === 1) {
    const isEnrolled = await forgetPlaceKey(owner.asPlatform(), more[0]!);
    console.log(
      isEnrolled ? "The next worker that starts there enrols its key" : "No key is enrolled for it",
    );
    return;
  }
  const secret = SHARED_SECRETS.find((one) => one === name);
  if (more.length > 0 || !secret) {
    throw new UsageError(`Give ${SHARED_SECRETS.join(", ")}, or place and its name`);
  }
  const isKnown = await forgetSharedSecret(owner.asPlatform(), secret);
  console.log(isKnown ? "The next process that starts notes its own" : "There is no fingerprint");
}

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
    // Who is no superuser has to be a member of a role to make a database for it.
    `GRANT ${ROLES.owner} TO CURRENT_USER;`,
    ...createDatabaseSql(database),
    `REVOKE ${ROLES.owner} FROM CURRENT_USER;`,
    "",
    "-- Settings of the platform. Each process needs its own alone.",
    ...settings,
  ].join("\n");
}
