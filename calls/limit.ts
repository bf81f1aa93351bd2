import type { Settings } from "../config.ts";
import {
  type Allowance,
  type Caller,
  type Door,
  type Operation,
  Problem,
} from "../contract/mod.ts";
import type { UsageMeter, Use } from "../store/mod.ts";
import type { Platform } from "./platform.ts";

const DAY_SECONDS = 86_400;
const MINUTE_SECONDS = 60;

/** Counts a call against every limit that it has, and returns what is left of the last. @throws {Problem} `RateLimited` */
export async function countCall(
  { usage, config: { settings } }: Pick<Platform, "usage" | "config">,
  operation: Pick<Operation, "counted" | "perMinute">,
  caller: Caller,
  door: Door,
): Promise<Allowance | undefined> {
  let allowance: Allowance | undefined;
  for (const limit of limitsOf(operation, caller, door, settings)) {
    allowance = await count(usage, limit);
  }
  return allowance;
}

/** Counts a request to the tool server that calls no operation. @throws {Problem} `RateLimited` */
export async function countToolRequest(
  { usage, config: { settings } }: Pick<Platform, "usage" | "config">,
  caller: Caller,
): Promise<Allowance> {
  return await count(usage, toolLimit(caller, settings));
}

/** Counts one use of what has a daily limit of its own. Tier admin has none. @throws {Problem} `RateLimited` */
export async function countDaily(
  { usage, config: { settings } }: Pick<Platform, "usage" | "config">,
  caller: Caller,
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
  await count(usage, { subject, kind, limit, periodSeconds: DAY_SECONDS });
}

/** Counts one call whose answer is kept for its idempotency key. @throws {Problem} `RateLimited` */
export async function countKeptCall(
  { usage, config: { settings } }: Pick<Platform, "usage" | "config">,
  { keyId }: Caller,
): Promise<void> {
  const limit = settings.SEALOOP_LIMIT_IDEMPOTENCY;
  const subject = keyId ?? "anonymous"; // addresses are too many to count each
  await count(usage, { subject, kind: "idempotency", limit, periodSeconds: DAY_SECONDS });
}

/** Over REST a day's requests, on the tool server a minute's calls; then the operation's own limit a minute. */
function limitsOf(
  { counted, perMinute: kind }: Pick<Operation, "counted" | "perMinute">,
  caller: Caller,
  door: Door,
  settings: Settings,
): Use[] {
  const subject = subjectOf(caller);
  const perDay = {
    free: settings.SEALOOP_LIMIT_FREE,
    partner: settings.SEALOOP_LIMIT_PARTNER,
    enterprise: settings.SEALOOP_LIMIT_ENTERPRISE,
    admin: undefined,
  }[caller.tier];
  const limits: Use[] = [];
  if (door !== "rest") {
    limits.push(toolLimit(caller, settings));
  } else if (counted !== false && perDay !== undefined) {
    limits.push({ subject, kind: "requests", limit: perDay, periodSeconds: DAY_SECONDS });
  }
  if (kind) {
    const limit = { simulate: settings.SEALOOP_LIMIT_SIMULATE }[kind];
    limits.push({ subject, kind, limit, periodSeconds: MINUTE_SECONDS });
  }
  return limits;
}

function toolLimit(caller: Caller, { SEALOOP_LIMIT_TOOLS: limit }: Settings): Use {
  return { subject: subjectOf(caller), kind: "tools", limit, periodSeconds: MINUTE_SECONDS };
}

const subjectOf = ({ keyId, address }: Caller) => keyId ?? `address:${address}`;

/** The kinds of calls that have a limit besides that of all calls, as the refusal names them. */
const OWN_LIMITS: Readonly<Record<string, string>> = {
  simulate: " of simulate",
  idempotency: " with idempotency keys",
};

async function count(usage: UsageMeter, use: Use): Promise<Allowance> {
  const { limit, periodSeconds } = use;
  const { allowed, remaining, resetSeconds } = await usage.count(use);
  if (allowed) return { limit, remaining, resetSeconds };
  const perMinute = periodSeconds === MINUTE_SECONDS;
  const period = perMinute ? "minute" : "day";
  const kind = OWN_LIMITS[use.kind] ?? "";
  const advice = perMinute ? `; wait ${resetSeconds} seconds` : "";
  throw new Problem("RateLimited", `Rate limit exceeded (${limit}/${period}${kind})${advice}`, {
    headers: {
      "retry-after": String(resetSeconds),
      "ratelimit-limit": String(limit),
      "ratelimit-remaining": "0",
      "ratelimit-reset": String(resetSeconds),
    },
  });
}
