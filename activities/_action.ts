import { createHash } from "node:crypto";
import type { Service } from "../integrations/host/mod.ts";
import type { Action, RunId } from "../domain/mod.ts";
import type { Catalogue, ParameterValues, Runbook } from "../runbooks/mod.ts";
import { canonicalize } from "../ledger/mod.ts";

/** What an action is made from: where any of it changes, it is another action. */
export interface ActionSource {
  readonly runbook: Runbook;
  readonly service: Pick<Service, "name" | "restart" | "check">;
  readonly values: ParameterValues;
  readonly catalogue: Pick<Catalogue, "commands_sha256">;
}

/** Hash over everything that an action was made from. */
export function sourceHash({ runbook, service, values, catalogue }: ActionSource): string {
  const { name, restart, check } = service;
  return hashOf({
    runbook_sha256: runbook.sha256,
    commands_sha256: catalogue.commands_sha256,
    service: { name, restart, check },
    values,
  });
}

/** Hash of an action as an approver sees it. */
export function actionHash({ id: _, sha256: __, ...seen }: Action): string {
  return hashOf(seen);
}

/** Gives an action its hash, and its id as one act of one round of one run. */
export function named(
  unnamed: Omit<Action, "id" | "sha256">,
  { workflow_id, run_id }: RunId,
  round: number,
): Action {
  const action: typeof unnamed = JSON.parse(JSON.stringify(unnamed)); // as it will travel
  const sha256 = actionHash({ ...action, id: "", sha256: "" });
  const id = short(`${workflow_id}\n${run_id}\n${round}\n${sha256}`);
  return { ...action, id, sha256 };
}

/** Names the act of one step of an action. */
export const effectIdOf = (actionId: string, step: string): string => short(`${actionId}\n${step}`);
/** Names the undoing of an act. */
export const undoIdOf = (effectId: string): string => short(`${effectId}\nundo`);

/** Hash of the canonical JSON of something. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(canonicalize(value)).digest("hex");
}

const short = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 24);
