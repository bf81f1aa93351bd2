import { Gauge } from "prom-client";
import { refreshes, registry } from "./_registry.ts";

/** Adds the age of the last poll of each task queue. @param ages returns seconds by task queue */
export function usePollMetrics(ages: () => Readonly<Record<string, number>>): void {
  const gauge = new Gauge({
    name: "sealoop_last_poll_age_seconds",
    help: "Time since Temporal last saw a poll of this process, up to 60 while nothing is to do",
    labelNames: ["task_queue"],
    registers: [registry],
  });
  refreshes.push(() => {
    gauge.reset();
    for (const [queue, seconds] of Object.entries(ages())) {
      gauge.set({ task_queue: queue }, seconds);
    }
    return Promise.resolve();
  });
}
