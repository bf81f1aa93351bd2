/** A runbook or script in force, and the files that have brought it. */
export interface InForce {
  readonly name: string;
  readonly origin: "shipped" | "user";
  readonly sha256: string;
  /** `host:path` of the folder; empty: it is shipped. */
  readonly source: string;
}

/**
 * Returns what is in force once a worker has brought its shipped and its user's own rows: what the user's folder lacks
 * deletes only what the same folder had brought. The user's own row of another folder stays, also where the worker ships
 * one of that name; where both folders have one, the newer counts.
 *
 * @param source the worker's folder of the user's own; undefined: it is missing, and deletes nothing
 */
export function mergeInForce<Row extends InForce>(
  active: readonly InForce[],
  brought: readonly Row[],
  source: string | undefined,
): { readonly put: readonly Row[]; readonly kept: readonly InForce[] } {
  const own = new Set(
    brought.filter(({ origin }) => origin === "user").map(({ name }) => name),
  );
  const kept = active.filter((row) =>
    row.origin === "user" && row.source !== source && !own.has(row.name)
  );
  const keptNames = new Set(kept.map(({ name }) => name));
  return { put: brought.filter(({ name }) => !keptNames.has(name)), kept };
}
