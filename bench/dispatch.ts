/**
 * Dispatch of a command to a device that is online: from a person's approval to the moment when the device runs it. In
 * between lie the issued receipt, its checkpoint, the heartbeat that waits, the device's checks, and its sealed `begun`.
 *
 * All processes of the platform run as by `npm start`, and the device has the real agent.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startKilledPlatform } from "../test/operations/devices/_kills.ts";
import { type Figure, quantile } from "./_figures.ts";
import { scaled } from "./_work.ts";

const COMMANDS = scaled(100);

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const platform = await startKilledPlatform(1);
  const [device] = platform.devices;
  const times: number[] = [];
  try {
    for (let n = 0; n <= COMMANDS; n++) {
      const { id, approvedMs } = await platform.order(device!, "0.0");
      while (!device!.runs().includes(id)) await sleep(5);
      if (n > 0) times.push(performance.now() - approvedMs); // the first warms up
      await sleep(Math.random() * 500);
    }
  } finally {
    await platform.close();
  }
  for (const [name, share, goal] of [["p50", 0.5, ""], ["p95", 0.95, "< 3,000"]] as const) {
    yield {
      label: `command approved to run on an online device, ms, ${name} of ${times.length}`,
      platform: [quantile(times, share)],
      goal,
    };
  }
}
