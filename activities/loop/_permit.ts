import { setTimeout as sleep } from "node:timers/promises";
import { receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { type Decision, type Finding, LOOP_ACTOR, type Permission } from "../../domain/mod.ts";
import { EngineUnavailable } from "../../engine/mod.ts";
import type { GuardVerdict, ValidateRequest } from "../../guard/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import {
  addTicketEvent,
  findTicketOfRun,
  getFinding,
  getTicketEvent,
  listEffectsOfAction,
} from "../../store/incidents/mod.ts";
import { getPrincipal } from "../../store/keys/mod.ts";
import { listActiveFreezes } from "../../store/planning/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { hashOf } from "./_action.ts";
import { validateRequestOf } from "./_guard_request.ts";
import type { RepairRequest } from "./_order.ts";

/** The guardrails' verdict, as the ticket stores it. */
type VerdictRecord = {
  readonly round: number;
  readonly action_id: string;
  readonly decision: Decision;
  readonly policy_version: string;
  readonly rails: GuardVerdict["rails"];
  readonly exceeds: readonly string[];
  readonly receipt_id: string;
};

/** Attempts to reach the guardrails, which may be restarting or busy. */
const ATTEMPTS = [
  { timeoutMs: 2_000, pauseMs: 500 },
  { timeoutMs: 2_000, pauseMs: 1_000 },
  { timeoutMs: 5_000, pauseMs: 2_000 },
  { timeoutMs: 10_000, pauseMs: 4_000 },
  { timeoutMs: 20_000, pauseMs: 0 },
];

const EVENT_OF_DECISION = {
  allow: "permitted",
  needs_approval: "approval_needed",
  deny: "refused",
} as const;

/** Ends the mark of a verdict that was asked for again, as a change freeze had begun. */
const FROZEN = "-frozen";

/** Creates the function that asks for permission before a repair. */
export function createPermit({ store, engine, config }: ActivityParts) {
  const db = store.db;

  /**
   * Asks the guardrails whether an action may be done, and seals the verdict. A verdict that needs a person is met by an
   * approval of exactly this action.
   *
   * Safe to repeat: the first verdict in a round of a run stays. But where it allowed the action, nothing was done yet, and a
   * change freeze holds by now, a second one is asked for, and that stays.
   *
   * @throws {Problem} `Conflict`: the ticket is no longer the run's
   */
  async function permit(request: RepairRequest): Promise<Permission> {
    const verdict = await storedOrNewVerdict(request);
    if (!verdict) return { granted: false, decision: "away", receipt_id: null };
    const { decision, policy_version, receipt_id } = verdict;
    const permission = { decision, policy_version, receipt_id };
    if (decision !== "needs_approval") return { ...permission, granted: decision === "allow" };
    const approval = request.approval_id && await approvalOf(request.approval_id, request);
    if (approval) return { ...permission, granted: true, approval };
    return { ...permission, granted: false, requested_by: await requesterOf(request.finding) };
  }

  /**
   * @param mark of the verdict within its run
   * @returns undefined if the guardrails can't be reached, so that nothing may be done
   */
  async function storedOrNewVerdict(
    request: RepairRequest,
    mark = `permit-${request.round}`,
  ): Promise<VerdictRecord | undefined> {
    const { ticket_id, run } = request;
    const { report, fingerprint } = request.finding;
    const key = `${run.run_id}/${mark}`;
    const [known, ownTicket, finding] = await Promise.all([
      getTicketEvent(db, ticket_id, key),
      findTicketOfRun(db, run.workflow_id, run.run_id, "open"),
      report ? undefined : getFinding(db, fingerprint),
    ]);
    if (known) {
      const first = known.data as VerdictRecord;
      return mark.endsWith(FROZEN) || !await isFrozenSince(request, first)
        ? first
        : await storedOrNewVerdict(request, mark + FROZEN);
    }
    if (ownTicket !== ticket_id) {
      throw new Problem("Conflict", `Ticket ${ticket_id} is no longer in the hands of this run`);
    }
    const verdict = await askGuardrails(validateRequestOf(request, finding?.summary));
    return verdict && await recordVerdict(request, mark, verdict);
  }

  /** Returns true where a change freeze holds an action back that was allowed before it, and of which nothing was done yet. */
  async function isFrozenSince({ action }: RepairRequest, first: VerdictRecord): Promise<boolean> {
    if (first.decision !== "allow") return false;
    const [freezes, effects] = await Promise.all([
      listActiveFreezes(db),
      listEffectsOfAction(db, action.id),
    ]);
    return freezes.length > 0 && effects.length === 0;
  }

  async function askGuardrails(request: ValidateRequest): Promise<GuardVerdict | undefined> {
    for (const { timeoutMs, pauseMs } of ATTEMPTS) {
      try {
        return await engine.validate(request, store.tenant, timeoutMs);
      } catch (error) {
        if (!(error instanceof EngineUnavailable)) throw error;
        await sleep(pauseMs);
      }
    }
    return undefined;
  }

  /** Stores and seals a verdict, unless another attempt did; returns the one that was stored. */
  async function recordVerdict(
    request: RepairRequest,
    mark: string,
    verdict: GuardVerdict,
  ): Promise<VerdictRecord> {
    const { ticket_id, action, run, round } = request;
    const key = `${run.run_id}/${mark}`;
    const isBounded = action.exceeds.length === 0;
    const decision = verdict.decision === "allow" && !isBounded
      ? "needs_approval"
      : verdict.decision;
    const record: VerdictRecord = {
      round,
      action_id: action.id,
      decision,
      policy_version: verdict.policy_version,
      rails: verdict.rails,
      exceeds: action.exceeds,
      receipt_id: receiptIdOf(run, mark.toUpperCase()),
    };
    const isFirst = await db.transaction(async (trx) => {
      const event = { key, kind: EVENT_OF_DECISION[decision], data: record };
      if (!await addTicketEvent(trx, ticket_id, event)) return false;
      await requestSeal(trx, receiptOf(request, record, verdict));
      return true;
    });
    return isFirst ? record : (await getTicketEvent(db, ticket_id, key))!.data as VerdictRecord;
  }

  /** Returns an approval of exactly this action on this ticket, by as many people as it takes; or undefined. */
  async function approvalOf(
    approvalId: string,
    { action, ticket_id }: RepairRequest,
  ): Promise<Permission["approval"]> {
    const approval = await getApproval(db, approvalId);
    if (approval?.status !== "approved" || approval.ticketId !== ticket_id) return undefined;
    const { approvers, actionSha256 } = approval;
    const shownSha256 = hashOf(approval.action);
    if (actionSha256 !== action.sha256 || shownSha256 !== action.sha256) return undefined;
    if (approvers.length < config.settings.SEALOOP_APPROVERS) return undefined;
    return { approval_id: approvalId, approvers: approvers.map(({ key_id }) => `key:${key_id}`) };
  }

  /** Returns the principal of the key that requested the run. */
  async function requesterOf({ requested_by }: Finding): Promise<string> {
    const keyId = /^key:(.+)$/.exec(requested_by ?? "")?.[1];
    return (keyId && await getPrincipal(db, keyId)) ?? LOOP_ACTOR;
  }

  return permit;
}

function receiptOf(
  { ticket_id, action, run, round }: RepairRequest,
  { receipt_id, decision }: VerdictRecord,
  verdict: GuardVerdict,
) {
  return {
    id: receipt_id,
    category: "guardrail_verdict",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: "validate",
    outcome: decision,
    details: {
      action_id: action.id,
      round,
      policy_version: verdict.policy_version,
      rails: Object.fromEntries(verdict.rails.map(({ rail, passed }) => [rail, passed])),
      exceeds: action.exceeds.length,
      ...run,
    },
    evidence: { verdict, action },
  };
}
