import { createHash } from "node:crypto";
import { heartbeat } from "@temporalio/activity";
import { Problem } from "../contract/mod.ts";
import { type Happened, restart, type RestartOrder, whatHappened } from "../integrations/mod.ts";
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
import { type ActivityParts, ACTOR, receiptIdOf, type Service } from "./_parts.ts";
import { restartOf } from "./loop_steps.ts";

/** One action that a run may do. */
export interface RepairOrder {
  readonly ticket_id: string;
  readonly action: Action;
  /** From 1. */
  readonly round: number;
  readonly run: RunId;
}

const HEARTBEAT_MS = 1_000;

/** The step that acts on the world. */
export function remediation({ store, config }: ActivityParts) {
  /**
   * Runs one action, at most once.
   *
   * The intent is written and sealed before the first side effect. A second attempt finds it, asks the world whether
   * the effect is there, and ends as `done`, `unknown`, or — where it is proven that nothing was done — acts.
   *
   * @throws {Problem} `Conflict`, not retryable: the runbook does not list this action any more
   */
  async function remediate(order: RepairOrder): Promise<Effect> {
    const service = await getService(store.knex, order.action.service) as Service | undefined;
    if (
      !service?.restart || restartOf(service.name, service.restart).sha256 !== order.action.sha256
    ) {
      throw new Problem(
        "Conflict",
        `The runbook of ${order.action.service} does not list this action`,
      );
    }
    const id = effectIdOf(order);
    const physical = {
      dataDir: config.dataDir,
      effectId: id,
      service: service.name,
      restart: service.restart,
    };
    const beating = setInterval(() => heartbeat(id), HEARTBEAT_MS);
    try {
      const isFirst = await intend(id, order);
      const known = isFirst ? undefined : await knownEffect(id);
      const happened = known ?? await actOnce(physical, isFirst);
      await conclude(id, order, happened);
      return { id, ...happened };
    } finally {
      clearInterval(beating);
    }
  }

  async function intend(
    id: string,
    { ticket_id, action, round, run }: RepairOrder,
  ): Promise<boolean> {
    return await transaction(store, async (trx) => {
      const isFirst = await intendEffect(trx, {
        id,
        ticket_id,
        service: action.service,
        action: { ...action },
        action_sha256: action.sha256,
      });
      if (!isFirst) return false;
      await addTicketEvent(trx, ticket_id, {
        key: `intended-${round}`,
        kind: "intended",
        data: { effect_id: id },
      });
      await requestSeal(trx, {
        id: receiptIdOf(run, `REMEDIATE-${round}`),
        category: "repair_intended",
        actor: ACTOR,
        subject: ticket_id,
        action: action.kind,
        outcome: "intended",
        details: { effect_id: id, action_sha256: action.sha256, round },
        evidence: { action },
      });
      return true;
    });
  }

  async function knownEffect(id: string): Promise<Happened | undefined> {
    const effect = await getEffect(store.knex, id);
    if (!effect || effect.state === "intended") return undefined;
    return { state: effect.state, code: String(effect.detail.code ?? "") };
  }

  async function conclude(
    id: string,
    { ticket_id, round }: RepairOrder,
    happened: Happened,
  ): Promise<void> {
    await transaction(store, async (trx) => {
      await endEffect(trx, id, happened.state, { code: happened.code });
      await addTicketEvent(trx, ticket_id, {
        key: `remediated-${round}`,
        kind: "remediated",
        phase: "remediated",
        data: { round, effect_id: id, ...happened },
      });
    });
  }

  return { remediate };
}

/** Acts, unless an earlier attempt did. */
async function actOnce(order: RestartOrder, isFirst: boolean): Promise<Happened> {
  if (isFirst) return await restart(order);
  const happened = await whatHappened(order);
  return happened.state === "not_done" ? await restart(order) : happened;
}

function effectIdOf({ run, round, action }: RepairOrder): string {
  return createHash("sha256").update(
    `${run.workflow_id}\n${run.run_id}\n${round}\n${action.sha256}`,
  )
    .digest("hex").slice(0, 24);
}
