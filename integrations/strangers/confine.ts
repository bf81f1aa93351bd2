import { execFileSync } from "node:child_process";

/**
 * Programs that take more from a child, each where the system has it and allows it: the network, its life after ours, and
 * its place before other work.
 */
const WRAPPERS: readonly (readonly string[])[] = [
  ["unshare", "--map-root-user", "--net"],
  ["setpriv", "--pdeathsig", "KILL"],
  ["nice", "-n", "10"],
];
const PROBE_TIMEOUT_MS = 5_000;
let wrappers: readonly string[] | undefined;

/** Returns what a command begins with, so that its program has no network, ends with ours and waits for other work. */
export function confinement(): readonly string[] {
  return wrappers ??= WRAPPERS.filter(works).flat();
}

function works(wrapper: readonly string[]): boolean {
  try {
    const [program, ...args] = [...wrapper, "true"];
    execFileSync(program!, args, { stdio: "ignore", timeout: PROBE_TIMEOUT_MS });
    return true;
  } catch {
    return false;
  }
}
