import { requireDatabase, requirePooler, type Store } from "../store/mod.ts";
import { directSetting } from "./_database_setting.ts";

/**
 * Checks for a process that starts that the database has what this version needs, and that a pooler in between keeps what it
 * relies on.
 *
 * @throws {DatabaseNotReady}
 * @throws {UnusablePooler}
 * @throws {WrongDatabaseRole}
 * @throws whatever the driver throws, where the database is away
 */
export async function checkDatabase(store: Store): Promise<void> {
  await requirePooler(store, directSetting(store.role));
  await requireDatabase(store);
}
