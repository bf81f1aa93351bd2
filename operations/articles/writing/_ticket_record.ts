/** Repairs, cause and end of a ticket, by its record. */
import { isChange } from "../../../contract/domain/mod.ts";
import type { TimelineEvent } from "../../../store/incidents/mod.ts";
import type { TicketFacts } from "./_ticket_facts.ts";

/** One run of a runbook. */
interface Try {
  readonly runbook: string;
  readonly actionId: unknown;
  readonly steps: readonly {
    readonly step: string;
    readonly state: string;
    readonly code?: string;
  }[];
  /** Of the whole: `done`, `partly_done`, `not_done` or `unknown`. */
  readonly state: string;
  /** True: the check passed after it; false: it failed; undefined: it was not made, or could not tell. */
  readonly helped: boolean | undefined;
}

type Events = readonly Pick<TimelineEvent, "kind" | "data">[];

/** Codes of checks after which nobody can tell whether the fault is over. */
const NOT_TOLD = new Set<unknown>(["no_check", "alerts_unknown"]);
/** Events with which something else than a repair and its check begins. */
const BEGINS = /^(?:diagnosed|detected|remediated|remediation_failed)$/;

/** Returns what was tried, oldest first, each with the check that followed it. */
export function listTries({ events }: { readonly events: Events }): Try[] {
  return events.flatMap(({ kind, data }, at) => {
    if (kind !== "remediated" && kind !== "remediation_failed") return [];
    const after = events.slice(at + 1);
    const end = after.findIndex((one) => BEGINS.test(one.kind));
    const check = after.slice(0, end < 0 ? undefined : end)
      .find((one) => one.kind === "verified" || one.kind === "verification_failed");
    return [{
      runbook: String(data.runbook),
      actionId: data.action_id,
      steps: data.steps as Try["steps"] ?? [],
      state: String(data.state ?? (kind === "remediated" ? "done" : "not_done")),
      helped: !check || NOT_TOLD.has(check.data.code) ? undefined : check.kind === "verified",
    }];
  });
}

/** Returns the repair that the check passed after; undefined: there is none. One that changed nothing did not help. */
export function findHelp(facts: { readonly events: Events }): Try | undefined {
  return listTries(facts).findLast(({ helped, state, steps }) =>
    helped && state !== "not_done" && (steps.length === 0 || steps.some(isChange))
  );
}

/** Returns the verdict about a repair, or the last one; undefined: the guardrails were not asked. */
export function findVerdict({ events }: { readonly events: Events }, actionId?: unknown) {
  const verdicts = events.filter(({ data }) => Array.isArray(data.rails));
  const own = verdicts.findLast(({ data }) => data.action_id === actionId);
  return (own ?? verdicts.at(-1))?.data;
}

/** Returns true where a person consented to the repair that helped, and no standing grant allowed it. */
export function isConsented(facts: { readonly events: Events }): boolean {
  const actionId = findHelp(facts)?.actionId;
  const verdict = findVerdict(facts, actionId);
  return verdict?.decision === "needs_approval" && facts.events.some(isApproval) &&
    !facts.events.some(({ kind, data }) => kind === "granted" && data.action_id === actionId);
}

/** Returns true where an event is an approval. One of several votes is none: it decides nothing. */
export function isApproval({ kind, data }: Pick<TimelineEvent, "kind" | "data">): boolean {
  return kind === "approval_approved" && data.status !== "pending";
}

/** Returns the first diagnosis that names a cause, else the last one: later faults that join change no cause. */
export function findDiagnosis({ events }: { readonly events: Events }) {
  const all = events.filter(({ kind }) => kind === "diagnosed").map(({ data }) => data);
  return all.find(({ cause }) => typeof cause === "string") ?? all.at(-1);
}

/**
 * How a ticket ended. `over`: its check passed, and no repair of the platform helped; `gone`: the fault was with people,
 * and was gone when it was looked at again.
 */
export type Ending = "repaired" | "over" | "gone" | "closed_by_person" | "closed";

/** Returns how a ticket ended. */
export function endingOf(facts: Pick<TicketFacts, "ticket" | "events">): Ending {
  if (facts.ticket.outcome === "sealed") return findHelp(facts) ? "repaired" : "over";
  if (facts.ticket.outcome === "recovered") return "gone";
  const isByPerson = facts.events.some(({ kind, data }) =>
    kind === "resolved" && data.by === "person"
  );
  return isByPerson ? "closed_by_person" : "closed";
}
