/** The platform in this process, without workers: what is to be sealed stays in the outbox. */
import { loadConfig } from "../../config.ts";
import { type OpenPlatform, openPlatform } from "../../processes/mod.ts";
import type { Store } from "../../store/mod.ts";
import type { NewKey } from "../../store/keys/mod.ts";
import { createLog } from "../../runtime/web/mod.ts";
import type { TestDatabase } from "../_servers.ts";
import { giveKey } from "../_superuser.ts";

// deno-lint-ignore no-explicit-any -- tests look into it
export type Json = any;

/** Opens the platform on a database. @param settings environment variables */
export async function openTestPlatform(
  { urls }: TestDatabase,
  settings: Readonly<Record<string, string>> = {},
  role: "gateway" | "tools" | "worker" = "gateway",
): Promise<OpenPlatform> {
  return await openPlatform({
    config: loadConfig(settings),
    log: createLog("test", "silent"),
    databaseUrl: (role) => urls[role],
  }, role);
}

/** Issues a key of tier partner to an agent. @param fields that differ */
export async function issueAgentKey(store: Store, fields: Partial<NewKey> = {}) {
  return await giveKey(store, { principal: "agent", ...fields });
}

/** Returns the content of a receipt that waits for the sequencer; undefined where none was requested by that id. */
export async function findRequested(store: Store, id: string): Promise<Json> {
  const row = await store.asPlatform().first("SELECT payload FROM seal_outbox WHERE id = $1", [id]);
  return row && JSON.parse(row.payload);
}
