/** Waiting for the clock. */
import { setTimeout as sleep } from "node:timers/promises";

/** Waits for the next minute where less than so many seconds of this one are left: counting begins anew with each. */
export async function withinOneMinute(seconds: number): Promise<void> {
  const left = 60_000 - Date.now() % 60_000;
  if (left < seconds * 1_000) await sleep(left + 50);
}

/** Runs what has to be counted in one minute; once more where it ended in another than it began in. */
export async function inOneMinute<T>(seconds: number, work: () => Promise<T>): Promise<T> {
  for (;;) {
    await withinOneMinute(seconds);
    const began = minuteNow();
    const result = await work();
    if (minuteNow() === began) return result;
  }
}

/** Waits for the next day where less than so many seconds of this one are left: some limits and figures go by the day. */
export async function withinOneDay(seconds: number): Promise<void> {
  const left = DAY_MS - Date.now() % DAY_MS;
  if (left < seconds * 1_000) await sleep(left + 50);
}

const DAY_MS = 86_400_000;
const minuteNow = () => Math.floor(Date.now() / 60_000);

/** Polls until there is a result, for two minutes at most. */
export async function eventually<T>(poll: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 120_000;
  for (let result = await poll();; result = await poll()) {
    if (result) return result;
    if (Date.now() > deadline) throw new Error("There was no result within two minutes");
    await sleep(25);
  }
}
