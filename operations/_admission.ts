import type { Settings } from "../config.ts";
import {
  type Allowance,
  type Caller,
  type Door,
  type Operation,
  Problem,
} from "../contract/mod.ts";
import type { Meter } from "../store/mod.ts";

const DAY = 86_400;
const MINUTE = 60;

/** The gate that counts: a day's requests over REST, a minute's calls on the tool server. */
export function admission(
  meter: Meter,
  settings: Settings,
): (
  operation: Pick<Operation, "counted" | "perMinute">,
  caller: Caller,
  door: Door,
) => Promise<Allowance | undefined> {
  const perDay = {
    free: settings.SEALOOP_LIMIT_FREE,
    partner: settings.SEALOOP_LIMIT_PARTNER,
    enterprise: settings.SEALOOP_LIMIT_ENTERPRISE,
    admin: undefined,
  };
  const ofMinute = toolAdmission(meter, settings);
  const own = { simulate: settings.SEALOOP_LIMIT_SIMULATE };
  return async (operation, caller, door) => {
    const allowance = await ofAll(operation, caller, door);
    const kind = operation.perMinute;
    if (!kind) return allowance;
    return await take(meter, caller, kind, own[kind], MINUTE, `${own[kind]}/minute of ${kind}`);
  };

  async function ofAll({ counted }: Pick<Operation, "counted">, caller: Caller, door: Door) {
    if (door !== "rest") return await ofMinute(caller);
    const limit = perDay[caller.tier];
    if (counted === false || limit === undefined) return undefined;
    return await take(meter, caller, "requests", limit, DAY, `${limit}/day`);
  }
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
  if (limit !== undefined) await take(meter, caller, kind, limit, DAY, `${limit}/day`);
}

/** Counts one request to the tool server, whatever it asks for. */
export function toolAdmission(
  meter: Meter,
  { SEALOOP_LIMIT_TOOLS: limit }: Settings,
): (caller: Caller) => Promise<Allowance> {
  return (caller) => take(meter, caller, "tools", limit, MINUTE, `${limit}/minute`);
}

async function take(
  meter: Meter,
  caller: Caller,
  kind: string,
  limit: number,
  periodSeconds: number,
  words: string,
): Promise<Allowance> {
  const subject = caller.keyId ?? `address:${caller.address}`;
  const { allowed, remaining, resetSeconds } = await meter.count({
    subject,
    kind,
    limit,
    periodSeconds,
  });
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
