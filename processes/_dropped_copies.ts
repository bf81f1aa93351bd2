import type { Config } from "../config.ts";
import { openMediaFiles } from "../integrations/media/mod.ts";
import type { Log } from "../runtime/web/mod.ts";

const PAUSE_MS = 3_600_000;

/**
 * Removes files of media that a bucket has from this machine, once they are a day old. Workers remove what nobody needs; other
 * processes can't know that, and fetch a file again.
 */
export function keepDroppingCopies(config: Config, log: Log): { stop(): void } {
  const files = openMediaFiles(config);
  const drop = () =>
    files.dropCopies().catch((error) => log.warn({ err: error }, "Cannot remove copies of files"));
  void drop();
  const timer = setInterval(drop, PAUSE_MS).unref();
  return { stop: () => clearInterval(timer) };
}
