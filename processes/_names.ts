/** Names of tools and operations, as operators write them in switches and in rules. */
import { nearNames, type Operation } from "../contract/mod.ts";
import { fitsGlob } from "../governance/mod.ts";
import { approvable, type Platform } from "../operations/mod.ts";

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
  const near = nearNames(name, [...new Set(approvable.filter(counts).flatMap(namesOf))]);
  return `there is no tool or operation ${name}${suggestion(near)}`;
}

/** What to add to the refusal of a name that is not there. */
export function suggestion(near: readonly string[]): string {
  return near.length > 0 ? `; did you mean ${near.join(" or ")}?` : "";
}

function namesOf({ name, tool = {}, rest = {} }: Operation<Platform>): string[] {
  return [name, ...Object.keys(tool), ...Object.keys(rest)];
}
