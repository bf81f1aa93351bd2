import { openStore, requireDatabase, type Role } from "../store/mod.ts";
import type { PresentParts } from "./_process.ts";
import { openRetry } from "./_retry.ts";

/**
 * Waits until the database answers and has all that this version needs.
 *
 * @throws {WrongDatabaseRole}
 */
export async function waitForDatabase(
  { databaseUrl, log, presence }: PresentParts,
  role: Role,
): Promise<void> {
  const store = openStore(databaseUrl(role), role, 1);
  const retry = openRetry(log, presence.waitFor);
  await retry("PostgreSQL", () => requireDatabase(store)).finally(() => store.close());
}
