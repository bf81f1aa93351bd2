import { setTimeout as sleep } from "node:timers/promises";
import { hasApproved, voterOf } from "../../calls/approvals/mod.ts";
import { useGrant } from "../../calls/grants/mod.ts";
import { receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { LOOP_ACTOR, type Permission } from "../../contract/domain/mod.ts";
import { EngineUnavailable } from "../../judgement/engine/mod.ts";
import type { GuardVerdict, ValidateRequest } from "../../judgement/guard/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { getApproval, getOffer } from "../../store/approvals/mod.ts";
import {
  addTicketEvent,
  findTicketOfRun,
  getFinding,
  getTaker,
  getVerdict,
  listEffectsOfAction,
  listTicketEvents,
  putVerdict,
  type RepairVerdict,
  returnTicketToRun,
} from "../../store/incidents/mod.ts";
import { findGrantOfAct, getGrant } from "../../store/grants/mod.ts";
import { getPrincipal } from "../../store/keys/mod.ts";
import { listActiveFreezes } from "../../store/calendar/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { shownAction } from "./_action.ts";
import { validateRequestOf } from "./_guard_request.ts";
import type { RepairRequest } from "./_order.ts";

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

/** Creates the function that asks for permission before a repair. */
export function createPermit({ store, engine, config }: ActivityParts) {
  const db = store.db;

  /**
   * Asks the guardrails whether an action may be done, and seals the verdict. A verdict that needs a person is met by an
   * approval of exactly this action. Nobody is asked while a person has taken the ticket.
   *
   * Safe to repeat: the first verdict in a round of a run stays. But where it allowed the action, nothing was done yet, and a
   * change freeze holds by now, a second one is asked for, and that stays.
   *
   * @throws {Problem} `Conflict`: the ticket is no longer the run's
   */
  async function permit(request: RepairRequest): Promise<Permission> {
    if (await getTaker(db, request.ticket_id) !== null) {
      return { granted: false, decision: "taken", receipt_id: null };
    }
    const verdict = await storedOrNewVerdict(request);
    if (!verdict) return { granted: false, decision: "away", receipt_id: null };
    const { decision, policy_version, receipt_id } = verdict;
    const permission = { decision, policy_version, receipt_id };
    if (decision !== "needs_approval") return { ...permission, granted: decision === "allow" };
    const approval = request.approval_id && await approvalOf(request.approval_id, request);
    if (approval) return { ...permission, granted: true, approval };
    const grant = await useGrantFor(request, verdict);
    if (grant) return { ...permission, granted: true, ...grant };
    return { ...permission, granted: false, requested_by: await requesterOf(request) };
  }

  /**
   * @param frozen true: asks again, as a change freeze has begun
   * @returns undefined if the guardrails can't be reached, so that nothing may be done
   */
  async function storedOrNewVerdict(
    request: RepairRequest,
    frozen = false,
  ): Promise<RepairVerdict | undefined> {
    const { ticket_id, run, action } = request;
    const { report, fingerprint } = request.finding;
    const [known, ownTicket, finding] = await Promise.all([
      getVerdict(db, action.id, frozen),
      findTicketOfRun(db, run.workflow_id, run.run_id, "open"),
      report ? undefined : getFinding(db, fingerprint),
    ]);
    if (known) {
      return frozen || !await isFrozenSince(request, known)
        ? known
        : await storedOrNewVerdict(request, true);
    }
    if (ownTicket !== ticket_id) {
      throw new Problem("Conflict", `Ticket ${ticket_id} is no longer in the hands of this run`);
    }
    const verdict = await askGuardrails(validateRequestOf(request, finding?.summary));
    return verdict && await recordVerdict(request, frozen, verdict);
  }

  /** Returns true where a change freeze holds an action back that was allowed before it, and of which nothing was done yet. */
  async function isFrozenSince({ action }: RepairRequest, first: RepairVerdict): Promise<boolean> {
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
    frozen: boolean,
    verdict: GuardVerdict,
  ): Promise<RepairVerdict> {
    const { ticket_id, action, run, round } = request;
    const mark = `permit-${round}${frozen ? "-frozen" : ""}`;
    const isBounded = action.exceeds.length === 0;
    const isOffered = action.instead_of !== undefined;
    const decision = verdict.decision === "allow" && (!isBounded || isOffered)
      ? "needs_approval"
      : verdict.decision;
    const { policy_version, rails } = verdict;
    const receipt_id = receiptIdOf(run, mark.toUpperCase());
    const record = { action_id: action.id, decision, policy_version, receipt_id };
    const isFirst = await db.transaction(async (trx) => {
      if (!await putVerdict(trx, { ...record, frozen })) return false;
      if (await returnTicketToRun(trx, ticket_id, run.run_id)) {
        await addTicketEvent(trx, ticket_id, {
          key: `${run.run_id}/${mark}-asked`,
          kind: "guardrails_back",
          data: { round },
        });
      }
      await addTicketEvent(trx, ticket_id, {
        key: `${run.run_id}/${mark}`,
        kind: EVENT_OF_DECISION[decision],
        data: { round, ...record, rails, exceeds: action.exceeds },
      });
      const freezes = await listActiveFreezes(trx);
      await requestSeal(trx, receiptOf(request, record, verdict, freezes.length > 0));
      return true;
    });
    return isFirst ? { ...record, frozen } : (await getVerdict(db, action.id, frozen))!;
  }

  /** Returns an approval of exactly this action on this ticket, by as many people as it takes; or undefined. */
  async function approvalOf(
    approvalId: string,
    { action, ticket_id }: RepairRequest,
  ): Promise<Permission["approval"]> {
    const approval = await getApproval(db, approvalId);
    if (approval?.status !== "approved" || approval.ticketId !== ticket_id) return undefined;
    if (!hasApproved(approval, shownAction(action), config.settings.SEALOOP_APPROVERS)) {
      return undefined;
    }
    const { approvers } = approval;
    const voters = approvers.map(({ principal }) => voterOf(db, approvalId, principal));
    return { approval_id: approvalId, approvers: await Promise.all(voters) };
  }

  /**
   * Uses a standing grant of exactly this action, where a runbook's bounds alone ask people, and no rail of the guardrails.
   * Safe to repeat: an action uses a grant once. A repair that has not begun uses none that was revoked since.
   */
  async function useGrantFor(
    { action, ticket_id, run, round }: RepairRequest,
    verdict: RepairVerdict,
  ): Promise<Pick<Permission, "grant" | "use"> | undefined> {
    if (verdict.frozen || !await isAskedByBounds(ticket_id, action.id)) return undefined;
    const used = await findGrantOfAct(db, action.id);
    if (used) {
      const hasBegun = (await listEffectsOfAction(db, action.id)).length > 0;
      const isRevoked = (await getGrant(db, used.grantId))?.revokedAt !== null;
      const isFrozen = (await listActiveFreezes(db)).length > 0;
      if (!hasBegun && (isRevoked || isFrozen)) return undefined;
      return { grant: used.grantId, use: used.number };
    }
    const asked = {
      actionSha256: action.sha256,
      approvers: config.settings.SEALOOP_APPROVERS,
      id: action.id,
    };
    return await db.transaction(async (trx) => {
      const use = await useGrant(store, trx, asked);
      if (!use) return undefined;
      const receipt_id = receiptIdOf(run, `GRANT-${round}`);
      const details = { ...use, action_id: action.id };
      await addTicketEvent(trx, ticket_id, {
        key: `${run.run_id}/granted-${round}`,
        kind: "granted",
        data: { round, ...details, receipt_id },
      });
      await requestSeal(trx, {
        id: receipt_id,
        category: "grant",
        actor: LOOP_ACTOR,
        subject: ticket_id,
        action: "grant.used",
        outcome: "granted",
        details: { ...details, ...run },
        evidence: { action: shownAction(action) },
      });
      return { grant: use.grant, use: use.use };
    });
  }

  /** Returns whether all rails of the guardrails let an action pass, so that its runbook's bounds alone ask people. */
  async function isAskedByBounds(ticketId: string, actionId: string): Promise<boolean> {
    const events = await listTicketEvents(db, ticketId);
    const asked = events.findLast(({ kind, data }) =>
      kind === "approval_needed" && data.action_id === actionId
    );
    const rails = asked?.data.rails as GuardVerdict["rails"] | undefined;
    return rails !== undefined && rails.every(({ passed }) => passed);
  }

  /** Returns who asks: whoever offers the repair instead of another one, by their key, or who requested the run. */
  async function requesterOf(
    { action: { instead_of }, finding: { requested_by } }: RepairRequest,
  ): Promise<string> {
    const offer = instead_of === undefined ? undefined : await getOffer(db, instead_of);
    if (offer) return `key:${offer.keyId}`;
    const keyId = /^key:(.+)$/.exec(requested_by ?? "")?.[1];
    return (keyId && await getPrincipal(db, keyId)) ?? LOOP_ACTOR;
  }

  return permit;
}

function receiptOf(
  { ticket_id, action, run, round }: RepairRequest,
  { receipt_id, decision }: Pick<RepairVerdict, "receipt_id" | "decision">,
  verdict: GuardVerdict,
  isFrozen: boolean,
) {
  const rails = Object.fromEntries(verdict.rails.map(({ rail, passed }) => [rail, passed]));
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
      rails,
      ...(isFrozen && rails.execution_bounds === false ? { freeze: true } : {}),
      exceeds: action.exceeds.length,
      ...run,
    },
    evidence: { verdict, action },
  };
}
