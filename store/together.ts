import { createHash } from "node:crypto";
import type { Knex } from "knex";
import type { Queryable } from "./connection.ts";

/** A part of a statement that does several things. */
export interface Part {
  /** Common table expressions, with a `?` for each value. */
  readonly tables: string;
  readonly values: readonly Knex.RawBinding[];
  /** What the statement is to give of them, each `… AS name`. */
  readonly columns: string;
}

/**
 * Does several things as one statement: all of them or none, without the ways there and back that a transaction of as
 * many statements has. What one part has added no other part can see but by the name of its table.
 *
 * The database keeps how it is done, by the statement's name; so texts must come from the code alone.
 *
 * @returns the row of the columns
 */
export async function together(
  on: Queryable,
  parts: readonly Part[],
): Promise<Readonly<Record<string, unknown>>> {
  const text = `WITH ${parts.map(({ tables }) => tables).join(", ")}
    SELECT ${parts.map(({ columns }) => columns).join(", ")}`;
  const { rows: [row] } = await on.raw(text, parts.flatMap(({ values }) => [...values]))
    .options({ name: nameOf(text) });
  return row;
}

const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) {
    name = `together_${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}
