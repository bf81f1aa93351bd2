import type { TargetDisk } from "./_target_disk.ts";
import { NotApplicable } from "./errors.ts";
import {
  kindOfStep,
  OBSERVED_FACTS,
  type ObservedFacts,
  type ParameterDocument,
  ResolvedStep,
  type StepDocument,
} from "./schema.ts";

/** Values that a service gives for parameters, by name. */
export type ParameterValues = Readonly<Record<string, string | number | readonly string[]>>;

/** Sources of values, in the order in which they are asked. */
interface ValueSources {
  readonly service: string;
  readonly values: ParameterValues;
  readonly disk?: TargetDisk;
  readonly file?: string;
  readonly remedy?: string;
  readonly facts?: ObservedFacts;
}

type FilledValues = Readonly<Record<string, unknown>>;

const IS_KIND: Readonly<Record<ParameterDocument["kind"], (value: unknown) => boolean>> = {
  path: isPath,
  paths: (value) => Array.isArray(value) && value.length > 0 && value.every(isPath),
  name: (value) => typeof value === "string" && /^[A-Za-z0-9_][A-Za-z0-9@._:-]{0,200}$/.test(value),
  names: (value) =>
    Array.isArray(value) && value.every((one) => /^[A-Za-z0-9_.+*?-]{1,100}$/.test(one)),
  command: (value) =>
    Array.isArray(value) && value.length > 0 &&
    value.every((one) => typeof one === "string" && !/[\0\n{}]/.test(one)),
  unit: (value) =>
    typeof value === "string" && /^[A-Za-z0-9_][A-Za-z0-9@._:\\-]{0,200}$/.test(value),
  number: (value) => /^\d{1,15}(\.\d{1,6})?$/.test(String(value)),
  url: (value) => typeof value === "string" && /^https?:\/\/[^\s"'{}]+$/.test(value),
  address: (value) => typeof value === "string" && /^[A-Za-z0-9.:[\]_-]+:\d{1,5}$/.test(value),
};

/** Returns whether a value is one that a parameter takes. */
export function fitsParameter({ kind }: Pick<ParameterDocument, "kind">, value: unknown): boolean {
  return IS_KIND[kind](value);
}

/** Returns whether a value is an absolute path without segments of dots alone. */
function isPath(value: unknown): boolean {
  return typeof value === "string" && /^\/[^\0\n{}]*$/.test(value) &&
    !value.split("/").some((segment) => /^\.+$/.test(segment)) && value.length < 1_000;
}

/**
 * Fills the parameters of all steps with values.
 *
 * @throws {NotApplicable} a parameter has no value, or one of another kind
 */
export function fillParameters(
  steps: readonly StepDocument[],
  parameters: Readonly<Record<string, ParameterDocument>>,
  sources: ValueSources,
): ResolvedStep[] {
  const values = findValues(parameters, sources);
  return steps.map((step) => {
    const filled = fill(step, values) as Record<string, unknown> & {
      clean?: { folders: unknown };
      stop?: { programs: unknown };
    };
    if (filled.clean) filled.clean.folders = [filled.clean.folders].flat();
    if (filled.stop) filled.stop.programs = [filled.stop.programs].flat();
    return ResolvedStep.parse({ ...filled, kind: kindOfStep(step) });
  });
}

function findValues(
  parameters: Readonly<Record<string, ParameterDocument>>,
  { service, values: own, disk, file, remedy, facts = {} }: ValueSources,
): FilledValues {
  const given: ParameterValues = disk ? { ...own, disk: disk.path } : own;
  const values: Record<string, unknown> = { service };
  for (const [name, parameter] of Object.entries(parameters)) {
    const { kind, default: fallback } = parameter;
    const value = given[name] ?? valueOfFinding(parameter, disk, { file, remedy }) ??
      observedValue(parameter, facts) ?? fallback;
    if (value === undefined || !IS_KIND[kind](value)) {
      const wrong = value === undefined ? "has no value" : "has a value of another kind";
      throw new NotApplicable(`parameter_${name}`, `{${name}} (${kind}) ${wrong}`);
    }
    values[name] = kind === "number" ? String(value) : value;
  }
  return values;
}

/** Returns the value that was observed for a parameter. */
function observedValue({ from, kind }: ParameterDocument, facts: ObservedFacts) {
  const value = OBSERVED_FACTS.map((name) => name === from ? facts[name] : undefined)
    .find((one) => one !== undefined);
  return value !== undefined && kind === "paths" ? [String(value)] : value;
}

/** Returns the value that the finding gives for a parameter. */
function valueOfFinding(
  { from, kind }: ParameterDocument,
  disk: TargetDisk | undefined,
  { file, remedy }: Pick<ValueSources, "file" | "remedy">,
): string | string[] | undefined {
  if (from === "found_file") return file;
  if (from === "device_remedy") return remedy;
  if (from !== "bounded_folder" || disk?.maxBytes === undefined) return undefined;
  return kind === "paths" ? [disk.path] : disk.path;
}

/** Replaces `{name}` by its value. A list within a list becomes part of it. */
function fill(value: unknown, values: FilledValues): unknown {
  if (typeof value === "string") {
    const whole = /^\{([a-z_]+)\}$/.exec(value)?.[1];
    if (whole !== undefined) return values[whole];
    return value.replace(/\{([a-z_]+)\}/g, (_, name: string) => [values[name]].flat().join(" "));
  }
  if (Array.isArray(value)) {
    return value.flatMap((one) => {
      const filled = fill(one, values);
      return typeof one === "string" && Array.isArray(filled) ? filled : [filled];
    });
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([k, inner]) => [k, fill(inner, values)]));
}
