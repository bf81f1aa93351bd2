import { createHash } from "node:crypto";
import type { Action, ActionSources } from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import type { Catalogue, ParameterValues, Runbook } from "../../judgement/runbooks/mod.ts";

/** The sources of an action: if one of them changes, it is another action. */
export interface ActionSource {
  readonly runbook: Runbook;
  readonly service: Pick<Service, "restart" | "check">;
  readonly values: ParameterValues;
  readonly catalogue: Pick<Catalogue, "commands_sha256">;
}

/** Returns the hashes of an action's sources. */
export function sourcesOf({ runbook, service, values, catalogue }: ActionSource): ActionSources {
  return {
    runbook_sha256: runbook.sha256,
    commands_sha256: catalogue.commands_sha256,
    restart_sha256: hashOf(service.restart),
    check_sha256: hashOf(service.check),
    values_sha256: hashOf(values),
  };
}

/** Returns an action as an approver sees it, and as grants name it by its hash. */
export function shownAction(
  { id: _, sha256: __, ...shown }: Action,
): Omit<Action, "id" | "sha256"> {
  return shown;
}

/** Returns the hash of an action as an approver sees it. */
export function actionHash(action: Action): string {
  return hashOf(shownAction(action));
}

/** Adds the hash of an action that has no id yet. */
export function hashAction(
  unidentified: Omit<Action, "id" | "sha256">,
): Omit<Action, "id"> {
  const action: typeof unidentified = JSON.parse(JSON.stringify(unidentified)); // as Temporal will store it
  return { ...action, sha256: actionHash({ ...action, id: "", sha256: "" }) };
}

/** Returns the id of the effect of one step of an action. @param number of the step, from 0 */
export const effectIdOf = ({ id }: Pick<Action, "id">, number: number): string =>
  shortHash(`${id}\n${number}`);

/** Returns the id of the effect that undoes another. */
export const undoIdOf = (effectId: string): string => shortHash(`${effectId}\nundo`);

/** Returns the id of the silence of an action's alerts. */
export const silenceIdOf = ({ id }: Pick<Action, "id">): string => shortHash(`${id}\nsilence`);

/** Returns the SHA-256 of a value's canonical JSON, hex. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(canonicalize(value)).digest("hex");
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}
