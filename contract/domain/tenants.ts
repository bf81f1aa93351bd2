/** Argument of the workflow that registers organizations at the identity provider. */
export interface TenantSync {
  /** Default: all. */
  readonly org_id?: string;
  /** True: nothing is changed. */
  readonly dry_run?: boolean;
}

/** Result of such a run. */
export interface TenantSyncResult {
  /** Ids of organizations that were registered. */
  readonly created: readonly string[];
  /** Ids of organizations that were registered already and were brought up to date. */
  readonly updated: readonly string[];
  /** Ids of organizations that the identity provider has lost. Nothing is deleted. */
  readonly missing: readonly string[];
  /** Domains that several organizations name; people have to decide. */
  readonly conflicts: readonly { readonly domain: string; readonly org_ids: readonly string[] }[];
  /** Those that were not registered, or may not have been. */
  readonly failed: readonly TenantFailure[];
  /** Null: a dry run. */
  readonly receipt_id: string | null;
}

/** An organization that was not registered (`not_done`), or of which nobody can tell (`unknown`). */
export interface TenantFailure {
  readonly org_id: string;
  readonly outcome: "not_done" | "unknown";
  readonly reason: string;
}

/** Plan of such a run, by ids of organizations. */
export interface TenantSyncPlan
  extends Pick<TenantSyncResult, "created" | "updated" | "missing" | "conflicts"> {
  /** Several organizations of the identity provider carry their id; people have to decide. */
  readonly ambiguous: readonly string[];
}
