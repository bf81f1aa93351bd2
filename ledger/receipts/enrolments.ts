import type { Store } from "../../store/mod.ts";
import { PLACE_ENROLLED } from "../rules/mod.ts";

/** Statement that reads the receipts that enrol places, oldest first. */
export const LIST_ENROLMENTS =
  `SELECT position, record FROM receipts WHERE category = '${PLACE_ENROLLED}' AND era = 3 ORDER BY position`;

/** A row of {@linkcode LIST_ENROLMENTS}. */
interface EnrolmentRow {
  readonly position: string | number;
  readonly record: Buffer;
}

/** Returns where each place is enrolled first, by its id. */
export function toEnrolments(rows: readonly EnrolmentRow[]): Map<string, number> {
  const enrolments = new Map<string, number>();
  for (const { position, record } of rows) {
    const place = readPlace(record);
    if (place !== undefined && !enrolments.has(place)) enrolments.set(place, Number(position));
  }
  return enrolments;
}

/** Reads where each place is enrolled first, by its id. The receipts themselves are verified elsewhere. */
export async function listEnrolments(store: Store): Promise<Map<string, number>> {
  return toEnrolments(await store.asPlatform().query<EnrolmentRow>(LIST_ENROLMENTS));
}

/** @returns undefined: somebody has changed the record, which is found elsewhere */
function readPlace(record: Buffer): string | undefined {
  try {
    const place: unknown = JSON.parse(record.toString()).details?.place;
    return typeof place === "string" ? place : undefined;
  } catch {
    return undefined;
  }
}
