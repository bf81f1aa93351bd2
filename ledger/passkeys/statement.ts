import { canonicalize, type Primitives } from "../rules/mod.ts";
import { toBase64Url } from "./_base64url.ts";
import { type ShownApproval, shownLines } from "./shown.ts";

/** What a person's passkey signs when they decide about an approval. */
export interface Statement {
  readonly version: 1;
  /** `APR-` and 12 hex characters. */
  readonly approval: string;
  /** Moves of the approval before this one: a statement about an earlier state does not count later. */
  readonly after: number;
  readonly move: "approved";
  /** How the public receipts name the action: SHA-256 of a salt and the action. */
  readonly act: string;
  /** SHA-256 of the lines that were shown, each with a line feed. */
  readonly shown_sha256: string;
  /** 32 random hex characters, given out once. */
  readonly nonce: string;
}

/** The approval that a statement is about, as `GET /v1/approvals/{approval_id}/info` has it. */
export interface StatedApproval extends ShownApproval {
  readonly action_commitment: string;
}

/** Returns the statement by which a person approves what is shown to them. */
export function statementOf(
  { sha256 }: Pick<Primitives, "sha256">,
  approval: StatedApproval,
  { after, nonce }: Pick<Statement, "after" | "nonce">,
): Statement {
  const shown = shownLines(approval).map((line) => `${line}\n`).join("");
  return {
    version: 1,
    approval: approval.approval_id,
    after,
    move: "approved",
    act: approval.action_commitment,
    shown_sha256: sha256(new TextEncoder().encode(shown)),
    nonce,
  };
}

/** Returns what the passkey is given to sign: SHA-256 of the statement's canonical JSON, base64url. */
export function challengeOf(
  { sha256, fromHex }: Pick<Primitives, "sha256" | "fromHex">,
  statement: Statement,
): string {
  const text = canonicalize(statement);
  return toBase64Url(fromHex(sha256(new TextEncoder().encode(text))));
}
