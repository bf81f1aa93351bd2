/** Time that doesn't depend on what else a machine does. */

/** Milliseconds of processor time that this process takes for some work. */
export function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
