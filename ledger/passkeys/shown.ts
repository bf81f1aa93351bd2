import { escapeInvisible } from "../../contract/text/mod.ts";
import { printAction } from "./_print_action.ts";

/** The fields of an approval that people are shown before they decide, and that never change. @see `GET /v1/approvals` */
export interface ShownApproval {
  readonly approval_id: string;
  readonly subject: string;
  readonly description: string;
  readonly rule: string | null;
  readonly reasons: readonly string[];
  readonly reaches: readonly string[];
  readonly evidence: readonly { readonly kind: string; readonly id: string }[];
  readonly requested_by: string;
  readonly tenant_id: string;
  readonly needed: number;
  readonly action: Readonly<Record<string, unknown>>;
}

/** Column where the text of a field begins. */
const INDENT = 12;

/**
 * Returns the lines that people are shown of an approval, wherever they decide: what is asked for, why, by whom, what it
 * reaches, and exactly what is done. Each says what it belongs to, so that no text can pass for another field, and shows
 * characters that can't be seen. What a passkey signs is the hash of these lines.
 */
export function shownLines(approval: ShownApproval): string[] {
  const { requested_by, tenant_id, needed } = approval;
  const fields: readonly (readonly [string, string])[] = [
    ["approval", approval.approval_id],
    ["asks for", approval.description || approval.subject],
    ["because", approval.reasons.join("\n")],
    ["rule", approval.rule ?? "none"],
    ["reaches", approval.reaches.join("\n")],
    ["evidence", approval.evidence.map(({ kind, id }) => `${kind} ${id}`).join("\n")],
    ["asked by", `${requested_by} of ${tenant_id}`],
    ["needs", needed === 1 ? "one person" : `${needed} different people`],
  ];
  return [
    ...fields.filter(([, text]) => text !== "").flatMap(([name, text]) =>
      fieldLines(name, escapeInvisible(text))
    ),
    ...fieldLines("action", printAction(approval.action)),
  ];
}

/** Returns a field's lines; all but the first are indented. */
function fieldLines(name: string, text: string): string[] {
  return text.split("\n").map((line, n) =>
    `${(n === 0 ? name : "").padEnd(INDENT)}${line}`.trimEnd()
  );
}
