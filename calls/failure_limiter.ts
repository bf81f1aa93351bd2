import { Problem } from "../contract/mod.ts";

/** Limits how often an address may send credentials that are wrong. Counts in memory, so that attempts fill no disk. */
export interface FailureLimiter {
  /** Returns whether the address has failed too often in this minute. */
  isOver(address: string): boolean;
  /**
   * Refuses an attempt before it costs anything.
   *
   * @param address as anonymous callers are counted: of IPv6 the /64
   * @param what for the error: `unknown keys`
   * @throws {Problem} `RateLimited`: the address has failed too often in this minute
   */
  check(address: string, what: string): void;
  /** Counts a failure. Attempts that are under way at once are counted when they fail, so that right ones never are. */
  count(address: string): void;
}

const PERIOD_MS = 60_000;
/** Further addresses share one count. */
const MAX_ADDRESSES = 10_000;
const OTHERS = "others";

/** Opens a limiter of this process. @param limit failures a minute of an address, ≥ 0 */
export function openFailureLimiter(limit: number): FailureLimiter {
  let failures = new Map<string, number>();
  let periodEnd = 0;

  function countedName(address: string): string {
    const now = Date.now();
    if (now >= periodEnd) {
      failures = new Map();
      periodEnd = now + PERIOD_MS;
    }
    return failures.has(address) || failures.size < MAX_ADDRESSES ? address : OTHERS;
  }

  const isOver = (address: string) => (failures.get(countedName(address)) ?? 0) >= limit;

  return {
    isOver,
    check(address, what) {
      if (isOver(address)) throw tooMany(what, limit, periodEnd);
    },
    count(address) {
      const name = countedName(address);
      failures.set(name, (failures.get(name) ?? 0) + 1);
    },
  };
}

function tooMany(what: string, limit: number, periodEnd: number): Problem {
  const seconds = Math.max(1, Math.ceil((periodEnd - Date.now()) / 1_000));
  return new Problem(
    "RateLimited",
    `Your address has sent too many ${what} (${limit}/minute); wait ${seconds} seconds, and send the one that your ` +
      "operator gave you",
    {
      headers: {
        "retry-after": String(seconds),
        "ratelimit-limit": String(limit),
        "ratelimit-remaining": "0",
        "ratelimit-reset": String(seconds),
      },
    },
  );
}
