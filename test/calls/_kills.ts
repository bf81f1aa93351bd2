/** Calls whose process is killed. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import type { Door } from "../../contract/mod.ts";
import { HOLDER_LOCK, type Row, type Store } from "../../store/mod.ts";
import { program } from "../_programs.ts";
import { urlAs } from "../_servers.ts";
import { eventually } from "../_time.ts";
import { asSuperuser } from "../_superuser.ts";

/**
 * The moment at which the process is killed: before the operation runs; between its note of what it is about to start and
 * the request to Temporal, or its change and the commit; or after it has run, before anybody gets its output.
 */
export type Moment = "before" | "between" | "after";

/** A call whose process is killed. */
export interface KilledCall {
  readonly moment: Moment;
  readonly operation: string;
  readonly door: Door;
  /** Name by which it is called. */
  readonly as: string;
  readonly input: unknown;
  readonly credential?: string | undefined;
  readonly token?: string;
  readonly idempotencyKey?: string;
  /** Set where people have approved it. */
  readonly approvalId?: string;
}

/**
 * Makes calls in another process, which is killed as soon as each of them has reached its moment.
 *
 * @param store of the platform that the calls are made on
 * @param settings environment variables of the process
 * @param whileRunning is called before it is killed
 */
export async function runAndKill(
  store: Store,
  calls: readonly KilledCall[],
  settings: Readonly<Record<string, string>> = {},
  whileRunning: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const holders = await countHolders(store);
  const file = await program("test/calls/_killed_program.ts");
  const child = spawn(process.execPath, [file, JSON.stringify(calls)], {
    env: {
      PATH: process.env.PATH,
      ...await urlsOf(store),
      SEALOOP_DB_POOL: "100", // as each call that is stopped in its transaction holds one
      ...settings,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = Promise.all([once(child, "exit"), text(child.stderr)]);
  const hasArrived = await Promise.race([once(child.stdout, "data"), ended.then(() => false)]);
  try {
    if (hasArrived) await whileRunning();
  } finally {
    child.kill("SIGKILL");
  }
  const [[, signal], errors] = await ended;
  assert.equal(signal, "SIGKILL", errors);
  // PostgreSQL notices a moment later that its connections are gone.
  await eventually(async () => await countHolders(store) === holders || undefined);
}

async function urlsOf(store: Store): Promise<Record<string, string>> {
  const urls = (["gateway", "tools", "worker"] as const).map(async (role) =>
    [`SEALOOP_DATABASE_${role.toUpperCase()}_URL`, await urlAs(store, role)] as const
  );
  return Object.fromEntries(await Promise.all(urls));
}

/** Returns the number of processes that prove to be alive. */
async function countHolders(store: Store): Promise<number> {
  const row = await store.asPlatform().first(
    `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND classid = $1
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [HOLDER_LOCK],
  );
  return row!.n;
}

/** Makes all decisions whose calls have no known end minutes old. @returns them, the newest first */
export async function makeOpenDecisionsOld(store: Store): Promise<Row[]> {
  return await asSuperuser(store).query(
    `WITH open AS (SELECT id, at FROM governance_decisions WHERE NOT settled),
       old AS (UPDATE governance_decisions d SET at = now() - interval '5 minutes'
         FROM open WHERE d.id = open.id RETURNING d.*)
     SELECT old.* FROM old JOIN open USING (id) ORDER BY open.at DESC`,
  );
}

/** Returns the number of tickets that ask people to look. */
export async function countEscalatedTickets(store: Store): Promise<number> {
  return (await store.asPlatform().query("SELECT FROM tickets WHERE escalated")).length;
}
