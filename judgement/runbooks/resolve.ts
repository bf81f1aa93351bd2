import { BadFolder } from "./_files.ts";
import { fillParameters, type ParameterValues } from "./_parameters.ts";
import { restrictToDisk, type TargetDisk } from "./_target_disk.ts";
import { formatBytes } from "./_units.ts";
import { checkCommand } from "./commands.ts";
import { NotApplicable } from "./errors.ts";
import type { Catalogue, Runbook } from "./load.ts";
import {
  type Clean,
  type CleanLimit,
  type CleanPlan,
  describeOthers,
  limitOf,
  planClean,
} from "./plan.ts";
import type { CommandAct, ObservedFacts, ResolvedStep, StepDocument } from "./schema.ts";

/** A runbook resolved for one service. */
export interface ResolvedRunbook {
  readonly steps: readonly ResolvedStep[];
  /** Why a person must be asked first, one sentence a bound that is exceeded; empty: nobody need be asked. */
  readonly exceeds: readonly string[];
}

/** The service and the finding that a runbook is resolved for. */
export interface ResolveContext {
  /** Name of the service. */
  readonly service: string;
  /** Values that the service gives for parameters. */
  readonly values: ParameterValues;
  readonly catalogue: Pick<Catalogue, "commands">;
  /** True: the service is on the host of this process. */
  readonly isLocal: boolean;
  /** The disk that the finding is about: a path of its file system, or a folder with a bound of its own. */
  readonly disk?: TargetDisk;
  /** The file that the finding is about. */
  readonly file?: string;
  /** The script that mends a device. */
  readonly remedy?: string;
  /** Facts that were observed. */
  readonly facts?: ObservedFacts;
  /**
   * The bounds that were exceeded when the runbook was resolved before: it is resolved to the same steps, however many files there
   * are by now. Absent: files are counted.
   */
  readonly exceeded?: readonly string[];
}

/**
 * Fills in the parameters, checks commands against the allow-list, and counts the files that clean steps would move.
 *
 * @throws {NotApplicable} a parameter has no value or a wrong one, or a command is not allowed
 */
export function resolveRunbook(
  { parameters, steps }: Pick<Runbook, "parameters" | "steps">,
  context: ResolveContext,
): ResolvedRunbook {
  const { service, catalogue, isLocal, disk, exceeded } = context;
  if (!isLocal && steps.some(actsHere)) {
    throw new NotApplicable("other_host", `${service} is on another host than this worker`);
  }
  const resolved = fillParameters(steps, parameters, context)
    .map((step) => restrictToDisk(step, disk));
  for (const step of resolved) requireAllowedCommands(step, catalogue);
  return exceeded === undefined
    ? applyBounds(resolved, excessNow)
    : applyBounds(resolved, (step) => excessBefore(step, exceeded));
}

/** Returns whether a step acts on the host that performs it. */
function actsHere(
  { clean, command, look, restart, stop, descriptors }: StepDocument,
): boolean {
  return [clean, command, look, stop, descriptors].some((one) => one !== undefined) ||
    restart !== undefined && restart !== "service";
}

/**
 * Sets the bounds of each step. A step within `ask_above` can't go beyond it later; a step beyond it has its whole bounds,
 * and `exceeds` says that a person must be asked.
 *
 * @param excessOf returns why a step is beyond `ask_above`; undefined: it is not
 */
function applyBounds(
  steps: readonly ResolvedStep[],
  excessOf: (step: ResolvedStep) => string | undefined,
): ResolvedRunbook {
  const exceeds: string[] = [];
  const bounded = steps.map((step) => {
    const { bounds, clean } = step;
    if (bounds.ask) exceeds.push(sentenceOf(step, bounds.ask));
    if (!clean) return step;
    const reason = excessOf(step);
    if (reason === undefined) return { ...step, bounds: { ...bounds, ...bounds.ask_above } };
    exceeds.push(reason);
    return step;
  });
  return { steps: bounded, exceeds };
}

const sentenceOf = ({ step }: ResolvedStep, reason: string): string => `${step}: ${reason}`;

/** Counts the files that a clean step would move. @throws {NotApplicable} there are none */
function excessNow(step: ResolvedStep): string | undefined {
  const { bounds, clean } = step;
  const wanted = plan(clean!, limitOf(bounds));
  if (wanted.files.length === 0) {
    throw new NotApplicable("nothing_to_move", describeOthers(clean!));
  }
  const reason = excess(wanted, limitOf({ ...bounds, ...bounds.ask_above }));
  return reason && sentenceOf(step, reason);
}

/** Returns what a clean step exceeded before, besides what people are always asked about. */
function excessBefore(step: ResolvedStep, exceeded: readonly string[]): string | undefined {
  const { ask } = step.bounds;
  const always = ask && sentenceOf(step, ask);
  return exceeded.find((one) => one.startsWith(sentenceOf(step, "")) && one !== always);
}

/** Returns how a plan exceeds a limit; undefined: it does not. */
function excess({ files, bytes }: CleanPlan, limit: CleanLimit): string | undefined {
  if (files.length > limit.files) {
    return `${files.length} files, and only ${limit.files} may be moved unasked`;
  }
  if (bytes > limit.bytes) {
    return `${formatBytes(bytes)}, and only ${formatBytes(limit.bytes)} may be moved unasked`;
  }
  return undefined;
}

function plan(clean: Clean, limit: CleanLimit): CleanPlan {
  try {
    return planClean(clean, limit);
  } catch (error) {
    if (error instanceof BadFolder) throw new NotApplicable(error.code, error.message);
    throw error;
  }
}

function requireAllowedCommands(
  step: ResolvedStep,
  { commands }: Pick<Catalogue, "commands">,
): void {
  for (const command of commandsOf(step)) {
    const permission = checkCommand(command, commands);
    if (!permission.allowed && permission.code !== "no_program") {
      throw new NotApplicable(
        permission.code,
        `${step.step}: ${command.argv.join(" ")} is not on the allow-list`,
      );
    }
  }
}

/** Lists the commands of a step: those that act, look and undo. */
function commandsOf(
  { command, look: looking, verify, wait, undo }: ResolvedStep,
): Pick<CommandAct, "argv" | "user">[] {
  const commands: Pick<CommandAct, "argv" | "user">[] = [command, looking]
    .filter((one) => one !== undefined);
  for (const look of [verify?.look, wait?.for]) {
    if (look && "command" in look) commands.push({ argv: look.command });
  }
  if ("command" in undo) commands.push(undo.command);
  return commands;
}
