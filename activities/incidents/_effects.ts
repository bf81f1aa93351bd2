import type {
  Action,
  PlaceSignature,
  RepairEffect,
  StepResult,
} from "../../contract/domain/mod.ts";
import type { Service } from "../../integrations/host/mod.ts";
import { observeCommand } from "../../judgement/observation/mod.ts";
import {
  canUndo,
  commandLineOf,
  READ_ONLY_KINDS,
  type StepContext,
} from "../../judgement/runbooks/mod.ts";
import { getRunbookValues } from "../../store/catalogue/mod.ts";
import {
  addStepObservation,
  addTicketEvent,
  type EffectRecord,
} from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { effectIdOf } from "./_action.ts";
import { deviceScripts } from "./_device_scripts.ts";
import { type RepairOrder, stepOf } from "./_order.ts";
import { joinTickets } from "./_join.ts";
import { createWorkflowRunner } from "./_step_workflows.ts";

/** Reads what the steps of an order need to run. */
export async function readStepContext(
  { config, store, temporal, runbooks: inForce }: ActivityParts,
  { ticket_id, action, run, round }: RepairOrder,
  service: Service,
): Promise<StepContext> {
  const { commands } = inForce();
  return {
    dataDir: config.dataDir,
    service,
    values: await getRunbookValues(store.db, service.name),
    allowNetworks: config.settings.SEALOOP_OUTBOUND_ALLOW,
    commands,
    effectOf: (name) => effectIdOf(action, action.steps.findIndex(({ step }) => step === name)),
    runWorkflow: createWorkflowRunner(temporal),
    runScript: (...step) => deviceScripts({ store, temporal }).runScript(service.name, ...step),
    join: (name, effectId) => joinTickets(store, { ticket_id, service, name }, effectId),
    async look({ step, does, look }) {
      const seen = await observeCommand(does, commandLineOf(look!, commands));
      const number = action.steps.findIndex((one) => one.step === step);
      await addStepObservation(store.db, { ticket_id, run_id: run.run_id, round }, number, seen);
      return { state: "done", ok: true, code: seen.code };
    },
    async notify(message, effectId) {
      await addTicketEvent(store.db, ticket_id, {
        key: `notify-${effectId}`,
        kind: "notified",
        data: { message, runbook: action.runbook },
      });
    },
  };
}

/** Returns the result of a step whose effect has ended. */
export function endedStepResult(
  { id, step, state, detail }: EffectRecord,
  kind: string,
): StepResult {
  const { code, ok, counts, signed } = detail as {
    readonly code: string;
    readonly ok?: boolean;
    readonly counts?: StepResult["counts"];
    readonly signed?: PlaceSignature;
  };
  return {
    id,
    step: step ?? "",
    kind,
    code,
    state: state as StepResult["state"],
    ok: ok === true,
    ...(counts ? { counts } : {}),
    ...(signed ? { signed } : {}),
  };
}

/** Returns the effect of an action from the results of its steps. */
export function repairEffectOf(action: Action, steps: readonly StepResult[]): RepairEffect {
  const done = new Set(steps.filter(({ state }) => state === "done").map(({ step }) => step));
  const undoable = action.steps.some(({ step }, number) =>
    done.has(step) && canUndo(stepOf(action, number))
  );
  return { id: action.id, state: stateOf(steps), code: codeOf(steps), steps, undoable };
}

function stateOf(steps: readonly StepResult[]): RepairEffect["state"] {
  if (steps.some(({ state }) => state === "unknown")) return "unknown";
  const acts = steps.filter(({ kind }) => !READ_ONLY_KINDS.has(kind));
  if (!(acts.length > 0 ? acts : steps).some(({ state }) => state === "done")) return "not_done";
  return steps.every(({ ok }) => ok) ? "done" : "partly_done";
}

/** Returns the code of the failed step, else of the last step that changed something, else of the last step. */
function codeOf(steps: readonly StepResult[]): string {
  const last = steps.at(-1)!;
  if (!last.ok) return last.code;
  const changing = steps.findLast(({ state, kind }) =>
    state === "done" && !READ_ONLY_KINDS.has(kind)
  );
  return (changing ?? last).code;
}
