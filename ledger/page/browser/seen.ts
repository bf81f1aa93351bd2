/** What this browser saw of the chain before: it makes of every visitor a witness that the past stays as it was. */
export interface Seen {
  readonly size: number;
  /** Hash of the newest receipt then. */
  readonly hash: string;
  /** As `2026-07-01`. */
  readonly day: string;
}

const KEY = "sealoop-ledger-seen";

/** What was seen at an earlier visit; undefined: nothing, or the browser keeps nothing. */
export function seenBefore(): Seen | undefined {
  try {
    const { size, hash, day } = JSON.parse(localStorage.getItem(KEY) ?? "null") ?? {};
    const known = Number.isSafeInteger(size) && size > 0 && /^[0-9a-f]{64}$/.test(hash);
    return known && /^\d{4}-\d\d-\d\d$/.test(day) ? { size, hash, day } : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps what is seen now for the next visit. */
export function keepSeen(seen: Seen): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(seen));
  } catch {
    // A browser that keeps nothing is no witness; all else works.
  }
}

/** Forgets it. */
export function forgetSeen(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Then there was nothing to forget.
  }
}
