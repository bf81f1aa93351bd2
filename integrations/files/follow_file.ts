import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import { isDatabaseAway } from "../../contract/mod.ts";

/** A file, or a folder of files, to follow, and what to do when it has changed. */
export interface FollowOptions {
  readonly path: string;
  /** Name of the file in the log, such as "services file". */
  readonly name: string;
  readonly log: Logger;
  /**
   * Puts the file's content in force. Called at the start and after each change.
   *
   * @param exists false: there is no file, or it was removed
   * @throws where the content is wrong, or the database can't be reached
   */
  apply(exists: boolean): Promise<void>;
}

/** A file that is being followed. */
export interface FollowedFile {
  /** Applies the file now where it has changed. Never rejects. */
  refresh(): Promise<void>;
  stop(): void;
}

const POLL_MS = 2_000;

/**
 * Calls back when a file that operators write has changed; logs and goes on when it is wrong.
 *
 * A file that was refused is applied again after its next change. While the database is away, it is applied again at
 * every poll.
 *
 * ```ts
 * const followed = await followFile({ path, name: "services file", log, apply: syncServices });
 * ```
 */
export async function followFile(
  { path, name, log, apply }: FollowOptions,
): Promise<FollowedFile> {
  /** Stamp of the content that was applied or refused; null: none yet. */
  let handled: string | undefined | null = null;
  let running: Promise<void> | undefined;

  async function applyChange(): Promise<void> {
    const stamp = stampOf(path);
    if (stamp === handled) return;
    try {
      await apply(stamp !== undefined);
      handled = stamp;
    } catch (error) {
      if (!isDatabaseAway(error)) handled = stamp;
      throw error;
    }
  }

  async function refresh(): Promise<void> {
    running ??= applyChange()
      .catch((error: Error) => {
        log.error({ path, reason: error.message }, `The ${name} is not followed`);
      })
      .finally(() => running = undefined);
    await running;
  }

  await refresh();
  const timer = setInterval(refresh, POLL_MS);
  return { refresh, stop: () => clearInterval(timer) };
}

/** Returns a text that differs once the file, or one of the folder, was written anew; undefined: there is none. */
export function stampOf(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  const own = `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
  if (!stats.isDirectory()) return own;
  const files = readdirSync(path).sort().map((name) => `${name} ${stampOf(join(path, name))}`);
  return [own, ...files].join("\n");
}
