/** Metrics of the whole platform, which one kind of process reads from the database. */
import { Gauge } from "prom-client";
import { PHASES, type PlatformFigures } from "../../contract/domain/mod.ts";
import { refreshes, registry } from "./_registry.ts";

/** States that are shown even where nothing has them, so that a graph has no gaps. */
const STATES: Readonly<Record<string, readonly string[]>> = {
  incidents: [...PHASES, "escalated"],
  devices: ["online", "offline", "quarantined"],
  approvals: ["pending"],
};

/** Adds metrics that are read anew each time they are asked for. While they can't be read, they are left out. */
export function usePlatformMetrics(read: () => Promise<PlatformFigures>): void {
  const gauge = (name: string, help: string, labelNames: readonly string[] = []) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  const plain = {
    receipts: gauge("sealoop_receipts", "Receipts in the ledger"),
    waiting: gauge("sealoop_outbox_waiting", "Requests to seal that wait"),
    age: gauge(
      "sealoop_outbox_age_seconds",
      "How long the oldest request to seal has been seen to wait",
    ),
    refused: gauge("sealoop_seals_refused", "Requests that the sequencer has refused"),
    held: gauge("sealoop_sealing_held", "1: sealing waits for the operator"),
    checkpoint: gauge("sealoop_checkpoint_age_seconds", "Age of the newest published checkpoint"),
    behind: gauge("sealoop_checkpoint_behind", "Receipts that no published checkpoint covers"),
  };
  const byState: Readonly<Record<string, Gauge>> = {
    incidents: gauge("sealoop_incidents_open", "Open incidents, by step of their loop", ["step"]),
    devices: gauge("sealoop_devices", "Devices, by their state", ["state"]),
    approvals: gauge("sealoop_approvals", "Approvals, by their state", ["state"]),
  };
  const oldest = openStopwatch();

  async function refresh(): Promise<void> {
    const figures = await read();
    plain.receipts.set(figures.receipts);
    plain.waiting.set(figures.waiting);
    plain.age.set(oldest.seconds(figures.oldestWaiting));
    plain.refused.set(figures.refusedSeals);
    plain.held.set(figures.isSealingHeld ? 1 : 0);
    if (figures.checkpointAgeSeconds !== null) plain.checkpoint.set(figures.checkpointAgeSeconds);
    plain.behind.set(Math.max(0, figures.receipts - figures.checkpointSize));
    for (const [kind, states] of Object.entries(STATES)) {
      const label = kind === "incidents" ? "step" : "state";
      for (const state of states) {
        const n = figures.counts.find((one) => one.kind === kind && one.state === state)?.n ?? 0;
        byState[kind]!.set({ [label]: state }, n);
      }
    }
  }

  const up = gauge("sealoop_database_up", "0: the figures of the whole platform can't be read");
  refreshes.push(async () => {
    try {
      await refresh();
      up.set(1);
    } catch {
      for (const one of Object.values(plain)) one.remove();
      for (const one of Object.values(byState)) one.reset();
      up.set(0);
    }
  });
}

/** Measures how long the same thing is seen. */
function openStopwatch() {
  let seen: string | null = null;
  let sinceMs = 0;
  return {
    seconds(thing: string | null): number {
      if (thing !== seen) sinceMs = performance.now();
      seen = thing;
      return thing === null ? 0 : (performance.now() - sinceMs) / 1_000;
    },
  };
}
