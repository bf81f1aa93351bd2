import type { Role } from "../store/mod.ts";
import { checkDatabase } from "./_check_database.ts";
import { openProcessStore } from "./_open_store.ts";
import type { PresentParts } from "./_process.ts";
import { openRetry } from "./_retry.ts";

/**
 * Waits until the database answers and has all that this version needs.
 *
 * @throws {WrongDatabaseRole}
 * @throws {UnusablePooler}
 */
export async function waitForDatabase(
  parts: PresentParts,
  role: Role,
): Promise<void> {
  const store = openProcessStore(parts, role);
  const retry = openRetry(parts.log, parts.presence.waitFor);
  await retry("PostgreSQL", () => checkDatabase(store)).finally(() => store.close());
}
