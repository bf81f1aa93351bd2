/** Texts that tell people of an approval: in answers, webhooks, Temporal's Web UI and the terminal of `npm start`. */
import { escapeInvisible, redactSecrets, toLine } from "../../contract/mod.ts";
import { LOOP_ACTOR, PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { ApprovalGrounds, type EvidenceRef } from "../../contract/records/mod.ts";
import type { ApprovalMove, ApprovalRecord } from "../../store/approvals/mod.ts";
import type { NewMessage } from "../../store/notices/mod.ts";

/** Services that a line names. */
const MAX_NAMES = 8;
const MAX_LINE_TEXT = 200;
/** Ends of an approval about which nobody decided. */
const END_WORDS: Readonly<Record<string, string>> = {
  expired: "has expired",
  outdated: "is outdated, and is made anew",
};

/** An approval's grounds and the way to decide, as answers have them. */
export function noticeOf({ id, grounds }: Pick<ApprovalRecord, "id" | "grounds">) {
  const told = escapeInvisible(ApprovalGrounds.parse(grounds));
  const decide = told.passkey
    ? `/console/approvals/${id} on the gateway, where your passkey approves; ` +
      `npm run approvals -- deny ${id} on the platform's machine, or POST /v1/approvals/${id}/deny with a key that may ` +
      "approve, denies"
    : `npm run approvals -- approve ${id} (or deny) on the platform's machine, or ` +
      `POST /v1/approvals/${id}/approve (or /deny) with a key that may approve`;
  return { ...told, decide };
}

/** Returns the command that shows everything of an approval. */
function showCommand(id: string): string {
  return `npm run approvals -- show ${id}`;
}

/**
 * Returns the lines that Temporal's Web UI shows of a pending approval, in Markdown. Of a tenant's, and of a mail, they have
 * ids, the rule and the command that shows the rest.
 */
export function webUiNotice(approval: ApprovalRecord): string {
  return entriesOf(approval)
    .map(([name, text]) => `- ${name}: ${name === "decide" ? `\`${text}\`` : asMarkdown(text)}`)
    .join("\n");
}

/** Returns the line that the terminal of `npm start` shows of a pending approval; of a tenant's and of a mail with ids alone. */
export function terminalLine(approval: ApprovalRecord): string {
  const { id, tenant, escalated } = approval;
  const owner = tenant === PLATFORM_TENANT ? "" : ` of tenant ${tenant}`;
  const still = escalated ? "still " : "";
  const texts = entriesOf(approval)
    .map(([name, text]) => name === "asks for" || name === "decide" ? text : `${name} ${text}`);
  return `${id}${owner} ${still}waits for a person: ${texts.join(" · ")}`;
}

/** Returns what the feed tells of a move of an approval, to those who may read the approval. */
export function feedMessage(
  approval: ApprovalRecord,
  { move, by, reason }: Pick<ApprovalMove, "move" | "by" | "reason">,
): Pick<NewMessage, "from" | "subject" | "text" | "refs"> {
  const { id, status, ticketId, requestedBy, description, subject } = approval;
  const isPending = status === "pending";
  const texts = isPending ? textsOf(approval) : [
    ...(reason ? [["reason", inOneLine(reason)] as const] : []),
    ["it was about", inOneLine(description || subject)] as const,
  ];
  const who = by ? ` by ${by.principal}` : "";
  return {
    from: by?.principal ?? (move === "requested" ? requestedBy : LOOP_ACTOR),
    subject: isPending
      ? `${id} ${move === "escalated" ? "still " : ""}waits for a person`
      : `${id} ${END_WORDS[status] ?? `was ${status}${who}`}`,
    text: texts.map(([name, text]) => `${name}: ${text}`).join("\n"),
    refs: { approval_id: id, ...(ticketId ? { ticket_id: ticketId } : {}) },
  };
}

/** Returns the `data` of a webhook's message about a move of an approval. */
export function messageOf(
  approval: ApprovalRecord,
  { move, by, reason }: Pick<ApprovalMove, "move" | "by" | "reason">,
): Record<string, unknown> {
  const { decide, ...grounds } = noticeOf(approval);
  return {
    approval_id: approval.id,
    move,
    status: approval.status,
    subject: escapeInvisible(approval.subject),
    ticket_id: approval.ticketId,
    description: escapeInvisible(approval.description),
    action: redactSecrets(approval.action),
    action_sha256: approval.actionSha256,
    ...grounds,
    requested_by: escapeInvisible(approval.requestedBy),
    needed: approval.needed,
    approvers: approval.approvers,
    escalated: approval.escalated,
    asked_at: approval.askedAt,
    expires_at: approval.expiresAt,
    ...(approval.status === "pending" ? { decide } : {
      decided_at: approval.decidedAt,
      decided_by: by ?? null,
      reason: reason ? escapeInvisible(reason) : null,
    }),
  };
}

type Entry = readonly [name: string, text: string];

/** Returns what is told where row-level security ends: no private texts. */
function entriesOf(approval: ApprovalRecord): Entry[] {
  if (!isPrivate(approval)) return textsOf(approval);
  return [["rule", approval.grounds.rule ?? "none"], ...referencesOf(approval)];
}

function textsOf(approval: ApprovalRecord): Entry[] {
  const { description, subject, grounds: { rule, reasons, reaches } } = approval;
  const texts: readonly Entry[] = [
    ["asks for", inOneLine(description || subject)],
    ["exactly", inOneLine(exactText(approval))],
    ["because", inOneLine(reasons.join("; ")) + (rule ? ` (${rule})` : "")],
    ["reaches", listNames(reaches)],
  ];
  return [...texts.filter(([, text]) => text !== ""), ...referencesOf(approval)];
}

/** Returns the action in full, as its requester could describe another one. What a runbook does is described by itself. */
function exactText({ action }: ApprovalRecord): string {
  if (typeof action.runbook === "string") return "";
  const { tool, arguments: input } = action;
  return tool === undefined
    ? JSON.stringify(redactSecrets(action))
    : `${tool} ${JSON.stringify(input)}`;
}

function referencesOf({ id, grounds, expiresAt, needed, approvers }: ApprovalRecord): Entry[] {
  const entries: readonly Entry[] = [
    ["evidence", grounds.evidence.map(referenceText).join(", ")],
    ["approvals", needed > 1 ? `${approvers.length} of ${needed}` : ""],
    ["until", expiresAt],
    ["decide", showCommand(id)],
  ];
  return entries.filter(([, text]) => text !== "");
}

/** Texts of other tenants, and about people, are in the database alone. */
function isPrivate({ tenant, grounds }: ApprovalRecord): boolean {
  return tenant !== PLATFORM_TENANT || grounds.personal === true;
}

/** Returns a reference as people read it: an id that says by itself what it names, or its kind and the id. */
function referenceText({ kind, id }: EvidenceRef): string {
  return /^[A-Z]{2,4}-/.test(id) ? id : `${kind} ${id}`;
}

function listNames(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Returns a text that stays within its line and shows what can't be seen. */
function inOneLine(text: string): string {
  const line = toLine(text);
  return line.length > MAX_LINE_TEXT ? `${line.slice(0, MAX_LINE_TEXT)}…` : line;
}

/** Returns a text that Markdown shows as it is: what a program writes can't pose as a link or a command. */
function asMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]<>()#!|~]/g, "\\$&");
}
