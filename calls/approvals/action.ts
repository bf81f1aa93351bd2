/** Actions as approvals are bound to them, and as receipts name them. */
import { createHash } from "node:crypto";
import { redactSecrets } from "../../contract/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import { commitTo } from "../../store/mod.ts";
import type { NewApproval } from "../../store/approvals/mod.ts";
import { asJson } from "../governance/mod.ts";
import type { CheckedCall } from "../run.ts";
import { groupOf } from "./group.ts";

/** The parts of a call that its action is made of. */
export interface ActionSource extends Pick<CheckedCall, "operation" | "input"> {
  readonly request: { readonly as: string };
  readonly caller: { readonly keyId: string | null; readonly tenant: string };
}

/**
 * Returns what people approve, with its canonical text and its group: tool, caller and arguments; secrets by their hash
 * alone.
 */
export function actionOf({ operation, request, caller, input }: ActionSource): {
  readonly action: Record<string, unknown>;
  readonly text: string;
  readonly group: string;
} {
  const sent = asJson(input);
  const { keyId: key_id, tenant } = caller;
  const names = { tool: request.as, operation: operation.name, key_id, tenant };
  const action = {
    ...names,
    arguments: redactSecrets(sent),
    arguments_sha256: sha256(canonicalize(sent)),
  };
  return { action, text: canonicalize(action), group: groupOf({ ...names, arguments: sent }) };
}

/** An action as an approval stores it. */
export type BoundAction = Pick<
  NewApproval,
  "action" | "actionSha256" | "actionCommitment" | "actionSalt" | "actionGroup"
>;

/**
 * Binds an approval to an action: the hash tells it from every other action and stays private, as a short action can be
 * guessed from it; all receipts of the approval have the commitment.
 *
 * @param text its canonical JSON
 * @param group of a call, as {@linkcode actionOf} has it
 */
export function bindAction(
  action: Readonly<Record<string, unknown>>,
  text: string,
  group = groupOf(action),
): BoundAction {
  const { commitment, salt } = commitTo(text);
  return {
    action,
    actionSha256: sha256(text),
    actionCommitment: commitment,
    actionSalt: salt,
    actionGroup: group,
  };
}

/** SHA-256 of a text, hex. */
export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
