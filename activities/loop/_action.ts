import { createHash } from "node:crypto";
import type { Action, RunId } from "../../domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import type { Catalogue, ParameterValues, Runbook } from "../../runbooks/mod.ts";
import { keyedHash, type Store } from "../../store/mod.ts";

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
function actionHash({ id: _, sha256: __, ...shown }: Action): string {
  return hashOf(shown);
}

/** Adds the hash of an action, and its id in one round of one run: receipts name it by the id, which tells nothing of it. */
export async function identifyAction(
  store: Store,
  unidentified: Omit<Action, "id" | "sha256">,
  run: RunId,
  round: number,
): Promise<Action> {
  const action: typeof unidentified = JSON.parse(JSON.stringify(unidentified)); // as Temporal will store it
  const sha256 = actionHash({ ...action, id: "", sha256: "" });
  return { ...action, id: await actionId(store, run, round, sha256), sha256 };
}

/**
 * Returns true where the platform made this action, for this round of this run. Its id is made with a secret that workers alone read,
 * so that whoever reaches Temporal can't make up an action.
 */
export async function isOwnAction(
  store: Store,
  { action, run, round }: { readonly action: Action; readonly run: RunId; readonly round: number },
): Promise<boolean> {
  return action.sha256 === actionHash(action) &&
    action.id === await actionId(store, run, round, action.sha256);
}

async function actionId(
  store: Store,
  { workflow_id, run_id }: RunId,
  round: number,
  sha256: string,
): Promise<string> {
  const id = await keyedHash(store, "actions", workflow_id, run_id, String(round), sha256);
  return id.toString("hex", 0, 12);
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
