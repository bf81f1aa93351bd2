/** Names of tools and operations, as operators write them in stops and rules. */
import { isGoverned, type Operation, similarNames } from "../../contract/mod.ts";
import { namesOf } from "../platform.ts";
import type { PolicyFile } from "./policy_file.ts";
import { matchesGlob } from "./rules.ts";

/** A name, or a pattern with `*`, and the operations that it may mean. */
export interface NameCheck {
  readonly name: string;
  readonly operations: readonly Operation<never>[];
  /** Returns true where an operation can be stopped, or decided about. */
  isAllowed(operation: Operation<never>): boolean;
  /** End of the sentence about a name of other operations. */
  readonly otherwise: string;
}

/** Returns why a name matches no allowed operation, a sentence; undefined: it matches one. */
export function nameError(
  { name, operations, isAllowed, otherwise }: NameCheck,
): string | undefined {
  const matches = operations.filter((one) => namesOf(one).some((own) => matchesGlob(name, own)));
  if (matches.some(isAllowed)) return undefined;
  if (matches.length > 0) return `${name} ${otherwise}`;
  const known = new Set(operations.filter(isAllowed).flatMap((one) => namesOf(one)));
  return `there is no tool or operation ${name}${suggestion(similarNames(name, [...known]))}`;
}

/** Returns the names in a file's rules that can never match, each with its line and its rule. */
export function unknownNamesIn(
  { policy, place }: PolicyFile,
  operations: readonly Operation<never>[],
): string[] {
  return policy.rules.flatMap(({ then, when: { tools = [] } }, at) =>
    tools.flatMap((name, n) => {
      const error = nameError({ name, operations, ...GOVERNED }) ??
        (then === "needs_approval" ? nameError({ name, operations, ...APPROVABLE }) : undefined);
      return error ? [`${place(["rules", at, "when", "tools", n])}: ${error}`] : [];
    })
  );
}

const GOVERNED = {
  isAllowed: isGoverned,
  otherwise: "only reads, so governance does not decide about it",
};
const APPROVABLE = {
  isAllowed: (one: Operation<never>) => isGoverned(one) && !one.governance?.humanControl,
  otherwise: "is how people decide or stop, and nobody is asked about that",
};

/** Returns the end of a refusal that suggests other names. */
export function suggestion(names: readonly string[]): string {
  return names.length > 0 ? `; did you mean ${names.join(" or ")}?` : "";
}
