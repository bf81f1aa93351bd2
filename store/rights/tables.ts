import { ERASABLE } from "../_erasable.ts";
import { DEVICE_TABLES } from "./_devices.ts";
import { INCIDENT_TABLES } from "./_incidents.ts";
import { LEDGER_TABLES } from "./_ledger.ts";
import { PEOPLE_TABLES } from "./_people.ts";
import { EVERYONE, type Grant, type TableRights } from "./grantees.ts";

/**
 * Rights on each table, by role: what is not listed is not granted. `migrate` grants exactly these, the page
 * `docs/rights.md` is made from them, and a test tries them all.
 */
export const RIGHTS: TableRights = withErasing({
  ...LEDGER_TABLES,
  ...INCIDENT_TABLES,
  ...PEOPLE_TABLES,
  ...DEVICE_TABLES,
  migrations: [["SELECT", ...EVERYONE]], // whether a process is of the version of the tables
  migrations_lock: [],
});

/** Adds the rights by which the operator erases a person's texts. */
function withErasing(rights: Record<string, readonly Grant[]>): TableRights {
  for (const { table, texts = [], json = [], set = {} } of ERASABLE) {
    const columns = [...texts, ...json, ...Object.keys(set)].join(", ");
    rights[table] = [...rights[table]!, [`SELECT, UPDATE (${columns})`, "operator"]];
  }
  return rights;
}
