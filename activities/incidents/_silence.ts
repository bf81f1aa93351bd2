/** Silences exactly the alerts about a fault while it is repaired: an act outside, with an intent, one attempt and a look. */
import { receiptIdOf } from "../../calls/mod.ts";
import { findSilenceableAlerts, openDetectionContext } from "../../judgement/detection/mod.ts";
import { LOOP_ACTOR } from "../../contract/domain/mod.ts";
import type { Alert, AlertSource } from "../../integrations/alerts/mod.ts";
import { type FailedOutcome, RemoteFailed } from "../../integrations/remote/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import {
  addTicketEvent,
  endSilence,
  getSilence,
  intendLift,
  intendSilence,
  type SilenceRecord,
} from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { stopSubject } from "../governance.ts";
import { silenceIdOf } from "./_action.ts";
import type { RepairOrder } from "./_order.ts";

/** State of an act that has ended. */
type EndState = "done" | "not_done" | "unknown";

const MAX_MS = 15 * 60_000;
/** More alerts about one fault are not silenced: nobody would see what else they say. */
const MAX_ALERTS = 10;

/** Creates the functions that silence the alerts about a repair, and lift that again. */
export function createSilencer(
  { config, store, temporal, alerts }: Pick<
    ActivityParts,
    "config" | "store" | "temporal" | "alerts"
  >,
) {
  const db = store.db;

  /**
   * Silences the alerts that a fault was found by, if the settings want it. An earlier attempt's silence is only looked
   * for. What goes wrong with it holds back no repair.
   *
   * @returns true: alerts are silenced, or may be
   */
  async function silence(order: RepairOrder): Promise<boolean> {
    const context = openDetectionContext({ config, store, temporal, alerts });
    if (!context.alerts || !context.settings.alerts.silence) return false;
    const id = silenceIdOf(order.action);
    let known = await getSilence(db, id);
    if (known && known.state !== "intended") return mayBeSilent(known.state, known.silences);
    let outcomes: readonly FailedOutcome[] = ["unknown"];
    if (!known) {
      const firing = await findSilenceableAlerts(context, order.finding.fingerprint);
      if (firing.length === 0 || firing.length > MAX_ALERTS) return false;
      if (!await recordIntent(order, id, firing)) return false;
      known = (await getSilence(db, id))!;
      outcomes = await setSilences(context.alerts, known, firing);
    }
    const { state, ids } = await findSilences(context.alerts, known, outcomes);
    await recordEnd(order, known, "state", state, ids);
    return mayBeSilent(state, ids);
  }

  /** Lifts the silence of a repair. Safe to repeat: what is silent still was not lifted. */
  async function lift(order: RepairOrder): Promise<void> {
    const known = await getSilence(db, silenceIdOf(order.action));
    if (!alerts || !known || known.lift !== null && known.lift !== "intended") return;
    if (known.lift === null && !await recordLiftIntent(order, known)) return; // held back: it ends by itself
    const state = await liftSilences(alerts, known);
    await recordEnd(order, known, "lift", state, known.silences);
  }

  async function recordIntent(
    order: RepairOrder,
    id: string,
    firing: readonly Alert[],
  ): Promise<boolean> {
    const { ticket_id, action: { service }, finding, run } = order;
    const ends_at = new Date(Date.now() + MAX_MS);
    const silence = { id, ticket_id, service, wanted: firing.length, ends_at };
    const subject = stopSubject("repair", finding.requested_by);
    const seal = receiptOf(order, silence, "state", "intended");
    const evidence = { silenced: firing.map(({ labels }) => labels) };
    return await db.transaction(async (trx) => {
      if (!await intendSilence(trx, silence, run.run_id, subject)) return false;
      await requestSeal(trx, { ...seal, evidence });
      return true;
    });
  }

  async function recordLiftIntent(order: RepairOrder, silence: SilenceRecord): Promise<boolean> {
    const subject = stopSubject("repair", order.finding.requested_by);
    return await db.transaction(async (trx) => {
      if (!await intendLift(trx, silence, order.run.run_id, subject)) return false;
      await requestSeal(trx, receiptOf(order, silence, "lift", "intended"));
      return true;
    });
  }

  async function recordEnd(
    order: RepairOrder,
    silence: SilenceRecord,
    act: "state" | "lift",
    state: EndState,
    ids: readonly string[],
  ): Promise<void> {
    const { ticket_id, round, run } = order;
    const verb = act === "state" ? "silenced" : "silence_lifted";
    await db.transaction(async (trx) => {
      if (!await endSilence(trx, silence.id, act, state, ids)) return;
      await addTicketEvent(trx, ticket_id, {
        key: `${run.run_id}/${verb}-${round}`,
        kind: verb,
        data: { round, state, alerts: silence.wanted, ends_at: silence.ends_at.toISOString() },
      });
      await requestSeal(trx, receiptOf(order, silence, act, state));
    });
  }

  return { silence, lift };
}

function mayBeSilent(state: SilenceRecord["state"], ids: readonly string[]): boolean {
  return state === "unknown" || ids.length > 0;
}

/** Sets a silence for each alert, with one attempt each. @returns outcomes of those that failed */
async function setSilences(
  source: AlertSource,
  silence: SilenceRecord,
  firing: readonly Alert[],
): Promise<FailedOutcome[]> {
  const failed: FailedOutcome[] = [];
  for (const { labels } of firing) {
    try {
      const endsAt = silence.ends_at.toISOString();
      await source.silence({ labels, mark: markOf(silence), endsAt });
    } catch (error) {
      if (!(error instanceof RemoteFailed)) throw error;
      failed.push(error.outcome);
    }
  }
  return failed;
}

/** Looks which silences there are. @param failed outcomes of the attempts that failed */
async function findSilences(
  source: AlertSource,
  silence: SilenceRecord,
  failed: readonly FailedOutcome[],
): Promise<{ readonly state: EndState; readonly ids: readonly string[] }> {
  const active = await listActive(source, silence);
  if (!active) return { state: "unknown", ids: [] };
  if (active.length === silence.wanted) return { state: "done", ids: active };
  return { state: failed.includes("unknown") ? "unknown" : "not_done", ids: active };
}

async function liftSilences(source: AlertSource, silence: SilenceRecord): Promise<EndState> {
  const active = await listActive(source, silence);
  for (const id of active ?? silence.silences) {
    try {
      await source.lift(id);
    } catch (error) {
      if (!(error instanceof RemoteFailed)) throw error; // the next look tells
    }
  }
  const left = active?.length === 0 ? active : await listActive(source, silence);
  if (!left) return "unknown";
  return left.length === 0 ? "done" : "not_done";
}

/** Returns undefined where nobody can tell now. */
async function listActive(
  source: AlertSource,
  silence: SilenceRecord,
): Promise<string[] | undefined> {
  try {
    const mark = markOf(silence);
    return (await source.listSilences())
      .filter((one) => one.mark === mark && !one.isOver).map(({ id }) => id);
  } catch (error) {
    if (error instanceof RemoteFailed) return undefined;
    throw error;
  }
}

/** Returns the comment of a silence, which people read in Alertmanager. */
function markOf({ id, ticket_id }: Pick<SilenceRecord, "id" | "ticket_id">): string {
  return `sealoop repairs it, see ${ticket_id} (${id})`;
}

function receiptOf(
  { ticket_id, action, round, run }: RepairOrder,
  { id, wanted, ends_at }: Pick<SilenceRecord, "id" | "wanted" | "ends_at">,
  act: "state" | "lift",
  outcome: EndState | "intended",
) {
  const isIntent = outcome === "intended";
  const word = act === "state" ? "SILENCE" : "LIFT";
  return {
    id: receiptIdOf(run, `${word}-${round}${isIntent ? "" : "-END"}`),
    category: isIntent ? "silence_intended" : "silence_ended",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: act === "state" ? "silence" : "lift",
    outcome,
    details: {
      silence_id: id,
      action_id: action.id,
      alerts: wanted,
      ends_at: ends_at.toISOString(),
      round,
      ...run,
    },
  };
}
