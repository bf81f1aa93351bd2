import type { Knex } from "knex";

/** Services are looked up by names that people write, in whatever case. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw("CREATE INDEX services_lower_name ON services (lower(name))");
}
