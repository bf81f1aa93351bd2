import { similarNames } from "./similar_names.ts";

/** Name under which a request's metadata says that it is only asked what would be decided. */
export const DRY_RUN_KEY = "sealoop/dry_run";

/** What a request says of itself. */
export interface DryRunRequest {
  readonly dryRun: boolean;
  /** Why it can't be known what is wanted, a sentence; then nothing may be done. */
  readonly dryRunError?: string;
}

/**
 * Reads what a request's metadata says under this platform's names. What is misspelt is never taken for a no: it would be
 * done.
 */
export function parseDryRun(
  metadata: Readonly<Record<string, unknown>> | undefined,
): DryRunRequest {
  for (const [name, value] of Object.entries(metadata ?? {})) {
    const bare = name.replace(/^.*\//, "");
    if (!/^sealoop\b/i.test(name) && !isDryRun(bare)) continue;
    if (name !== DRY_RUN_KEY) {
      const near = similarNames(bare, ["dry_run"]).length > 0
        ? `; did you mean ${DRY_RUN_KEY}?`
        : "";
      return refuse(`A request's metadata has no ${name}${near}`);
    }
    if (typeof value === "boolean") continue;
    return refuse(`${DRY_RUN_KEY} has to be true or false, without quotes`);
  }
  return { dryRun: metadata?.[DRY_RUN_KEY] === true };
}

/** The same of a header `x-dry-run`: `true` or `false`, in any case. @param names of all headers */
export function parseDryRunHeader(
  value: string | undefined,
  names: readonly string[],
): DryRunRequest {
  const other = names.find((name) => name !== "x-dry-run" && isDryRun(name));
  if (other) return refuse(`There is no header ${other}; did you mean x-dry-run?`);
  if (value === undefined || /^false$/i.test(value)) return { dryRun: false };
  if (/^true$/i.test(value)) return { dryRun: true };
  return refuse("x-dry-run has to be true or false");
}

const isDryRun = (name: string) => /^x?dryrun$/i.test(name.replace(/\W|_/g, ""));

const refuse = (why: string): DryRunRequest => ({
  dryRun: true,
  dryRunError: `${why}. Nothing was done`,
});
