import { setTimeout as sleep } from "node:timers/promises";
import { actOnce, type Service } from "../../integrations/host/mod.ts";
import { moveAside, purgeAside, putBack } from "./_aside.ts";
import { hasSystemd, runCommand, toStepOutcome } from "./_command_step.ts";
import { restartContainer } from "./_container.ts";
import { sendOnce } from "./_http_step.ts";
import { raiseDescriptors } from "./_descriptors.ts";
import { type LookContext, type LookResult, lookUntil } from "./_look.ts";
import { type Act, notDone, type StepOutcome } from "./_outcome.ts";
import type { ParameterValues } from "./_parameters.ts";
import { openReach } from "./_reach.ts";
import { milliseconds } from "./_units.ts";
import { stopHolder } from "./holders.ts";
import { limitOf } from "./plan.ts";
import type { AllowedCommand, ReleasedScript, ResolvedStep, RestartTarget } from "./schema.ts";

/** Surroundings of a step. */
export interface StepContext {
  readonly dataDir: string;
  readonly service: Pick<Service, "name" | "host" | "check" | "restart">;
  /** Values that the services file gives for parameters: requests may go to the hosts of their URLs. */
  readonly values: ParameterValues;
  /** Networks that requests may reach besides: those of `SEALOOP_OUTBOUND_ALLOW`. */
  readonly allowNetworks: readonly string[];
  readonly commands: readonly AllowedCommand[];
  /** Returns the effect id of another step of the same run of the runbook. */
  effectOf(step: string): string;
  /** Starts a workflow under an id, or finds the one that was started, and waits for its end. */
  runWorkflow(type: string, effectId: string, timeoutMs: number): Promise<StepOutcome>;
  /** Has the device that the finding is about run a script, or finds the command that was ordered, and waits for its end. */
  runScript(script: ReleasedScript, effectId: string, timeoutMs: number): Promise<StepOutcome>;
  /** Notes that the open ticket of another service and this one belong together, once for an id. */
  join(service: string, effectId: string): Promise<StepOutcome>;
  /** Runs a command that only looks, and keeps what it prints as an observation. It never fails: the next steps are done. */
  look(step: ResolvedStep): Promise<StepOutcome>;
  /** Sends a message to people, once for an id. */
  notify(message: string, effectId: string): Promise<void>;
}

/** Kinds of steps that change nothing: they need no intent. */
export const READ_ONLY_KINDS: ReadonlySet<string> = new Set(["wait", "look"]);

/**
 * Performs a step, unless it was performed already. The same act is done once, whichever processes ask for it and however
 * often.
 *
 * @param effectId names this one act: `[0-9a-f]+`
 */
export async function performStep(
  step: ResolvedStep,
  effectId: string,
  context: StepContext,
): Promise<StepOutcome> {
  const { dataDir, effectOf } = context;
  const act: Act = { dataDir, effectId, withinMs: milliseconds(step.bounds.within) };
  if (step.restart) return await restartTarget(step.restart, act, context);
  if (step.command) return await runCommand(step.command, step.bounds, act, context);
  if (step.http) return await sendOnce(openReach(context), step.http, act);
  if (step.clean) return await moveAside(act, step.clean, limitOf(step.bounds));
  if (step.purge) return purgeAside({ dataDir, effectId: effectOf(step.purge.step) });
  if (step.workflow) return await context.runWorkflow(step.workflow.type, effectId, act.withinMs);
  if (step.script) {
    if (!("sha256" in step.script)) return notDone("no_script");
    return await context.runScript(step.script, effectId, act.withinMs);
  }
  if (step.stop) return await stopHolder(step.stop, act);
  if (step.descriptors) {
    const { service } = context;
    return await raiseDescriptors(dataDir, service.name, Number(step.descriptors.at_least));
  }
  if (step.join) return await context.join(step.join.service, effectId);
  if (step.notify) {
    await context.notify(step.notify.message, effectId);
    return { state: "done", ok: true, code: "told" };
  }
  if (step.look) return await context.look(step);
  return await wait(step.wait!, act.withinMs, context);
}

async function wait(
  { for: look, at_least }: NonNullable<ResolvedStep["wait"]>,
  withinMs: number,
  context: StepContext,
): Promise<StepOutcome> {
  if (at_least) await sleep(Math.min(milliseconds(at_least), withinMs));
  if (!look) return { state: "done", ok: true, code: "ok" };
  return { state: "done", ...await lookUntil(look, lookContext(context), withinMs) };
}

/** Looks whether a step had the effect that it was to have. */
export async function verifyStep(
  { verify }: ResolvedStep,
  context: StepContext,
): Promise<LookResult> {
  if (!verify) return { ok: true, code: "ok" };
  return await lookUntil(verify.look, lookContext(context), milliseconds(verify.within));
}

/** Returns whether a step can be undone at all. */
export function canUndo({ undo }: Pick<ResolvedStep, "undo">): boolean {
  return !("none" in undo);
}

/**
 * Undoes a step, once.
 *
 * @param effectId of the step itself
 * @param undoId names the undoing
 */
export async function undoStep(
  { undo, bounds }: ResolvedStep,
  effectId: string,
  undoId: string,
  context: StepContext,
): Promise<StepOutcome> {
  const { dataDir } = context;
  const act: Act = { dataDir, effectId: undoId, withinMs: milliseconds(bounds.within) };
  if ("put_back" in undo) return await putBack({ dataDir, effectId });
  if ("command" in undo) return await runCommand(undo.command, bounds, act, context);
  if ("http" in undo) return await sendOnce(openReach(context), undo.http, act);
  if ("restart" in undo) return await restartTarget(undo.restart, act, context);
  if ("script" in undo && undo.script !== "opposite") {
    return await context.runScript(undo.script, undoId, act.withinMs);
  }
  return notDone("no_opposite");
}

async function restartTarget(
  target: RestartTarget,
  act: Act,
  { service }: StepContext,
): Promise<StepOutcome> {
  const { dataDir, effectId, withinMs: timeoutMs } = act;
  const request = { dataDir, effectId, service: service.name, timeoutMs };
  if (target === "service") {
    if (!service.restart) return notDone("no_restart");
    return toStepOutcome(await actOnce({ ...request, act: service.restart }));
  }
  if ("container" in target) return await restartContainer(target.container, act);
  if (!hasSystemd()) return notDone("no_systemd");
  const command = ["systemctl", "--no-ask-password", "restart", "--", target.unit];
  return toStepOutcome(await actOnce({ ...request, act: { command } }));
}

function lookContext(context: StepContext): LookContext {
  const { service: { check }, commands } = context;
  return { check, commands, http: openReach(context) };
}
