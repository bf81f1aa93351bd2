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
  /** Absent: only the function can be asked. */
  readonly alike?: AlikeCondition | undefined;
}

/** A condition of rows whose values are all the same, as a part of their statement, which takes less than the function. */
export interface AlikeCondition {
  /** Of the statement, from the code alone: another text has another name. */
  readonly name: string;
  /**
   * Common table expressions, the last of them `asked`: with a row where the condition holds for all, and with none where
   * it does not hold for all or can't be told; then it has done nothing, and the function is asked.
   */
  part(many: number): Omit<Part, "columns">;
  /** What the function would tell of one of them. @param asked the row @param left how many come after it */
  told(asked: unknown, left: number): unknown;
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
