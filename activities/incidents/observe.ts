import type { ObserverName } from "../../contract/domain/mod.ts";
import { observe as look } from "../../judgement/observation/mod.ts";
import { addObservations } from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { createDeviceReader } from "./_device_looks.ts";
import type { RoundOrder } from "./_order.ts";
import { findSubject } from "./_subject.ts";

/** A look of some sources in a round. */
export interface ObserveOrder extends RoundOrder {
  readonly observers: readonly ObserverName[];
}

/** Creates the activity that looks before a fault is judged. */
export function observeActivities({ store, config, temporal }: ActivityParts) {
  const db = store.db;

  /**
   * Lets sources look at the fault side by side, and stores what each saw as private evidence as soon as it has looked. It
   * changes nothing else, and none fails: what can't be had is an observation, too.
   *
   * @returns how many observations there are
   */
  async function observe(order: ObserveOrder): Promise<number> {
    const { ticket_id, run: { run_id }, round, observers } = order;
    const subject = await findSubject(db, order);
    const runOnDevice = createDeviceReader({ store, temporal }, `${run_id}/${round}`);
    const counts = await Promise.all(observers.map(async (source) => {
      const seen = await look(source, subject, { config, store, runOnDevice });
      await addObservations(db, { ticket_id, run_id, round, source }, seen);
      return seen.length;
    }));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  return { observe };
}
