import { setTimeout as sleep } from "node:timers/promises";
import { EngineUnavailable } from "../engine/mod.ts";
import type { GuardVerdict, ValidateRequest } from "../guard/mod.ts";
import type { Action, Diagnosis, Finding, Permission } from "../domain/mod.ts";
import {
  addTicketEvent,
  findTicketOfRun,
  getApproval,
  getFinding,
  getPrincipal,
  getTicketEvent,
} from "../store/mod.ts";
import { Problem } from "../contract/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { hashOf } from "./_action.ts";
import type { RepairOrder } from "./_effects.ts";
import { LOOP_ACTOR } from "../domain/mod.ts";
import { receiptIdOf } from "../calls/mod.ts";
import type { ActivityParts } from "./_parts.ts";

/** A repair that is asked for, with all that the guardrails hold it against. */
export interface RepairRequest extends RepairOrder {
  /** What the last probe said. */
  readonly code: string;
  readonly diagnosis: Pick<Diagnosis, "classification" | "citations">;
  /** What people have said yes to, where they were asked. */
  readonly approval_id?: string;
}

/** How sure an action is that a detector's own code leads to: a probe has seen it, and nobody has guessed. */
const SEEN = 0.9;
/** How sure one is that rests on a report that nobody could judge. */
const UNJUDGED = 0.5;
/** How often the guardrails are asked, how long each time, and what is waited until the next: milliseconds. */
const ATTEMPTS = [
  { limit: 2_000, pause: 500 },
  { limit: 2_000, pause: 1_000 },
  { limit: 5_000, pause: 2_000 },
  { limit: 10_000, pause: 4_000 },
  { limit: 20_000, pause: 0 },
];

/** The guardrails before each repair. */
export function permitting({ store, engine, config }: ActivityParts) {
  /**
   * Asks the guardrails whether an action may be done, once for a round of a run, and seals what they say. A verdict
   * that asks for a person is met by an approval of exactly this action. Safe to repeat: the first verdict stays.
   *
   * @throws {Problem} `Conflict`: the ticket is not the run's any more, so that there is nothing to ask
   */
  async function permit(request: RepairRequest): Promise<Permission> {
    const { ticket_id, run, round } = request;
    const key = `${run.run_id}/permit-${round}`;
    const { report, fingerprint } = request.finding;
    const [known, ours, finding] = await Promise.all([
      getTicketEvent(store.asPlatform(), ticket_id, key),
      findTicketOfRun(store.asPlatform(), run.workflow_id, run.run_id, "open"),
      report ? undefined : getFinding(store.asPlatform(), fingerprint),
    ]);
    if (!known && ours !== ticket_id) {
      throw new Problem("Conflict", `Ticket ${ticket_id} is not in this run's hands any more`);
    }
    const verdict = known ? known.data as Ruling : await rule(request, key, finding?.summary);
    if (!verdict) return { granted: false, decision: "away", receipt_id: null };
    const { decision, policy_version, receipt_id } = verdict;
    const said = { decision, policy_version, receipt_id };
    if (decision !== "needs_approval") return { ...said, granted: decision === "allow" };
    const approval = request.approval_id && await approvalOf(request.approval_id, request);
    if (approval) return { ...said, granted: true, approval };
    return { ...said, granted: false, requested_by: await requesterOf(request.finding) };
  }

  /** @returns undefined where the guardrails can't be reached, so that nothing may be done */
  async function rule(
    request: RepairRequest,
    key: string,
    summary: string | undefined,
  ): Promise<Ruling | undefined> {
    const verdict = await ask(questionOf(request, summary));
    if (!verdict) return undefined;
    const { ticket_id, action, round, run } = request;
    const decision = verdict.decision === "allow" && action.exceeds.length > 0
      ? "needs_approval"
      : verdict.decision;
    const receiptId = receiptIdOf(run, `PERMIT-${round}`);
    const ruling: Ruling = {
      ...{ round, action_id: action.id, decision },
      policy_version: verdict.policy_version,
      rails: verdict.rails,
      exceeds: action.exceeds,
      receipt_id: receiptId,
    };
    const event = { key, kind: KINDS[decision], data: ruling };
    const seal = {
      id: receiptId,
      category: "guardrail_verdict",
      actor: LOOP_ACTOR,
      subject: ticket_id,
      action: "validate",
      outcome: decision,
      details: {
        ...{ action_id: action.id, action_sha256: action.sha256, round },
        policy_version: verdict.policy_version,
        rails: Object.fromEntries(verdict.rails.map(({ rail, passed }) => [rail, passed])),
        exceeds: action.exceeds.length,
        ...run,
      },
      evidence: { verdict, action },
    };
    const isFirst = await store.asPlatform().transaction(async (trx) => {
      if (!await addTicketEvent(trx, ticket_id, event)) return false;
      await requestSeal(trx, seal);
      return true;
    });
    if (isFirst) return ruling;
    const first = await getTicketEvent(store.asPlatform(), ticket_id, key); // of two attempts at once
    return first?.data as Ruling;
  }

  async function ask(question: ValidateRequest): Promise<GuardVerdict | undefined> {
    for (const { limit, pause } of ATTEMPTS) {
      try {
        return await engine.validate(question, limit);
      } catch (error) {
        if (!(error instanceof EngineUnavailable)) throw error;
        await sleep(pause); // it may be starting again, or have much to do
      }
    }
    return undefined;
  }

  function questionOf(
    { ticket_id, action, finding, code, diagnosis: { classification, citations } }: RepairRequest,
    summary: string | undefined,
  ): ValidateRequest {
    const { service, runbook, version, steps } = action;
    return {
      incident: finding.report ?? summary ??
        `${finding.service ?? "A host"} fails its ${finding.check} check: ${code}`,
      action: {
        description: steps.map(({ does }) => does).join(" "),
        command: commandOf(action),
        target: service,
        confidence: finding.check === "report" ? classification?.confidence ?? UNJUDGED : SEEN,
        blast_radius: 1, // of itself: the guardrails know who depends on it
        touches_secrets: false,
        ...{ runbook, version },
      },
      context: {
        ticket_id,
        listed: true, // what is not, the executor refuses
        citations: [...citations],
        observed: { service, healthy: false, code },
      },
    };
  }

  /** An approval of exactly this action on this ticket, by as many as it takes, who were shown that and nothing else. */
  async function approvalOf(
    approvalId: string,
    { action, ticket_id }: RepairRequest,
  ): Promise<Permission["approval"]> {
    const known = await getApproval(store.asPlatform(), approvalId);
    if (known?.status !== "approved" || known.ticketId !== ticket_id) return undefined;
    const { approvers, actionSha256 } = known;
    const shown = hashOf(known.action);
    if (actionSha256 !== action.sha256 || shown !== action.sha256) return undefined;
    if (approvers.length < config.settings.SEALOOP_APPROVERS) return undefined;
    return { approval_id: approvalId, approvers: approvers.map(({ key_id }) => `key:${key_id}`) };
  }

  /** Principal of the key that asked for the run. */
  async function requesterOf({ requested_by }: Finding): Promise<string> {
    const keyId = /^key:(.+)$/.exec(requested_by ?? "")?.[1];
    return (keyId && await getPrincipal(store.asPlatform(), keyId)) ?? LOOP_ACTOR;
  }

  return permit;
}

/** What the guardrails said, as the ticket keeps it. */
type Ruling = {
  readonly round: number;
  readonly action_id: string;
  readonly decision: GuardVerdict["decision"];
  readonly policy_version: string;
  readonly rails: GuardVerdict["rails"];
  readonly exceeds: readonly string[];
  readonly receipt_id: string;
};

const KINDS = { allow: "permitted", needs_approval: "approval_needed", deny: "refused" } as const;

/** Commands of an action as a shell would be told them; undefined: it has none. */
function commandOf({ steps }: Action): string | undefined {
  const lines = steps.flatMap(({ command }) => {
    const { argv } = (command ?? {}) as { argv?: readonly string[] };
    return argv ? [argv.map(quoted).join(" ")] : [];
  });
  return lines.length > 0 ? lines.join("\n") : undefined;
}

const quoted = (word: string) =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
