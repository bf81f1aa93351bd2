import { heartbeat } from "@temporalio/activity";

const HEARTBEAT_MS = 1_000;

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * Makes every activity tell that its process lives, so that one which was killed is missed within seconds, whatever
 * time its work may take.
 */
export function beating<A extends Record<string, Activity>>(activities: A): A {
  const entries = Object.entries(activities).map(([name, activity]) => [
    name,
    async (...args: never[]) => {
      const timer = setInterval(() => heartbeat(), HEARTBEAT_MS);
      try {
        return await activity(...args);
      } finally {
        clearInterval(timer);
      }
    },
  ]);
  return Object.fromEntries(entries);
}
