import { openStore, type Role, type Store } from "../store/mod.ts";
import { directUrl } from "./_database_setting.ts";
import type { ProcessParts } from "./_process.ts";

/**
 * Opens the store of a process, with the connections that its setting leaves.
 *
 * @param others connections that the process has besides: the one by which it tells of itself, and those of threads
 */
export function openProcessStore(
  { config: { settings }, databaseUrl }: ProcessParts,
  role: Role,
  others = 1,
): Store {
  const size = Math.max(1, settings.SEALOOP_DB_POOL - others);
  return openStore(databaseUrl(role), role, size, directUrl(settings, role));
}
