import { createHash } from "node:crypto";
import type { Action, RunId } from "../../domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import type { Catalogue, ParameterValues, Runbook } from "../../runbooks/mod.ts";

/** The sources of an action: if one of them changes, it is another action. */
export interface ActionSource {
  readonly runbook: Runbook;
  readonly service: Pick<Service, "name" | "restart" | "check">;
  readonly values: ParameterValues;
  readonly catalogue: Pick<Catalogue, "commands_sha256">;
}

/** Returns the hash of an action's sources. */
export function sourceHash({ runbook, service, values, catalogue }: ActionSource): string {
  const { name, restart, check } = service;
  return hashOf({
    runbook_sha256: runbook.sha256,
    commands_sha256: catalogue.commands_sha256,
    service: { name, restart, check },
    values,
  });
}

/** Returns the hash of an action as an approver sees it. */
export function actionHash({ id: _, sha256: __, ...shown }: Action): string {
  return hashOf(shown);
}

/** Adds the hash of an action, and its id in one round of one run. */
export function identifyAction(
  unidentified: Omit<Action, "id" | "sha256">,
  { workflow_id, run_id }: RunId,
  round: number,
): Action {
  const action: typeof unidentified = JSON.parse(JSON.stringify(unidentified)); // as Temporal will store it
  const sha256 = actionHash({ ...action, id: "", sha256: "" });
  const id = shortHash(`${workflow_id}\n${run_id}\n${round}\n${sha256}`);
  return { ...action, id, sha256 };
}

/** Returns the id of the effect of one step of an action. */
export const effectIdOf = (actionId: string, step: string): string =>
  shortHash(`${actionId}\n${step}`);

/** Returns the id of the effect that undoes another. */
export const undoIdOf = (effectId: string): string => shortHash(`${effectId}\nundo`);

/** Returns the SHA-256 of a value's canonical JSON, hex. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(canonicalize(value)).digest("hex");
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}
