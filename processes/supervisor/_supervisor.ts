import type { Config } from "../../config.ts";
import type { Tree } from "../../runtime/embedded/mod.ts";
import type { KeptProcess } from "../_presence.ts";
import type { Progress } from "./progress.ts";

/** State that the steps of a start share. */
export interface Supervisor {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly tree: Tree;
  /** Children and servers, which are no longer restarted when the platform stops. */
  readonly restarted: { stopRestarting(): void }[];
  /** Describe the servers that it keeps; undefined: one is being started again. */
  readonly kept: (() => KeptProcess | undefined)[];
  /** Stops the platform with a line that says why. */
  fail(error: Error): void;
}
