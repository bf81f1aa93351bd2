import type { ApprovalStatement, ListStatement } from "../../contract/domain/mod.ts";
import { canonicalize, type Primitives } from "../rules/mod.ts";
import { toBase64Url } from "./_base64url.ts";
import { type ShownApproval, shownLines } from "./shown.ts";

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
  const shown = shownLines(approval).map((line) => `${line}\n`).join("");
  return {
    version: 1,
    approval: approval.approval_id,
    cycle,
    move: "approved",
    act: approval.action_commitment,
    shown_sha256: sha256(new TextEncoder().encode(shown)),
    nonce,
  };
}

/** Returns what the passkey is given to sign: SHA-256 of the statement's canonical JSON, base64url. */
export function challengeOf(
  { sha256, fromHex }: Pick<Primitives, "sha256" | "fromHex">,
  statement: ApprovalStatement | ListStatement,
): string {
  const text = canonicalize(statement);
  return toBase64Url(fromHex(sha256(new TextEncoder().encode(text))));
}
