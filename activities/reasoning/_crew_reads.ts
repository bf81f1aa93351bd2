/** What agents of the crew read besides the store's own tables. */
import type { Config } from "../../config.ts";
import { findLoggedErrors } from "../../detection/mod.ts";
import type { Source } from "../../domain/mod.ts";
import { listReceipts } from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";

/** Receipts of changes to policies, runbooks, settings, and of what was learnt. */
const CATEGORIES = ["config_change", "runbook_change", "learning_receipt"];

/** A change to what the platform runs by. */
export interface PlatformChange {
  /** A sentence without a full stop. */
  readonly says: string;
  /** The receipt that proves it. */
  readonly source: Source;
}

/** The newest changes to what the platform runs by, newest first. @param most > 0 */
export async function listPlatformChanges(
  store: Store,
  since: Date,
  most: number,
): Promise<PlatformChange[]> {
  const pages = await Promise.all(
    CATEGORIES.map((category) => listReceipts(store, { limit: most, category })),
  );
  return pages.flat().sort((a, b) => b.position - a.position).slice(0, most)
    .flatMap(({ id, hash, text }) => {
      const { category, subject, timestamp } = JSON.parse(text) as Record<string, string>;
      if (new Date(timestamp!) < since) return [];
      const what = `${category!.replaceAll("_", " ")} of ${subject}`;
      return [{
        says: `${what} at ${timestamp}`,
        source: { id, kind: "receipt", title: what, sha256: hash },
      }];
    });
}

/** How far back errors in logs are of this incident, milliseconds. */
const LOGGED_MS = 3_600_000;

/** What the logs of a service tell of. */
export interface LogErrors {
  readonly name: string;
  /** A sentence for each log that is known. */
  readonly says: readonly string[];
  /** Lines that tell of an error, ≥ 0. */
  readonly errors: number;
}

/** Reads the logs of a service. */
export async function readServiceLogs(config: Config, name: string): Promise<LogErrors> {
  const since = new Date(Date.now() - LOGGED_MS);
  const logs = await findLoggedErrors({ config, service: name, since });
  return {
    name,
    says: logs.map(({ log, count, most }) =>
      count === 0
        ? `the log ${log} of ${name} tells of no error within the hour`
        : `the log ${log} of ${name} tells of ${count} errors within the hour, most often: ${most}`
    ),
    errors: logs.reduce((sum, { count }) => sum + count, 0),
  };
}
