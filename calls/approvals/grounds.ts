/** The grounds of approvals: why people are asked, and what they decide about. */
import { type ApprovalGrounds, type EvidenceRef, groundsOf } from "../../contract/records/mod.ts";
import { MIN_ADVICE_CONFIDENCE } from "../../judgement/engine/mod.ts";
import type { Db } from "../../store/mod.ts";
import { listTicketEvents, type TimelineEvent } from "../../store/incidents/mod.ts";
import { listReached } from "../../store/cmdb/mod.ts";
import { targetOf } from "../governance/mod.ts";
import type { RecordedEvaluation } from "../governance/mod.ts";
import type { CheckedCall } from "../run.ts";

/** Articles that a repair's grounds name. */
const MAX_ARTICLES = 5;
/** Name of the rule that a runbook's own bounds are. */
const BOUNDS_RULE = "runbook_bounds";

/** Groups of operations whose arguments are about people, or are their words. */
const PERSONAL_GROUPS = new Set(["crm", "partners", "people"]);

/** The parts of a stored verdict about a repair that people are told. */
interface RepairVerdict {
  readonly action_id?: string;
  readonly receipt_id?: string;
  readonly exceeds?: readonly string[];
  readonly rails?: readonly {
    readonly rail: string;
    readonly passed: boolean;
    readonly reasons: readonly string[];
  }[];
}

/** Returns the grounds of a call that a rule or the guardrails leave to people. */
export async function groundsOfCall(
  db: Db,
  { operation, input }: Pick<CheckedCall, "operation" | "input">,
  { id, rule, reasons, receiptId, passkey }: RecordedEvaluation,
): Promise<ApprovalGrounds> {
  const target = targetOf(input);
  return groundsOf({
    rule,
    reasons,
    reaches: target ? await listReached(db, target) : [],
    evidence: [{ kind: "decision", id }, { kind: "receipt", id: receiptId }],
    passkey,
    personal: PERSONAL_GROUPS.has(operation.group),
  });
}

/** Returns the grounds of an action that a program of the caller's own asks about. */
export async function groundsOfRequest(
  db: Db,
  action: Readonly<Record<string, unknown>>,
  ticketId: string | null,
): Promise<ApprovalGrounds> {
  const target = targetOf(action);
  return groundsOf({
    reasons: ["A program asks before it acts"],
    reaches: target ? await listReached(db, target) : [],
    evidence: ticketId ? [{ kind: "ticket", id: ticketId }] : [],
  });
}

/** A repair that a loop asks about. */
export interface AskedRepair {
  readonly approvalId: string;
  readonly ticketId: string | null;
  readonly action: Readonly<Record<string, unknown>>;
}

/** Returns the grounds of a loop's repair, from the verdict and the diagnosis that the ticket has. */
export async function groundsOfRepair(
  db: Db,
  { approvalId, ticketId, action }: AskedRepair,
): Promise<ApprovalGrounds> {
  const events = ticketId ? await listTicketEvents(db, ticketId) : [];
  const verdict = findVerdict(events, approvalId);
  const exceeds = verdict?.exceeds ?? sentencesOf(action.exceeds);
  const failed = verdict?.rails?.filter(({ passed }) => !passed) ?? [];
  const rules = [...(exceeds.length > 0 ? [BOUNDS_RULE] : []), ...failed.map(({ rail }) => rail)];
  const evidence: EvidenceRef[] = [
    ...(ticketId ? [{ kind: "ticket", id: ticketId } as const] : []),
    ...(verdict?.receipt_id ? [{ kind: "receipt", id: verdict.receipt_id } as const] : []),
    ...articlesOf(events).map((id) => ({ kind: "article", id }) as const),
  ];
  return groundsOf({
    rule: rules.length > 0 ? rules.join(", ") : null,
    reasons: [
      ...new Set([
        ...(typeof action.instead_of === "string" ? [whyInstead(action.instead_of)] : []),
        ...whyAnew(events),
        ...exceeds,
        ...failed.flatMap(({ reasons }) => reasons),
      ]),
    ],
    reaches: typeof action.service === "string" ? await listReached(db, action.service) : [],
    evidence,
  });
}

/** Tells that something is offered by whoever denied another approval. */
export function whyInstead(denied: string): string {
  return `Whoever denied ${denied} offers this instead`;
}

/** Tells why a repair is asked for anew; empty: it is not. */
function whyAnew(events: readonly TimelineEvent[]): string[] {
  const isOutdated = ({ kind }: TimelineEvent) =>
    kind === "outdated" || kind === "approval_outdated";
  const diagnoses = events.filter(({ kind }) =>
    kind === "diagnosed" || kind === "outdated" || kind === "approval_outdated"
  );
  const before = diagnoses.at(-2); // the last is the diagnosis of what is asked for
  return before && isOutdated(before) ? [`It is asked for anew: ${String(before.data.why)}`] : [];
}

/** Finds the verdict on the action whose approval this is: the approval's id begins as the action's. */
function findVerdict(
  events: readonly TimelineEvent[],
  approvalId: string,
): RepairVerdict | undefined {
  const start = approvalId.replace(/^APR-/, "");
  return events.filter(({ kind }) => kind === "approval_needed")
    .map(({ data }) => data as RepairVerdict)
    .findLast(({ action_id }) => action_id?.startsWith(start));
}

/** Returns the articles that the diagnosis rests on. */
function articlesOf(events: readonly TimelineEvent[]): string[] {
  const diagnosed = events.findLast(({ kind }) => kind === "diagnosed")?.data;
  const { confidence = 0 } = (diagnosed?.classification ?? {}) as { confidence?: number };
  if (confidence < MIN_ADVICE_CONFIDENCE) return []; // of a guess
  return sentencesOf(diagnosed?.citations).slice(0, MAX_ARTICLES);
}

function sentencesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}
