import type { Observation, ObserverName } from "../../contract/domain/mod.ts";
import { observe as look, type Subject } from "../../judgement/observation/mod.ts";
import { getRunbookValues } from "../../store/catalogue/mod.ts";
import { addObservations, getFinding } from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import type { RoundOrder } from "./_order.ts";
import { findService, isLocal } from "./_services.ts";

/** A look of one source in a round. */
export interface ObserveOrder extends RoundOrder {
  readonly source: ObserverName;
}

/** Time before a fault was found from which lines of logs may be about it. */
const BEFORE_MS = 5 * 60_000;

/** Creates the activity that looks before a fault is judged. */
export function observeActivities({ store, config }: ActivityParts) {
  const db = store.db;

  /**
   * Lets one source look at the fault, and stores what it saw as private evidence. It changes nothing else, and never fails:
   * what can't be had is an observation, too.
   *
   * @returns how many observations there are
   */
  async function observe(order: ObserveOrder): Promise<number> {
    const { ticket_id, run: { run_id }, round, source } = order;
    const seen: readonly Observation[] = await look(source, await subjectOf(order), {
      config,
      store,
    });
    await addObservations(db, { ticket_id, run_id, round, source }, seen);
    return seen.length;
  }

  async function subjectOf({ finding, code }: ObserveOrder): Promise<Subject> {
    const { service: name, fingerprint, observed_at } = finding;
    const [record, service, values] = await Promise.all([
      getFinding(db, fingerprint),
      name === null ? undefined : findService(db, name),
      name === null ? {} : getRunbookValues(db, name),
    ]);
    const found = Date.parse(record?.first_seen_at ?? observed_at);
    return {
      finding,
      code,
      service,
      isLocal: service !== undefined && isLocal(service),
      record,
      values,
      since: new Date(found - BEFORE_MS),
    };
  }

  return { observe };
}
