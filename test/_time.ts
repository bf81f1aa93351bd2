/** Waiting for the clock, and for a result. */
import { setTimeout as sleep } from "node:timers/promises";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const POLL_EVERY_MS = 25;
const TIMEOUT_MS = 120_000;

/**
 * Runs work within one minute of the clock, as limits start anew with each minute. Repeats it if a minute ended meanwhile.
 *
 * @param seconds that the work may take
 */
export async function runInOneMinute<T>(seconds: number, work: () => Promise<T>): Promise<T> {
  for (let needed = seconds;; needed = MINUTE_MS / 1_000) { // a whole one where the work has taken longer
    await ensureTimeLeft(MINUTE_MS, needed);
    const minute = currentMinute();
    const result = await work();
    if (currentMinute() === minute) return result;
  }
}

const currentMinute = () => Math.floor(Date.now() / MINUTE_MS);

/** Waits for the next day (UTC) if fewer seconds of this one are left, as some limits and figures are per day. */
export async function ensureSecondsLeftInDay(seconds: number): Promise<void> {
  await ensureTimeLeft(DAY_MS, seconds);
}

async function ensureTimeLeft(periodMs: number, seconds: number): Promise<void> {
  const leftMs = periodMs - Date.now() % periodMs;
  if (leftMs < seconds * 1_000) await sleep(leftMs + 50);
}

/** Measures the processor time that work takes in this process, in milliseconds. A busy machine adds little to it. */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Polls until there is a result. @throws after two minutes */
export async function eventually<T>(poll: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (let result = await poll();; result = await poll()) {
    if (result) return result;
    if (Date.now() > deadline) throw new Error("There was no result within two minutes");
    await sleep(POLL_EVERY_MS);
  }
}
