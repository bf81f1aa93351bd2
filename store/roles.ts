/** Database roles by the process that logs in as each. */
export const ROLES = {
  /** Owns the schema: runs the migrations and grants the rights, and nothing else. */
  owner: "sealoop_owner",
  gateway: "sealoop_gateway",
  /** The tool server. */
  tools: "sealoop_tools",
  worker: "sealoop_worker",
  engine: "sealoop_engine",
  /** Takes the outbox, and appends receipts by a function that checks them. */
  sequencer: "sealoop_sequencer",
  /** The public ledger: SELECT on what is public, besides a row about itself. */
  ledger: "sealoop_ledger",
  /** The operator's commands, and the terminal of `npm start`. */
  operator: "sealoop_operator",
} as const;

/** A role of the platform. */
export type Role = keyof typeof ROLES;

/** Roles that nobody logs in as. They own functions that do what their callers may not do themselves. */
export const FUNCTION_OWNERS = {
  /** Owner of functions that request receipts, keep keys, and serve many tenants at once. It has policies of its own. */
  crossing: "sealoop_crossing",
  /** Owner of the functions that append to the ledger. No other role may write receipts, keys or the head. */
  ledgerWriter: "sealoop_ledger_writer",
  /** Owner of the function that counts the standbys. It may see what PostgreSQL does, and no table. */
  statistics: "sealoop_statistics",
} as const;

/** A role that owns functions. */
export type FunctionOwner = keyof typeof FUNCTION_OWNERS;

/**
 * Returns the statements by which an administrator of PostgreSQL creates the roles. They can be repeated.
 *
 * @param passwords of plain letters and digits
 */
export function createRolesSql(passwords: Readonly<Record<Role, string>>): string {
  const create = (name: string) =>
    `DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${name}') THEN CREATE ROLE ${name}; END IF; END $$;`;
  return [
    ...Object.entries(ROLES).flatMap(([role, name]) => [
      create(name),
      `ALTER ROLE ${name} LOGIN PASSWORD '${passwords[role as Role]}';`,
    ]),
    // The owner may give functions to these, and has none of their rights otherwise.
    ...Object.values(FUNCTION_OWNERS).flatMap((name) => [
      create(name),
      `GRANT ${name} TO ${ROLES.owner} WITH INHERIT FALSE, SET TRUE;`,
    ]),
    // Who is no superuser may lack the right to grant it. Then the platform does not know of standbys.
    `DO $$ BEGIN GRANT pg_read_all_stats TO ${FUNCTION_OWNERS.statistics}; EXCEPTION WHEN insufficient_privilege THEN ` +
    `RAISE NOTICE 'Not granted: pg_read_all_stats to ${FUNCTION_OWNERS.statistics}; on how many servers a commit is stays unknown'; END $$;`,
  ].join("\n");
}

/** Returns the statements that create a database of the platform. @param database identifier, quoted if it has to be */
export function createDatabaseSql(database: string, template = "template1"): string[] {
  const { owner, ...others } = ROLES;
  return [
    `CREATE DATABASE ${database} OWNER ${owner} TEMPLATE ${template};`,
    `REVOKE ALL ON DATABASE ${database} FROM PUBLIC;`,
    `GRANT CONNECT ON DATABASE ${database} TO ${Object.values(others).join(", ")};`,
  ];
}
