/** The chain as this browser saw it at its last visit. It makes every visitor a witness that the past does not change. */
export interface LastVisit {
  readonly size: number;
  /** Hash of the newest receipt then. */
  readonly hash: string;
  /** Like `2026-07-01`. */
  readonly day: string;
}

const KEY = "sealoop-ledger-visit";

/** Returns the name of a visit in messages. */
export const nameVisit = ({ day }: LastVisit): string => `this browser’s visit of ${day}`;

/** Reads the last visit; undefined if there was none, or if the browser stores nothing. */
export function readLastVisit(): LastVisit | undefined {
  try {
    const { size, hash, day } = JSON.parse(localStorage.getItem(KEY) ?? "null") ?? {};
    const isVisit = Number.isSafeInteger(size) && size > 0 && /^[0-9a-f]{64}$/.test(hash) &&
      /^\d{4}-\d\d-\d\d$/.test(day);
    return isVisit ? { size, hash, day } : undefined;
  } catch {
    return undefined;
  }
}

/** Saves this visit for the next one. */
export function saveVisit(visit: LastVisit): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(visit));
  } catch {
    // The browser stores nothing; everything else works.
  }
}

/** Forgets the last visit. */
export function forgetLastVisit(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // The browser stores nothing.
  }
}
