import { similarNames } from "./similar_names.ts";

/** The metadata key that marks a request as a dry run. */
const METADATA_KEY = "sealoop/dry_run";

/** The result of parsing a request's dry-run mark. */
export interface DryRunRequest {
  readonly dryRun: boolean;
  /** Why the mark can't be read, a sentence. The request must then be refused. */
  readonly dryRunError?: string;
}

/**
 * Parses the dry-run mark in a request's metadata. A misspelled mark is an error: if it were ignored, the call would be
 * run.
 */
export function parseDryRun(
  metadata: Readonly<Record<string, unknown>> | undefined,
): DryRunRequest {
  for (const [name, value] of Object.entries(metadata ?? {})) {
    const bare = name.replace(/^.*\//, "");
    if (!/^sealoop\b/i.test(name) && !isDryRunName(bare)) continue;
    if (name !== METADATA_KEY) {
      const isSimilar = similarNames(bare, ["dry_run"]).length > 0;
      const advice = isSimilar ? `; did you mean ${METADATA_KEY}?` : "";
      return dryRunError(`A request's metadata has no ${name}${advice}`);
    }
    if (typeof value === "boolean") continue;
    return dryRunError(`${METADATA_KEY} has to be true or false, without quotes`);
  }
  return { dryRun: metadata?.[METADATA_KEY] === true };
}

/** Parses the header `x-dry-run`: `true` or `false`, in any case. @param names of all headers */
export function parseDryRunHeader(
  value: string | undefined,
  names: readonly string[],
): DryRunRequest {
  const other = names.find((name) => name !== "x-dry-run" && isDryRunName(name));
  if (other) return dryRunError(`There is no header ${other}; did you mean x-dry-run?`);
  if (value === undefined || /^false$/i.test(value)) return { dryRun: false };
  if (/^true$/i.test(value)) return { dryRun: true };
  return dryRunError("x-dry-run has to be true or false");
}

const isDryRunName = (name: string) => /^x?dryrun$/i.test(name.replace(/\W|_/g, ""));

const dryRunError = (why: string): DryRunRequest => ({
  dryRun: true,
  dryRunError: `${why}. Nothing was done`,
});
