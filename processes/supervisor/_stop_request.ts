import { parentOf, type Tree } from "../../runtime/embedded/mod.ts";

const NPM_POLL_MS = 1_000;

/**
 * Waits until the operator, the system or the end of the npm that runs us asks the platform to stop. A second signal
 * stops it by force.
 *
 * @returns the reason
 */
export function waitForStopRequest(tree: Tree): Promise<string> {
  return new Promise((resolve) => {
    let isRequested = false;
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(name, () => {
        if (isRequested) tree.forceStop();
        isRequested = true;
        resolve(name);
      });
    }
    watchNpm(() => resolve("npm has ended"));
  });
}

/** Watches npm, as it puts a shell between itself and us, and neither of them passes on that it was killed. */
function watchNpm(onEnd: () => void): void {
  if (!process.env.npm_lifecycle_event) return;
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return;
    clearInterval(timer);
    onEnd();
  }, NPM_POLL_MS);
  timer.unref();
}
