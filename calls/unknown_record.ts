import { Problem } from "../contract/mod.ts";
import { type Db, listNewestIds, type RecordKind } from "../store/mod.ts";

/** Most characters in which a mistyped id differs. Ids are random, so that others are just others. */
const MAX_MISTYPED = 2;
const MAX_SUGGESTIONS = 3;

/**
 * Returns the problem `NotFound` of an id that no record has, with the ids that may be meant: those of the caller's tenant
 * alone, as the database shows no others.
 *
 * @param otherwise where none is alike: a part of a sentence that says how to find them
 */
export async function unknownRecord(
  db: Db,
  kind: RecordKind,
  id: string,
  otherwise?: string,
): Promise<Problem> {
  const near = (await listNewestIds(db, kind)).filter((other) => isMistyped(id, other))
    .slice(0, MAX_SUGGESTIONS);
  const advice = near.length > 0 ? `did you mean ${near.join(" or ")}?` : otherwise;
  return new Problem("NotFound", `There is no ${kind} ${id}${advice ? `; ${advice}` : ""}`);
}

function isMistyped(id: string, other: string): boolean {
  const [long, short] = id.length >= other.length ? [id, other] : [other, id];
  const changed = [...long].filter((character, at) => character !== short[at]).length;
  return id !== other && changed <= MAX_MISTYPED;
}
