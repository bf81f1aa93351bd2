/** Approvals as a terminal shows them. Each line says what it belongs to, so that no text can pass for another field. */
import { shownLines } from "../../ledger/passkeys/mod.ts";
import type { ApprovalDetails } from "../../operations/approvals/mod.ts";
import { formatTable } from "./_command.ts";
import { oneLine } from "./_gateway_call.ts";

/** An approval in a list. */
export type ListedApproval = Omit<ApprovalDetails, "moves" | "act">;

const MAX_TEXT = 70;

/** Formats approvals as a table. */
export function formatApprovals(approvals: readonly ListedApproval[]): string {
  if (approvals.length === 0) return "Nothing waits for people";
  const head = ["id", "status", "tenant", "until", "asks for", "because"];
  const rows = approvals.map((one) => [
    oneLine(one.approval_id),
    oneLine(one.status),
    oneLine(one.tenant_id),
    oneLine(`${one.expires_at.slice(0, 16).replace("T", " ")}Z`),
    shorten(one.description || one.subject),
    shorten(one.reasons.join("; ")),
  ]);
  return formatTable(head, rows);
}

/**
 * Formats everything that a person needs to decide: the lines that are shown wherever people decide, and how it stands. The
 * first line says how many others there are.
 */
export function formatApproval(info: ApprovalDetails): string {
  const isPending = info.status === "pending";
  const fields: readonly (readonly [string, string])[] = [
    ["asked at", info.asked_at],
    ["approvals", `${info.approvers.length} of ${info.needed}`],
    ["until", isPending ? info.expires_at : ""],
    ["sha256", info.action_sha256],
    ["decide", isPending ? info.decide : ""],
  ];
  const lines = [...shownLines(info).map((line) => `  ${line}`)];
  for (const [name, text] of fields) {
    if (text !== "") lines.push(formatField(name, text));
  }
  for (const { at, move, principal, reason, receipt_id } of info.moves) {
    const by = principal ? ` by ${principal}` : "";
    const why = reason ? `: ${reason}` : "";
    lines.push(formatField("move", `${at} ${move}${by}, receipt ${receipt_id}${why}`));
  }
  const text = lines.join("\n");
  const title = oneLine(`${info.approval_id} is ${info.status}`);
  return `${title}; ${text.split("\n").length} lines follow\n${text}`;
}

/** Formats a field; its further lines are indented. */
export function formatField(name: string, text: string): string {
  const [first, ...rest] = text.split("\n");
  const more = rest.map((line) => `${"".padEnd(14)}${line}`.trimEnd());
  return [`  ${name.padEnd(12)}${first}`, ...more].join("\n");
}

function shorten(text: string): string {
  const line = oneLine(text);
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
}
