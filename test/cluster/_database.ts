/** The platform's database on a PostgreSQL of others, made by the platform's own commands. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../config.ts";
import { letTestsSeal } from "../_servers.ts";
import { openStore, type Role } from "../../store/mod.ts";
import { program } from "../_programs.ts";
import { testFolder } from "../_run.ts";

const run = promisify(execFile);
const SETTING = /^-- (?:SEALOOP_)?DATABASE_(?:([A-Z]+)_)?URL=(\S+)$/gm;

/**
 * Makes roles and database by what `npm run database -- roles` prints, as a superuser executes it.
 *
 * @param at `host:port` that the processes connect to
 * @param psql its path
 * @returns connection strings by role
 */
export async function makeDatabase(
  at: string,
  superuser: { readonly name: string; readonly password: string },
  psql: string,
): Promise<Readonly<Record<Role, string>>> {
  const command = await program("processes/commands/database.ts");
  const { stdout } = await run(process.execPath, [command, "roles", "--at", at], { cwd: ROOT });
  const file = join(await testFolder(), "roles.sql");
  await writeFile(file, stdout, { mode: 0o600 });
  const url = `postgres://${superuser.name}:${superuser.password}@${at}/postgres`;
  await run(psql, ["--no-psqlrc", "--quiet", "-v", "ON_ERROR_STOP=1", "-f", file, url]);
  return Object.fromEntries(
    [...stdout.matchAll(SETTING)].map(([, role, url]) => [(role ?? "owner").toLowerCase(), url]),
  ) as Record<Role, string>;
}

/** Lets roles seal receipts of the tests' own category. */
export async function letSeal(ownerUrl: string): Promise<void> {
  const owner = openStore(ownerUrl, "owner", 1);
  await letTestsSeal(owner);
  await owner.close();
}
