import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { Problem } from "../contract/mod.ts";
import { type Happened, restart, type Service } from "../integrations/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import {
  addTicketEvent,
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
   * @throws {Problem} `Conflict`, not retryable: the runbook does not list this action (any more)
   */
  async function remediate(order: RepairOrder): Promise<Effect> {
    const { action } = order;
    const known = await getEffect(store.knex, action.id);
    const happened = known && known.state !== "intended"
      ? { state: known.state, code: String(known.detail.code) }
      : await act(order, await listed(action));
    await conclude(order, happened);
    return { id: action.id, ...happened };
  }

  async function listed(action: Action): Promise<Service> {
    const service = await getService(store.knex, action.service) as Service | undefined;
    if (service?.restart && hashOf(service) === action.sha256) return service;
    throw new Problem("Conflict", `The runbook of ${action.service} does not list this action`);
  }

  async function act(order: RepairOrder, service: Service): Promise<Happened> {
    const { id } = order.action;
    if (!await intend(order)) {
      const before = await getEffect(store.knex, id);
      // Only the host that it began on can tell what became of it.
      if (before?.detail.place !== place) return { state: "unknown", code: "other_host" };
    }
    const { name, restart: runbook } = service;
    return await restart({
      dataDir: config.dataDir,
      effectId: id,
      service: name,
      restart: runbook!,
    });
  }

  /** @returns false where an earlier attempt has written it down */
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
      if (!await intendEffect(trx, effect)) return false;
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
