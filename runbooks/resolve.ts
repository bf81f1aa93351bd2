import { existsSync, statSync } from "node:fs";
import { checkCommand } from "./commands.ts";
import type { Catalogue, Runbook } from "./load.ts";
import { BadFolder, planClean, wantedBy } from "./plan.ts";
import {
  kindOfStep,
  type Look,
  type ParameterDocument,
  ResolvedStep,
  type StepDocument,
  type UndoDocument,
} from "./schema.ts";
import { shownBytes } from "./units.ts";

/** Values that a service gives for parameters, by name. */
export type ParameterValues = Readonly<Record<string, string | number | readonly string[]>>;

/** A runbook made ready for one service. */
export interface ResolvedRunbook {
  readonly steps: readonly ResolvedStep[];
  /** Why a person must be asked first, one sentence a bound that is passed; empty: nobody need be. */
  readonly exceeds: readonly string[];
}

/** For what a runbook is made ready. */
export interface ResolveContext {
  /** Name of the service. */
  readonly service: string;
  /** What it gives for parameters. */
  readonly values: ParameterValues;
  readonly catalogue: Pick<Catalogue, "commands">;
  /** Whether it is on the host of this process. */
  readonly here: boolean;
  /** The disk that the finding is about: a path of its file system, or a folder with a bound of its own. */
  readonly disk?: { readonly path: string; readonly maxBytes?: number };
  /** The file that the finding is about. */
  readonly file?: string;
}

/** A runbook can't be used for this service here. */
export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
  /** @param code `parameter_<name>`, `other_host`, `not_allowed`, `user_not_allowed`, `folder_…` */
  constructor(readonly code: string, message: string) {
    super(message);
  }
}

const IS: Record<ParameterDocument["kind"], (value: unknown) => boolean> = {
  path: isPath,
  paths: (value) => Array.isArray(value) && value.length > 0 && value.every(isPath),
  name: (value) => typeof value === "string" && /^[A-Za-z0-9_][A-Za-z0-9@._:-]{0,200}$/.test(value),
  unit: (value) =>
    typeof value === "string" && /^[A-Za-z0-9_][A-Za-z0-9@._:\\-]{0,200}$/.test(value),
  number: (value) => /^\d{1,15}(\.\d{1,6})?$/.test(String(value)),
  url: (value) => typeof value === "string" && /^https?:\/\/[^\s"'{}]+$/.test(value),
  address: (value) => typeof value === "string" && /^[A-Za-z0-9.:[\]_-]+:\d{1,5}$/.test(value),
};

/** Absolute, and without a way up. */
function isPath(value: unknown): boolean {
  return typeof value === "string" && /^\/[^\0\n{}]*$/.test(value) &&
    !value.split("/").includes("..") && value.length < 1_000;
}

/**
 * Fills in the parameters, holds commands against the allow-list, and counts what clean steps would move: what a person
 * must be asked about is said in `exceeds`.
 *
 * @throws {NotApplicable} a parameter has no value or a wrong one, or a command is not allowed
 */
export function resolveRunbook(
  { parameters, steps }: Pick<Runbook, "parameters" | "steps">,
  { service, values: own, catalogue, here, disk, file }: ResolveContext,
): ResolvedRunbook {
  if (!here && steps.some(actsHere)) {
    throw new NotApplicable("other_host", `${service} is on another host than this worker`);
  }
  const given: ParameterValues = disk ? { ...own, disk: disk.path } : own;
  const values: Record<string, unknown> = { service };
  for (const [name, parameter] of Object.entries(parameters)) {
    const value = given[name] ?? found(parameter, { disk, file }) ?? parameter.default;
    if (value === undefined || !IS[parameter.kind](value)) {
      const wrong = value === undefined ? "has no value" : "has a value that is no such thing";
      throw new NotApplicable(`parameter_${name}`, `{${name}} (${parameter.kind}) ${wrong}`);
    }
    values[name] = parameter.kind === "number" ? String(value) : value;
  }
  const made = steps.map((step) => onDisk(filled(step, values), disk));
  for (const step of made) refuseForbidden(step, catalogue);
  return bounded(made);
}

/** What a finding itself says of a parameter. */
function found(
  { from, kind }: ParameterDocument,
  { disk, file }: Pick<ResolveContext, "disk" | "file">,
) {
  if (from === "found_file") return file;
  if (from === undefined || disk?.maxBytes === undefined) return undefined;
  return kind === "paths" ? [disk.path] : disk.path;
}

/** Whether a step acts on the host that it is carried out on. */
const actsHere = ({ clean, command, restart }: StepDocument) =>
  clean !== undefined || command !== undefined || restart !== undefined && restart !== "service";

function filled(step: StepDocument, values: Readonly<Record<string, unknown>>): ResolvedStep {
  const made = fill(step, values) as Record<string, unknown> & { clean?: { folders: unknown } };
  if (made.clean) made.clean.folders = [made.clean.folders].flat();
  return ResolvedStep.parse({ ...made, kind: kindOfStep(step) });
}

/** Puts values in the place of `{name}`; a list within a list becomes part of it. */
function fill(value: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof value === "string") {
    const whole = /^\{([a-z_]+)\}$/.exec(value)?.[1];
    if (whole !== undefined) return values[whole];
    return value.replace(/\{([a-z_]+)\}/g, (_, name: string) => [values[name]].flat().join(" "));
  }
  if (Array.isArray(value)) {
    return value.flatMap((one) => {
      const made = fill(one, values);
      return typeof one === "string" && Array.isArray(made) ? made : [made];
    });
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([k, inner]) => [k, fill(inner, values)]));
}

/**
 * Keeps of a step's folders those that are there and lie on the disk in question, and holds it against the bound of the
 * folder where it is that which is full.
 *
 * @throws {NotApplicable} none of them is
 */
function onDisk(step: ResolvedStep, disk: ResolveContext["disk"]): ResolvedStep {
  const { clean, verify } = step;
  const quota = disk?.maxBytes === undefined
    ? undefined
    : { path: disk.path, bytes: disk.maxBytes };
  const seen = quota && verify && "disk" in verify.look && verify.look.disk === quota.path
    ? { ...step, verify: { ...verify, look: { ...verify.look, of_bytes: quota.bytes } } }
    : step;
  const room = step.command?.room_in;
  if (disk && room !== undefined && !(existsSync(room) && liesOn(room, disk))) {
    throw new NotApplicable("other_disk", `${room}: not on the disk of ${disk.path}`);
  }
  if (!clean) return seen;
  const there = clean.folders.filter((folder) => existsSync(folder));
  if (there.length === 0) {
    throw new NotApplicable("folder_missing", `${clean.folders.join(", ")}: not there`);
  }
  const folders = disk ? there.filter((folder) => liesOn(folder, disk)) : there;
  if (folders.length === 0) {
    throw new NotApplicable("other_disk", `${there.join(", ")}: not on the disk of ${disk!.path}`);
  }
  return { ...seen, clean: { ...clean, folders, ...(quota ? { quota } : {}) } };
}

/** Whether what is cleaned there makes room on the disk. */
function liesOn(folder: string, { path, maxBytes }: NonNullable<ResolveContext["disk"]>): boolean {
  if (maxBytes !== undefined) return `${folder}/`.startsWith(`${path}/`);
  return existsSync(path) && statSync(folder).dev === statSync(path).dev;
}

/**
 * Says what a person must be asked about, and sets bounds accordingly: what is within `ask_above` can't go beyond it
 * later; what is beyond has the whole bounds, and a person who knows.
 *
 * @throws {NotApplicable} nothing is there that could be cleaned
 */
function bounded(steps: readonly ResolvedStep[]): ResolvedRunbook {
  const exceeds: string[] = [];
  let nothing = false;
  const made = steps.map((step) => {
    const { bounds, clean } = step;
    if (bounds.ask) exceeds.push(`${step.step}: ${bounds.ask}`);
    if (!clean) return step;
    const want = planned(clean, wantedBy(bounds));
    nothing ||= want.files.length === 0;
    const limit = wantedBy({ ...bounds, ...bounds.ask_above });
    const files = `${want.files.length} files, and only ${limit.files} may be moved unasked`;
    const size = `${shownBytes(want.bytes)}, and only ${
      shownBytes(limit.bytes)
    } may be moved unasked`;
    if (want.files.length > limit.files) exceeds.push(`${step.step}: ${files}`);
    else if (want.bytes > limit.bytes) exceeds.push(`${step.step}: ${size}`);
    else return { ...step, bounds: { ...bounds, ...bounds.ask_above } };
    return step;
  });
  if (nothing) throw new NotApplicable("nothing_to_move", "No file there is old enough and fits");
  return { steps: made, exceeds };
}

function planned(...[clean, limit]: Parameters<typeof planClean>) {
  try {
    return planClean(clean, limit);
  } catch (error) {
    if (error instanceof BadFolder) throw new NotApplicable(error.code, error.message);
    throw error;
  }
}

function refuseForbidden(step: ResolvedStep, { commands }: Pick<Catalogue, "commands">): void {
  for (const command of commandsOf(step)) {
    const permission = checkCommand(command, commands);
    if (!permission.allowed && permission.code !== "no_program") {
      throw new NotApplicable(
        permission.code,
        `${step.step}: ${command.argv.join(" ")} is not on the allow-list as it is`,
      );
    }
  }
}

/** Every command of a step: what it does, what it looks with, what undoes it. */
function commandsOf({ command, verify, wait, undo }: ResolvedStep) {
  const looks = [verify?.look, wait?.for].flatMap((look: Look | undefined) =>
    look && "command" in look ? [{ argv: look.command }] : []
  );
  const undoing = "command" in undo
    ? [(undo as Extract<UndoDocument, { command: unknown }>).command]
    : [];
  return [...(command ? [command] : []), ...looks, ...undoing];
}
