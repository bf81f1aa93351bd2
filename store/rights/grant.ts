import type pg from "pg";
import { FUNCTION_OWNERS, ROLES } from "../roles.ts";
import { SEAL_CATEGORIES } from "./categories.ts";
import { FUNCTIONS } from "./functions.ts";
import type { Grantee } from "./grantees.ts";
import { RIGHTS } from "./tables.ts";

const NAMES: Readonly<Record<Grantee, string>> = { ...ROLES, ...FUNCTION_OWNERS };
const { owner: _, ...OTHERS } = { ...ROLES, ...FUNCTION_OWNERS };
const ALL_GRANTEES = Object.values(OTHERS);

/**
 * Grants exactly the rights of this folder: what is there and not here is revoked. Runs in one transaction, so that no
 * process is without its rights meanwhile.
 *
 * @param client connected as role `owner`
 */
export async function grantRights(client: pg.ClientBase): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(tableGrants());
    for (const name of Object.keys(FUNCTIONS)) await grantFunction(client, name);
    await client.query("DELETE FROM seal_categories");
    await client.query(
      `INSERT INTO seal_categories (role, category)
       SELECT role, category FROM json_each($1::json) AS r (role, categories),
         json_array_elements_text(categories) AS category`,
      [JSON.stringify(categoriesByName())],
    );
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

function tableGrants(): string {
  const grants = Object.entries(RIGHTS).flatMap(([table, rows]) =>
    rows.map(([privileges, ...grantees]) =>
      `GRANT ${privileges} ON ${table} TO ${grantees.map((role) => NAMES[role]).join(", ")}`
    )
  );
  const revocations = ["TABLES", "SEQUENCES"].map((kind) =>
    `REVOKE ALL ON ALL ${kind} IN SCHEMA public FROM PUBLIC, ${ALL_GRANTEES.join(", ")}`
  );
  return [...revocations, ...grants].join(";\n");
}

/** Grants a function to its callers, and gives it to the role whose rights it runs with, if it has one. */
async function grantFunction(client: pg.ClientBase, name: string): Promise<void> {
  const { runsAs, callers } = FUNCTIONS[name]!;
  const { rows: [row] } = await client.query(
    `SELECT pg_get_userbyid(proowner) AS owner, current_user AS me FROM pg_proc
     WHERE proname = $1 AND pronamespace = 'public'::regnamespace`,
    [name],
  );
  if (!row) throw new Error(`Cannot grant rights on the function ${name}, as there is none`);
  const isMine = row.owner === row.me;
  const others = ALL_GRANTEES.filter((role) => role !== row.owner); // the owner may call it, too
  const grants = [`REVOKE ALL ON FUNCTION ${name} FROM PUBLIC, ${others.join(", ")}`];
  if (callers.length > 0) {
    const roles = callers.map((role) => NAMES[role]).join(", ");
    grants.push(`GRANT EXECUTE ON FUNCTION ${name} TO ${roles}`);
  }
  if (!isMine) { // only its owner may grant it
    return void await client.query(
      [`SET LOCAL ROLE ${row.owner}`, ...grants, "RESET ROLE"].join(";\n"),
    );
  }
  await client.query(grants.join(";\n"));
  if (runsAs === undefined) return;
  const owner = NAMES[runsAs];
  await client.query([
    `ALTER FUNCTION ${name} SECURITY DEFINER SET search_path = public, pg_temp`,
    `GRANT CREATE ON SCHEMA public TO ${owner}`, // else it could own nothing in it
    `ALTER FUNCTION ${name} OWNER TO ${owner}`,
    `REVOKE CREATE ON SCHEMA public FROM ${owner}`,
  ].join(";\n"));
}

function categoriesByName(): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(SEAL_CATEGORIES).map((
      [role, categories],
    ) => [NAMES[role as Grantee], categories]),
  );
}
