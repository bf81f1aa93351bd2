import pg from "pg";

/** Statement by which a transaction gets its tenant. Row-level security compares rows with this setting. */
const SET_TENANT = {
  name: "set_tenant",
  text: "SELECT set_config('sealoop.tenant', $1, true)",
};

/** The messages of the extended protocol that this file sends; `pg` has no types for them. */
interface Messages {
  bind(message: { readonly statement: string; readonly values: readonly string[] }): void;
  execute(message: { readonly rows: number }): void;
}

/** `pg.Query` with the methods that its types leave out. */
type Query = pg.Query & {
  prepare(connection: Messages): void;
  handleDataRow(message: unknown): void;
  handleCommandComplete(message: unknown, connection: Messages): void;
};
const Query = pg.Query as unknown as new (config: pg.QueryConfig) => Query;

/** Prepares a new connection for statements in the name of tenants. */
export async function prepareTenants(client: pg.ClientBase): Promise<void> {
  await client.query({ ...SET_TENANT, values: [""] });
}

/**
 * A statement in the name of a tenant. Tenant and statement are sent together, and PostgreSQL runs what is sent together
 * as one transaction: it takes one round trip, and the tenant is set no longer than the statement runs.
 */
export class TenantQuery extends Query {
  readonly #tenant: string;
  #isTenantSet = false;

  constructor(tenant: string, config: pg.QueryConfig) {
    super(config);
    this.#tenant = tenant;
  }

  /** The simple protocol can't carry both. */
  requiresPreparation(): boolean {
    return true;
  }

  override prepare(connection: Messages): void {
    connection.bind({ statement: SET_TENANT.name, values: [this.#tenant] });
    connection.execute({ rows: 0 });
    super.prepare(connection);
  }

  override handleDataRow(message: unknown): void {
    if (this.#isTenantSet) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Messages): void {
    if (this.#isTenantSet) super.handleCommandComplete(message, connection);
    this.#isTenantSet = true;
  }
}
