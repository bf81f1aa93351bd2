import type {
  ApprovalStatement,
  CallStatement,
  GrantStatement,
  ListStatement,
} from "../../contract/domain/mod.ts";
import { canonicalize, type Primitives } from "../rules/mod.ts";
import { toBase64Url } from "./_base64url.ts";
import { type ShownApproval, type ShownCall, shownCallLines, shownLines } from "./shown.ts";

/** The approval that a statement is about, as `GET /v1/approvals/{approval_id}/info` has it. */
export interface StatedApproval extends ShownApproval {
  readonly action_commitment: string;
}

/** Returns the statement by which a person approves what is shown to them. */
export function statementOf(
  { sha256 }: Pick<Primitives, "sha256">,
  approval: StatedApproval,
  { cycle, nonce }: Pick<ApprovalStatement, "cycle" | "nonce">,
): ApprovalStatement {
  return {
    version: 1,
    approval: approval.approval_id,
    cycle,
    move: "approved",
    act: approval.action_commitment,
    shown_sha256: hashLines(sha256, shownLines(approval)),
    nonce,
  };
}

/** Returns the statement by which a person decides about a call of theirs that is shown to them. @param act its SHA-256 */
export function callStatementOf(
  { sha256 }: Pick<Primitives, "sha256">,
  call: ShownCall,
  { act, nonce }: Pick<CallStatement, "act" | "nonce">,
): CallStatement {
  return {
    version: 1,
    call: String(call.action.operation),
    act,
    shown_sha256: hashLines(sha256, shownCallLines(call)),
    nonce,
  };
}

function hashLines(sha256: Primitives["sha256"], lines: readonly string[]): string {
  return sha256(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
}

/** Returns what the passkey is given to sign: SHA-256 of the statement's canonical JSON, base64url. */
export function challengeOf(
  { sha256, fromHex }: Pick<Primitives, "sha256" | "fromHex">,
  statement: ApprovalStatement | ListStatement | CallStatement | GrantStatement,
): string {
  const text = canonicalize(statement);
  return toBase64Url(fromHex(sha256(new TextEncoder().encode(text))));
}
