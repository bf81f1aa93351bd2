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
  /** Of those that were registered already and were brought up to date. */
  readonly updated: readonly string[];
  /** Of those that the identity provider has lost. Nothing is deleted. */
  readonly missing: readonly string[];
  /** Domains that several organizations name; people have to decide. */
  readonly conflicts: readonly { readonly domain: string; readonly org_ids: readonly string[] }[];
  /** Null: a dry run. */
  readonly receipt_id: string | null;
}
