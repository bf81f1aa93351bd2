/** Time that doesn't depend on what else a machine does. */
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds of processor time that this process takes for some work. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Waits for the next minute where less than so many seconds of this one are left: counting begins anew with each. */
export async function withinOneMinute(seconds: number): Promise<void> {
  const left = 60_000 - Date.now() % 60_000;
  if (left < seconds * 1_000) await sleep(left + 50);
}
