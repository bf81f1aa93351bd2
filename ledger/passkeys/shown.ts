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
  /** True: a key alone does not approve it. */
  readonly passkey?: boolean;
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
  const { requested_by, tenant_id, needed, passkey } = approval;
  const people = needed === 1 ? "one person" : `${needed} different people`;
  return linesOf([
    ["approval", approval.approval_id],
    ["asks for", approval.description || approval.subject],
    ["because", approval.reasons.join("\n")],
    ["rule", approval.rule ?? "none"],
    ["reaches", approval.reaches.join("\n")],
    ["evidence", approval.evidence.map(({ kind, id }) => `${kind} ${id}`).join("\n")],
    ["asked by", `${requested_by} of ${tenant_id}`],
    ["needs", passkey ? `${people}, by passkey alone` : people],
  ], approval.action);
}

/** A call that a person makes and a rule leaves to people, as the person is shown it. */
export interface ShownCall {
  /** Purpose of the operation, in words. */
  readonly summary: string;
  readonly rule: string;
  readonly reasons: readonly string[];
  readonly reaches: readonly string[];
  readonly requested_by: string;
  readonly tenant_id: string;
  /** Operation, name and arguments, secrets by their hash alone. */
  readonly action: Readonly<Record<string, unknown>>;
}

/** Returns the lines that a person is shown of a call of theirs before their passkey signs it, as {@linkcode shownLines}. */
export function shownCallLines(call: ShownCall): string[] {
  return linesOf([
    ["your call", call.summary],
    ["because", call.reasons.join("\n")],
    ["rule", call.rule],
    ["reaches", call.reaches.join("\n")],
    ["made by", `${call.requested_by} of ${call.tenant_id}`],
  ], call.action);
}

function linesOf(
  fields: readonly (readonly [string, string])[],
  action: ShownApproval["action"],
): string[] {
  return [
    ...fields.filter(([, text]) => text !== "").flatMap(([name, text]) =>
      fieldLines(name, escapeInvisible(text))
    ),
    ...fieldLines("action", printAction(action)),
  ];
}

/** Returns a field's lines; all but the first are indented. */
function fieldLines(name: string, text: string): string[] {
  return text.split("\n").map((line, n) =>
    `${(n === 0 ? name : "").padEnd(INDENT)}${line}`.trimEnd()
  );
}
