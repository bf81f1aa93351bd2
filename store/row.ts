import type { Part } from "./together.ts";

/** A row that is written together with something else. Table and columns must come from the code alone. */
export interface Row {
  readonly table: string;
  /** By column, as JSON has them. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** What the database is asked in the statement that writes; where it does not hold, nothing is written. */
export interface Condition {
  /**
   * Name of a function, from the code alone. It takes a JSON array with a value for each row, null where there is nothing
   * to ask, and gives one row of as many `holds` (boolean[]) and `told` (jsonb[]).
   */
  readonly function: string;
  readonly value: unknown;
}

/** The part of a statement that adds a row. */
export function rowPart(row: Row): Part {
  return {
    tables: `added AS (${addRows(row, "SELECT ?::text AS content")} RETURNING 1)`,
    values: [JSON.stringify(row.values)],
    columns: "(SELECT count(*)::int FROM added) AS added",
  };
}

/** Text of a statement that adds rows like one. @param from a query whose column `content` is the JSON of their values */
export function addRows({ table, values }: Row, from: string): string {
  const columns = Object.keys(values);
  return `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${
    columns.map((column) => `r.${column}`).join(", ")
  } FROM (${from}) AS f, json_populate_record(NULL::${table}, f.content::json) AS r`;
}
