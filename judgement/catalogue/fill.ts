import { InvalidInput, type Issue } from "../../contract/mod.ts";
import type { ScriptDocument } from "./schema.ts";

/** Values of a script's parameters by name. */
export type ScriptValues = Readonly<Record<string, string>>;

/**
 * Returns the arguments of a script: each `{name}` is replaced by its value, which never becomes more than a part of one
 * argument, and never an option.
 *
 * @throws {InvalidInput} names each value that is missing, unknown or of another form
 */
export function fillArguments(
  { parameters, argv }: Pick<ScriptDocument, "parameters" | "argv">,
  given: ScriptValues,
): string[] {
  const issues: Issue[] = Object.keys(given).filter((name) => !Object.hasOwn(parameters, name))
    .map((name) => issue(name, "The script has no such parameter"));
  const values = new Map<string, string>();
  for (const [name, { pattern, default: fallback, about, lines }] of Object.entries(parameters)) {
    const value = Object.hasOwn(given, name) ? given[name]! : fallback;
    if (value === undefined) issues.push(issue(name, `Expected a value: ${about}`));
    else if (!matchesPattern({ pattern, lines }, value)) {
      issues.push(issue(name, `Expected a value that matches ${pattern}`));
    } else values.set(name, value);
  }
  if (issues.length > 0) throw new InvalidInput(issues);
  return argv.map((one) =>
    one.replace(/\{([a-z0-9_]+)\}/g, (_, name: string) => values.get(name)!)
  );
}

/** Matches a line with a segment of dots alone, which would lead out of the folder that an argument names. */
const LEADS_OUT = /(^|\/)\.{2,}(\/|$)/m;

/** Returns whether a whole value matches a parameter's pattern, can't pass for an option, and leads out of no folder. */
export function matchesPattern(
  { pattern, lines }: { readonly pattern: string; readonly lines: boolean },
  value: string,
): boolean {
  return !(lines ? /^-|[\0\r]/ : /^-|[\0\n\r]/).test(value) && !LEADS_OUT.test(value) &&
    new RegExp(`^(?:${pattern})$`, "u").test(value);
}

function issue(name: string, msg: string): Issue {
  return { path: ["parameters", name], msg, type: "value_error" };
}
