import { existsSync, readFileSync } from "node:fs";
import { type ActionOutcome, restart, type Service } from "../integrations/host/mod.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { moveAside, purgeAside, putBack } from "./aside.ts";
import { checkCommand } from "./commands.ts";
import { restartContainer } from "./container.ts";
import { call } from "./http_call.ts";
import { type LookResult, lookUntil } from "./look.ts";
import { wantedBy } from "./plan.ts";
import type { AllowedCommand, CommandAct, ResolvedStep, RestartTarget } from "./schema.ts";
import { bytes, seconds } from "./units.ts";

/** What the world says of a step. */
export interface StepOutcome extends ActionOutcome {
  /** Whether it ended as it should; what is done and not `ok` has to be undone. */
  readonly ok: boolean;
  /** Figures, like how many files were moved. */
  readonly counts?: Readonly<Record<string, number>>;
}

/** What a step needs of its surroundings. */
export interface StepContext {
  readonly dataDir: string;
  readonly service: Pick<Service, "name" | "check" | "restart">;
  readonly commands: readonly AllowedCommand[];
  /** Names the act of another step of the same run of the runbook. */
  effectOf(step: string): string;
  /** Starts a workflow under an id, or finds the one that was, and waits for its end. */
  runWorkflow(type: string, effectId: string, withinMs: number): Promise<StepOutcome>;
  /** Says something to people, once for an id. */
  notify(message: string, effectId: string): Promise<void>;
}

/** Kinds of steps that change nothing, so that there is nothing to be intended. */
export const READ_ONLY_KINDS: ReadonlySet<string> = new Set(["wait"]);

/** Tools that ask systemd to do something. */
const SYSTEMD = new Set(["systemctl", "resolvectl", "timedatectl", "systemd-tmpfiles"]);

/**
 * Carries out a step, unless it has happened already: the same act asked for again, by whichever process and at
 * whatever moment, is done once.
 *
 * @param effectId names this one act: `[0-9a-f]+`
 */
export async function performStep(
  step: ResolvedStep,
  effectId: string,
  parts: StepContext,
): Promise<StepOutcome> {
  const { dataDir, effectOf } = parts;
  const withinMs = seconds(step.bounds.within) * 1_000;
  const order = { dataDir, effectId, withinMs };
  if (step.restart) return await restartTarget(step.restart, order, parts);
  if (step.command) return await run(step.command, step.bounds, order, parts);
  if (step.http) return await call(step.http, order);
  if (step.clean) return await moveAside(order, step.clean, wantedBy(step.bounds), withinMs);
  if (step.purge) return purgeAside({ dataDir, effectId: effectOf(step.purge.step) });
  if (step.workflow) return await parts.runWorkflow(step.workflow.type, effectId, withinMs);
  if (step.notify) {
    await parts.notify(step.notify.message, effectId);
    return { state: "done", ok: true, code: "told" };
  }
  const { for: what, at_least } = step.wait!;
  if (at_least) await sleep(Math.min(seconds(at_least) * 1_000, withinMs));
  const seen = what ? await lookUntil(what, lookParts(parts), withinMs) : { ok: true, code: "ok" };
  return { state: "done", ...seen };
}

/** Looks whether a step did what it was to do. */
export async function verifyStep(
  { verify }: ResolvedStep,
  parts: StepContext,
): Promise<LookResult> {
  if (!verify) return { ok: true, code: "ok" };
  return await lookUntil(verify.look, lookParts(parts), seconds(verify.within) * 1_000);
}

/** Whether a step can be undone at all. */
export const canUndo = ({ undo }: Pick<ResolvedStep, "undo">): boolean => !("none" in undo);

/**
 * Undoes a step; safe to ask for again.
 *
 * @param effectId of the step itself
 * @param undoId names the undoing
 */
export async function undoStep(
  { undo, bounds }: ResolvedStep,
  effectId: string,
  undoId: string,
  parts: StepContext,
): Promise<StepOutcome> {
  const order = {
    dataDir: parts.dataDir,
    effectId: undoId,
    withinMs: seconds(bounds.within) * 1_000,
  };
  if ("put_back" in undo) return await putBack({ ...order, effectId });
  if ("command" in undo) return await run(undo.command, bounds, order, parts);
  if ("http" in undo) return await call(undo.http, order);
  if ("restart" in undo) return await restartTarget(undo.restart, order, parts);
  return refused("no_opposite");
}

interface Order {
  readonly dataDir: string;
  readonly effectId: string;
  readonly withinMs: number;
}

async function restartTarget(
  target: RestartTarget,
  order: Order,
  { service }: StepContext,
): Promise<StepOutcome> {
  const { dataDir, effectId, withinMs: limitMs } = order;
  if (target === "service") {
    if (!service.restart) return refused("no_restart");
    const { name } = service;
    return ended(
      await restart({ dataDir, effectId, service: name, restart: service.restart, limitMs }),
    );
  }
  if ("container" in target) return await restartContainer(target.container, order);
  if (!hasSystemd()) return refused("no_systemd");
  const command = ["systemctl", "--no-ask-password", "restart", "--", target.unit];
  return ended(
    await restart({ dataDir, effectId, service: service.name, restart: { command }, limitMs }),
  );
}

async function run(
  act: CommandAct,
  { cpu, memory, file_size }: ResolvedStep["bounds"],
  { dataDir, effectId, withinMs }: Order,
  { commands, service }: StepContext,
): Promise<StepOutcome> {
  const permission = checkCommand(act, commands);
  if (!permission.allowed) return refused(permission.code);
  if (SYSTEMD.has(act.argv[0]!) && !hasSystemd()) return refused("no_systemd");
  const as = act.user === undefined ? [] : asUser(act.user);
  if (!as) return refused("no_such_user");
  const limits = {
    cpu: cpu === undefined ? undefined : seconds(cpu),
    memory: memory === undefined ? undefined : bytes(memory),
    fileSize: file_size === undefined ? undefined : bytes(file_size),
  };
  const happened = await restart({
    ...{ dataDir, effectId, service: service.name, limitMs: withinMs },
    restart: { command: [...as, permission.program, ...act.argv.slice(1)], limits },
  });
  return ended(happened, act.expect);
}

/** What runs a command as another user; undefined where there is no such user, or we may not. */
function asUser(user: string): string[] | undefined {
  const line = readFileSync("/etc/passwd", "utf8").split("\n").find((l) =>
    l.startsWith(`${user}:`)
  );
  const [, , uid, gid] = line?.split(":") ?? [];
  if (uid === undefined || process.getuid?.() !== 0) return undefined;
  return ["/usr/bin/setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--init-groups", "--"];
}

/** @see sd_booted(3) */
const hasSystemd = () => existsSync("/run/systemd/system");

/** Whether an end is a good one: a command that ended as expected, a process that goes on. */
function ended({ state, code }: ActionOutcome, expect: readonly number[] = [0]): StepOutcome {
  const ok = state === "done" &&
    (code === "started" || expect.some((exit) => code === `exit_${exit}`));
  return { state, code, ok };
}

const lookParts = ({ service, commands }: StepContext) => ({ check: service.check, commands });
const refused = (code: string): StepOutcome => ({ state: "not_done", ok: false, code });
