import type { Queryable } from "./connection.ts";

/** A runbook in one version. */
export interface RunbookRecord {
  readonly name: string;
  readonly version: string;
  readonly origin: "shipped" | "user";
  /** Over the bytes of its file. */
  readonly sha256: string;
  readonly document: unknown;
}

/** A runbook that is not what it was. */
export interface RunbookChange {
  readonly name: string;
  readonly origin: "shipped" | "user";
  /** Hash of what was in force; null: it is new. */
  readonly before: string | null;
  /** Hash of what is in force; null: it was removed. */
  readonly after: string | null;
}

/** Key of the lock under which runbooks are compared, as several workers start at once. */
const LOCK = 7_365_616_112;

/**
 * Puts exactly these runbooks in force, within a transaction. Those that were in force before stay to be read, by their
 * hash.
 *
 * @returns what changed, by name
 */
export async function replaceRunbooks(
  on: Queryable,
  runbooks: readonly RunbookRecord[],
): Promise<RunbookChange[]> {
  await on.raw("SELECT pg_advisory_xact_lock(?)", [LOCK]);
  const active: RunbookRecord[] = await on("runbooks").where({ active: true })
    .select("name", "sha256", "origin");
  const before = new Map(active.map((one) => [one.name, one]));
  const after = new Map(runbooks.map((one) => [one.name, one]));
  const changes: RunbookChange[] = [];
  for (const name of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [old, now] = [before.get(name), after.get(name)];
    if (old?.sha256 === now?.sha256) continue;
    const { origin } = (now ?? old)!;
    changes.push({ name, origin, before: old?.sha256 ?? null, after: now?.sha256 ?? null });
    if (old) await on("runbooks").where({ sha256: old.sha256 }).update(OUT(on));
  }
  for (const { after: hash, name } of changes) {
    if (hash === null) continue;
    const { version, origin, sha256, document } = after.get(name)!;
    await on("runbooks").insert({
      ...{ name, version, origin, sha256, active: true },
      document: JSON.stringify(document),
    }).onConflict("sha256").merge({ active: true, changed_at: on.fn.now() });
  }
  return changes;
}

const OUT = (on: Queryable) => ({ active: false, changed_at: on.fn.now() });

/** Notes which allow-list is in force. @returns its hash before, where it is another one now */
export async function replaceCommands(
  on: Queryable,
  sha256: string,
): Promise<{ before: string | null } | undefined> {
  const known = await on("runbook_commands").first();
  if (known?.sha256 === sha256) return undefined;
  await on("runbook_commands").insert({ sha256 }).onConflict("one").merge();
  return { before: known?.sha256 ?? null };
}

/** A runbook by its hash, whether it is in force or not. */
export async function getRunbook(
  on: Queryable,
  sha256: string,
): Promise<RunbookRecord | undefined> {
  return await on("runbooks").where({ sha256 })
    .first("name", "version", "origin", "sha256", "document");
}

/** What a service gives its runbooks' parameters; empty where it gives nothing. */
export async function getRunbookValues(
  on: Queryable,
  service: string,
): Promise<Readonly<Record<string, string | number | readonly string[]>>> {
  const row = await on("runbook_values").where({ service }).first();
  return row?.given ?? {};
}

/** Makes what services give their runbooks exactly this. */
export async function replaceRunbookValues(
  on: Queryable,
  given: Readonly<Record<string, object>>,
): Promise<void> {
  await on("runbook_values").whereNotIn("service", Object.keys(given)).delete();
  for (const [service, values] of Object.entries(given)) {
    await on("runbook_values").insert({ service, given: JSON.stringify(values) })
      .onConflict("service").merge();
  }
}
