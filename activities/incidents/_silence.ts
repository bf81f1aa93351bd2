/** Silences exactly the alerts about a fault while it is repaired: an act outside, with an intent, one attempt and a look. */
import { receiptIdOf } from "../../calls/mod.ts";
import { findSilenceableAlerts, openDetectionContext } from "../../judgement/detection/mod.ts";
import { type Action, actOnce, LOOP_ACTOR } from "../../contract/domain/mod.ts";
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
import { closeAct, openAct } from "../../store/acts/mod.ts";
import type { Db } from "../../store/mod.ts";
import type { ActKind } from "../acts/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { stopSubject } from "../governance.ts";
import { silenceIdOf } from "./_action.ts";
import type { RepairOrder } from "./_order.ts";

/** State of an act that has ended. */
type EndState = "done" | "not_done" | "unknown";

/** Silences that there are, by Alertmanager's ids, and what that says of an act. */
interface SilencesFound {
  readonly state: EndState;
  readonly silences: readonly string[];
}

/** The repair that a silence is for, as its receipts tell it. */
interface SilenceOrder extends Pick<RepairOrder, "ticket_id" | "round" | "run"> {
  readonly action: Pick<Action, "id">;
}

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
    const source = context.alerts;
    const id = silenceIdOf(order.action);
    let firing: readonly Alert[] = [];
    return await actOnce({
      async intend() {
        if (await getSilence(db, id)) return false;
        firing = await findSilenceableAlerts(context, order.finding.fingerprint);
        if (firing.length === 0 || firing.length > MAX_ALERTS) return false;
        return await recordIntent(order, id, firing);
      },
      act: async () => await setSilences(source, (await getSilence(db, id))!, firing),
      async prove(failed: readonly FailedOutcome[] = ["unknown"]) {
        const silence = await getSilence(db, id);
        const isOpen = silence?.state === "intended";
        return { silence, found: isOpen ? await findSilences(source, silence, failed) : undefined };
      },
      async end({ silence, found }) {
        if (!silence) return false; // nothing is intended
        if (found) await recordEnd(db, order, silence, "silence", found);
        const { state, silences } = found ?? silence;
        return state === "unknown" || silences.length > 0;
      },
    });
  }

  /** Lifts the silence of a repair. Safe to repeat: what is silent still was not lifted. */
  async function lift(order: RepairOrder): Promise<void> {
    const known = await getSilence(db, silenceIdOf(order.action));
    if (!alerts || !known || known.lift !== null && known.lift !== "intended") return;
    if (known.lift === null && !await recordLiftIntent(order, known)) return; // held back: it ends by itself
    const state = await liftSilences(alerts, known);
    await recordEnd(db, order, known, "lift", { ...known, state });
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
    const seal = receiptOf(order, silence, "silence", "intended");
    const evidence = { silenced: firing.map(({ labels }) => labels) };
    return await db.transaction(async (trx) => {
      if (!await intendSilence(trx, silence, run.run_id, subject)) return false;
      await openAct(trx, { kind: "silence", id, run, act: toSilenceOrder(order) });
      await requestSeal(trx, { ...seal, evidence });
      return true;
    });
  }

  async function recordLiftIntent(order: RepairOrder, silence: SilenceRecord): Promise<boolean> {
    const subject = stopSubject("repair", order.finding.requested_by);
    return await db.transaction(async (trx) => {
      if (!await intendLift(trx, silence, order.run.run_id, subject)) return false;
      const { run } = order;
      await openAct(trx, { kind: "lift", id: silence.id, run, act: toSilenceOrder(order) });
      await requestSeal(trx, receiptOf(order, silence, "lift", "intended"));
      return true;
    });
  }

  return { silence, lift };
}

/** Silences of repairs. One of which Alertmanager does not show all is `unknown`. */
export const silenceKind: ActKind = {
  async end({ store: { db }, alerts }, { id, act: order }) {
    const silence = (await getSilence(db, id))!;
    const found = alerts && await findSilences(alerts, silence, ["unknown"]);
    await recordEnd(db, order, silence, "silence", found ?? { state: "unknown", silences: [] });
    return true;
  },
};

/** Silences that were to be lifted. They end by themselves. */
export const liftKind: ActKind = {
  async end({ store: { db }, alerts }, { id, act: order }) {
    const silence = (await getSilence(db, id))!;
    const state = stateOfLift(alerts && await listActive(alerts, silence));
    await recordEnd(db, order, silence, "lift", { ...silence, state });
    return true;
  },
};

function toSilenceOrder({ ticket_id, action: { id }, round, run }: RepairOrder): SilenceOrder {
  return { ticket_id, action: { id }, round, run };
}

async function recordEnd(
  db: Db,
  order: SilenceOrder,
  silence: SilenceRecord,
  act: "silence" | "lift",
  { state, silences }: SilencesFound,
): Promise<void> {
  const { ticket_id, round, run } = order;
  const verb = act === "silence" ? "silenced" : "silence_lifted";
  await db.transaction(async (trx) => {
    await closeAct(trx, act, silence.id);
    if (!await endSilence(trx, silence.id, act, state, silences)) return;
    await addTicketEvent(trx, ticket_id, {
      key: `${run.run_id}/${verb}-${round}`,
      kind: verb,
      data: { round, state, alerts: silence.wanted, ends_at: silence.ends_at.toISOString() },
    });
    await requestSeal(trx, receiptOf(order, silence, act, state));
  });
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
): Promise<SilencesFound> {
  const silences = await listActive(source, silence);
  if (!silences) return { state: "unknown", silences: [] };
  if (silences.length === silence.wanted) return { state: "done", silences };
  return { state: failed.includes("unknown") ? "unknown" : "not_done", silences };
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
  return stateOfLift(active?.length === 0 ? active : await listActive(source, silence));
}

function stateOfLift(left: readonly string[] | undefined): EndState {
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
  { ticket_id, action, round, run }: SilenceOrder,
  { id, wanted, ends_at }: Pick<SilenceRecord, "id" | "wanted" | "ends_at">,
  act: "silence" | "lift",
  outcome: EndState | "intended",
) {
  const isIntent = outcome === "intended";
  return {
    id: receiptIdOf(run, `${act.toUpperCase()}-${round}${isIntent ? "" : "-END"}`),
    category: isIntent ? "silence_intended" : "silence_ended",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: act,
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
