import type { Settings } from "../config.ts";
import {
  type Allowance,
  type Caller,
  type Door,
  type Operation,
  Problem,
} from "../contract/mod.ts";
import type { Turn } from "./governance/mod.ts";
import type { Count, Meter, Use } from "../store/mod.ts";

const DAY = 86_400;
const MINUTE = 60;

/** What is counted of a call, and what is said of it. */
export interface Limit extends Use {
  /** As `100/day`. */
  readonly words: string;
}

/** Finds what is counted of a call, in this order: a day's requests over REST, a minute's calls on the tool server. */
export function limitsOf(
  { counted, perMinute: kind }: Pick<Operation, "counted" | "perMinute">,
  caller: Caller,
  door: Door,
  settings: Settings,
): Limit[] {
  const subject = subjectOf(caller);
  const perDay = {
    free: settings.SEALOOP_LIMIT_FREE,
    partner: settings.SEALOOP_LIMIT_PARTNER,
    enterprise: settings.SEALOOP_LIMIT_ENTERPRISE,
    admin: undefined,
  }[caller.tier];
  const own = { simulate: settings.SEALOOP_LIMIT_SIMULATE };
  const limits: Limit[] = [];
  if (door !== "rest") limits.push(ofTools(subject, settings));
  else if (counted !== false && perDay !== undefined) {
    const words = `${perDay}/day`;
    limits.push({ subject, kind: "requests", limit: perDay, periodSeconds: DAY, words });
  }
  if (kind) {
    const words = `${own[kind]}/minute of ${kind}`;
    limits.push({ subject, kind, limit: own[kind], periodSeconds: MINUTE, words });
  }
  return limits;
}

/** Where calls are counted, one turn each. */
export interface Admission {
  /** Opens the counting of one call. */
  open(limits: readonly Limit[]): Turn;
  /**
   * Takes one of the uses that this process knows to be left, for a call that is counted only as it ends: so no more of
   * them run at once than their limit allows, as far as is known here.
   *
   * @returns to be called when it has ended; undefined: nothing is known to be left
   */
  ahead(use: Use): (() => void) | undefined;
}

/** What is left of a limit, as this process was last told. */
interface Left {
  /** Number of the period since 1970. */
  period: number;
  uses: number;
  /** Of these, taken by calls that have not been counted yet. */
  ahead: number;
}

const MOST_KNOWN = 10_000;

/** Opens the admission. */
export function openAdmission(meter: Meter): Admission {
  const known = new Map<string, Left>();
  const nameOf = ({ subject, kind }: Use) => `${kind} ${subject}`;
  const periodOf = ({ periodSeconds }: Use) => Math.floor(Date.now() / 1000 / periodSeconds);

  function learn(use: Use, { allowed, remaining }: Count): void {
    const [period, uses] = [periodOf(use), allowed ? remaining : 0];
    const left = known.get(nameOf(use));
    if (!left) {
      if (known.size >= MOST_KNOWN) known.clear();
      known.set(nameOf(use), { period, uses, ahead: 0 });
    } else if (left.period !== period) Object.assign(left, { period, uses });
    else left.uses = Math.min(left.uses, uses); // what is told first may come last
  }

  return {
    open: (limits) => openTurn(meter, limits, learn),
    ahead(use) {
      const left = known.get(nameOf(use));
      if (!left || left.period !== periodOf(use) || left.uses <= left.ahead) return undefined;
      left.ahead++;
      return () => void left.ahead--;
    },
  };
}

function openTurn(
  meter: Meter,
  limits: readonly Limit[],
  learn: (use: Use, count: Count) => void,
): Turn {
  let counting: Promise<Allowance | undefined> | undefined;
  async function all(): Promise<Allowance | undefined> {
    let allowance: Allowance | undefined;
    for (const limit of limits) allowance = told(limit, await meter.count(useOf(limit)));
    return allowance;
  }
  function told(limit: Limit, count: Count): Allowance {
    learn(limit, count);
    return allowanceOf(limit, count);
  }
  return {
    get use() {
      return counting || limits.length !== 1 ? undefined : useOf(limits[0]!);
    },
    count: () => counting ??= all(),
    counted: (count) => (counting = new Promise((resolve) => resolve(told(limits[0]!, count)))),
  };
}

/** Counts one use of what has a daily limit of its own. The admin tier has none. @throws {Problem} `RateLimited` */
export async function takeDay(
  { meter, config: { settings }, caller }: {
    readonly meter: Meter;
    readonly config: { readonly settings: Settings };
    readonly caller: Caller;
  },
  kind: "classify",
): Promise<void> {
  const limit = {
    free: settings.SEALOOP_LIMIT_CLASSIFY_FREE,
    partner: settings.SEALOOP_LIMIT_CLASSIFY_PARTNER,
    enterprise: settings.SEALOOP_LIMIT_CLASSIFY_ENTERPRISE,
    admin: undefined,
  }[caller.tier];
  if (limit === undefined) return;
  const subject = subjectOf(caller);
  await take(meter, { subject, kind, limit, periodSeconds: DAY, words: `${limit}/day` });
}

/** Counts one request to the tool server, whatever it asks for. */
export function toolAdmission(
  meter: Meter,
  settings: Settings,
): (caller: Caller) => Promise<Allowance> {
  return (caller) => take(meter, ofTools(subjectOf(caller), settings));
}

function ofTools(subject: string, { SEALOOP_LIMIT_TOOLS: limit }: Settings): Limit {
  return { subject, kind: "tools", limit, periodSeconds: MINUTE, words: `${limit}/minute` };
}

function subjectOf({ keyId, address }: Caller): string {
  return keyId ?? `address:${address}`;
}

async function take(meter: Meter, limit: Limit): Promise<Allowance> {
  return allowanceOf(limit, await meter.count(useOf(limit)));
}

function useOf({ words: _, ...use }: Limit): Use {
  return use;
}

/** What is left of a limit. @throws {Problem} `RateLimited` */
function allowanceOf(
  { limit, periodSeconds, words }: Limit,
  { allowed, remaining, resetSeconds }: Count,
): Allowance {
  if (allowed) return { limit, remaining, resetSeconds };
  const where = periodSeconds === MINUTE ? `; wait ${resetSeconds} seconds` : "";
  throw new Problem("RateLimited", `Rate limit exceeded (${words})${where}`, {
    headers: {
      "retry-after": String(resetSeconds),
      "ratelimit-limit": String(limit),
      "ratelimit-remaining": "0",
      "ratelimit-reset": String(resetSeconds),
    },
  });
}
