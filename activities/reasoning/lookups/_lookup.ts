import type { LookupResult } from "../../../contract/domain/mod.ts";
import type { Db, Store } from "../../../store/mod.ts";

/** Where lookups read. */
interface LookupContext {
  readonly store: Store;
  readonly db: Db;
}

/** Result of a lookup: sentences that rest on what was read, and their sources. */
export type LookupAnswer = Omit<LookupResult, "lookup">;

/**
 * A read-only tool of the reasoning pipeline.
 *
 * @param subject name or id that it is about; empty: none
 */
export type LookupTool = (context: LookupContext, subject: string) => Promise<LookupAnswer>;

/** The answer of a lookup that found nothing. */
export const NOTHING: LookupAnswer = { says: [], sources: [], data: {} };

/** Most tickets or repairs that an answer lists. */
export const MAX_LISTED = 5;
