import { putTask } from "../store/mod.ts";
import type { TaskRecord } from "../workflows/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** What agents see of their tasks. */
export function tasks({ store }: ActivityParts) {
  return {
    /** Shows a task as it is now, and tells those who follow it. Safe to repeat: it has a version. */
    async showTask(task: TaskRecord): Promise<void> {
      await putTask(store.knex, task);
    },
  };
}
