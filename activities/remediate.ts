import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { Problem } from "../contract/mod.ts";
import { type Happened, restart, type Service } from "../integrations/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import {
  addTicketEvent,
  type EffectRecord,
  endEffect,
  getEffect,
  getService,
  intendEffect,
  transaction,
} from "../store/mod.ts";
import type { Action, Effect, RunId } from "../workflows/mod.ts";
import { type ActivityParts, ACTOR, receiptIdOf } from "./_parts.ts";
import { hashOf } from "./loop_steps.ts";

/** One action that a run may do. */
export interface RepairOrder {
  readonly ticket_id: string;
  readonly action: Action;
  /** From 1. */
  readonly round: number;
  readonly run: RunId;
}

/** The step that acts on the world. */
export function remediation({ store, config }: ActivityParts) {
  /** Where marks of an act are: on this host, in this data folder. */
  const place = createHash("sha256").update(`${hostname()}\n${config.dataDir}`).digest("hex")
    .slice(0, 16);

  /**
   * Runs one action, at most once.
   *
   * The intent is written and sealed before the first side effect. A second attempt finds it, asks the world whether
   * the effect is there, and ends as `done`, `unknown`, or, where it is proven that nothing was done, acts.
   *
   * @throws {Problem} `Conflict`, not retryable: the runbook does not list this action (any more), or the ticket is not
   * this run's any more: somebody has closed it, or has ended the run
   */
  async function remediate(order: RepairOrder): Promise<Effect> {
    const { id } = order.action;
    const happened = await outcomeOf(order, await getEffect(store.knex, id));
    await conclude(order, happened);
    return { id, ...happened };
  }

  async function outcomeOf(
    order: RepairOrder,
    known: EffectRecord | undefined,
  ): Promise<Happened> {
    if (known && known.state !== "intended") {
      return { state: known.state, code: String(known.detail.code) };
    }
    const service = await listed(order.action);
    if (known) return service ? await actOn(order, service, known) : unknown("runbook_changed");
    if (!service) {
      throw conflict(`The runbook of ${order.action.service} does not list this action`);
    }
    return await act(order, service);
  }

  async function listed({ service: name, sha256 }: Action): Promise<Service | undefined> {
    const service = await getService(store.knex, name) as Service | undefined;
    return service?.restart && hashOf(service) === sha256 ? service : undefined;
  }

  async function act(order: RepairOrder, service: Service): Promise<Happened> {
    const { ticket_id, action: { id } } = order;
    const intended = await intend(order) ? { detail: { place } } : await getEffect(store.knex, id);
    if (!intended) throw conflict(`Ticket ${ticket_id} is not in this run's hands any more`);
    return await actOn(order, service, intended);
  }

  /** Acts, or finds that an earlier attempt has, which only the host that it began on can tell. */
  async function actOn(
    { action: { id } }: RepairOrder,
    { name, restart: runbook }: Service,
    { detail }: Pick<EffectRecord, "detail">,
  ): Promise<Happened> {
    if (detail.place !== place) return unknown("other_host");
    const { dataDir } = config;
    return await restart({ dataDir, effectId: id, service: name, restart: runbook! });
  }

  /** @returns false where an earlier attempt has written it down, or nobody may any more */
  async function intend({ ticket_id, action, round, run }: RepairOrder): Promise<boolean> {
    const { id, sha256, kind, service } = action;
    return await transaction(store, async (trx) => {
      const effect = {
        id,
        ticket_id,
        service,
        action: { ...action },
        action_sha256: sha256,
        detail: { place },
      };
      if (!await intendEffect(trx, effect, run.run_id)) return false;
      await addTicketEvent(trx, ticket_id, {
        key: `${run.run_id}/intended-${round}`,
        kind: "intended",
        data: { round, effect_id: id, action: kind },
      });
      await requestSeal(trx, {
        id: receiptIdOf(run, `REMEDIATE-${round}`),
        category: "repair_intended",
        actor: ACTOR,
        subject: ticket_id,
        action: kind,
        outcome: "intended",
        details: { effect_id: id, action_sha256: sha256, round, ...run },
        evidence: { action },
      });
      return true;
    });
  }

  async function conclude(order: RepairOrder, { state, code }: Happened): Promise<void> {
    const { ticket_id, action, round, run } = order;
    await transaction(store, async (trx) => {
      await endEffect(trx, action.id, state, { code });
      await addTicketEvent(trx, ticket_id, {
        key: `${run.run_id}/remediated-${round}`,
        kind: state === "done" ? "remediated" : "remediation_failed",
        phase: state === "done" ? "remediated" : undefined,
        data: { round, effect_id: action.id, state, code },
      });
    });
  }

  return { remediate };
}

const unknown = (code: string): Happened => ({ state: "unknown", code });
const conflict = (message: string) => new Problem("Conflict", message);
