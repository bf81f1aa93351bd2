import { rmSync } from "node:fs";
import { join } from "node:path";
import { stopManaged } from "../integrations/mod.ts";
import { removeService } from "../store/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** Services that only exist for a test, each with a process and a folder of its own, by their names. */
export function testSubjects({ store, config }: Pick<ActivityParts, "store" | "config">) {
  const folderOf = (name: string) => join(config.dataDir, "test-services", name);

  /** Ends the service, and leaves nothing of it behind. */
  async function remove(name: string): Promise<void> {
    await stopManaged(config.dataDir, name);
    await removeService(store.knex, name);
    rmSync(folderOf(name), { recursive: true, force: true });
  }

  return { folderOf, remove };
}
