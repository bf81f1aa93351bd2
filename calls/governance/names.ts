/** Names of tools and operations, as operators write them in switches and in rules. */
import { isGoverned, similarNames, type Operation } from "../../contract/mod.ts";
import { fitsGlob, type PolicyFile } from "./mod.ts";
import { approvable, type Platform } from "../../operations/mod.ts";

/**
 * Why a name, or a pattern of names, means nothing that counts.
 *
 * @param counts whether an operation can be stopped, or decided on
 * @param otherwise said of a name of others
 * @returns undefined: it means something
 */
export function whyNothing(
  name: string,
  counts: (operation: Operation<Platform>) => boolean,
  otherwise: string,
): string | undefined {
  const meant = approvable.filter((one) => namesOf(one).some((own) => fitsGlob(name, own)));
  if (meant.some(counts)) return undefined;
  if (meant.length > 0) return `${name} ${otherwise}`;
  const near = similarNames(name, [...new Set(approvable.filter(counts).flatMap(namesOf))]);
  return `there is no tool or operation ${name}${suggestion(near)}`;
}

/**
 * What the rules of a policy name that can never be called: each with its line and its rule. What the rules that ship
 * name is no exception: some of that is of integrations which this platform does not have.
 */
export function misnamed({ policy, place }: PolicyFile): string[] {
  return policy.rules.flatMap(({ then, when: { tools = [] } }, at) =>
    tools.flatMap((name, n) => {
      const why = whyNothing(name, isGoverned, "is nothing that governance decides on") ??
        (then === "needs_approval" ? whyNothing(name, canBeAsked, NOBODY_IS_ASKED) : undefined);
      return why ? [`${place(["rules", at, "when", "tools", n])}: ${why}`] : [];
    })
  );
}

const NOBODY_IS_ASKED = "is what people decide or stop by, and nobody is asked about that";
const canBeAsked = (operation: Operation<Platform>) =>
  isGoverned(operation) && !operation.humanControl;

/** What to add to the refusal of a name that is not there. */
export function suggestion(near: readonly string[]): string {
  return near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
}

function namesOf({ name, tool = {}, rest = {} }: Operation<Platform>): string[] {
  return [name, ...Object.keys(tool), ...Object.keys(rest)];
}
