import type { Settings } from "../config.ts";
import {
  type Allowance,
  type Caller,
  type Door,
  type Operation,
  Problem,
} from "../contract/mod.ts";
import type { UsageCount, UsageMeter, Use } from "../store/calls/mod.ts";
import type { Platform } from "./platform.ts";
import type { CheckedCall } from "./run.ts";

const DAY_SECONDS = 86_400;
const MINUTE_SECONDS = 60;

/** Counts a call against every limit that it has, and returns what is left of the last. @throws {Problem} `RateLimited` */
export async function countCall(
  { usage, config: { settings } }: Pick<Platform, "usage" | "config">,
  operation: Pick<Operation, "governance">,
  caller: Caller,
  door: Door,
): Promise<Allowance | undefined> {
  const all: AnonymousUse | undefined =
    caller.keyId === null && operation.governance?.limits?.counted !== false
      ? { subject: ALL, kind: "requests", limit: settings.SEALOOP_LIMIT_ALL_ANONYMOUS }
      : undefined;
  // Before a row is stored for the address, so that many addresses store no more rows than the limit says.
  if (all) refuseUsedUp(usage, all);
  let allowance: Allowance | undefined;
  for (const limit of limitsOf(operation, caller, door, settings)) {
    allowance = await count(usage, limit);
  }
  if (all) await countAnonymous(usage, all);
  return allowance;
}

/** Counts a request to the tool server that calls no operation. @throws {Problem} `RateLimited` */
export async function countToolRequest(
  { usage, config: { settings } }: Pick<Platform, "usage" | "config">,
  caller: Caller,
): Promise<Allowance> {
  return await count(usage, toolLimit(caller, settings));
}

/**
 * Counts what a caller without a key will have stored, before anything is: its receipt, and the bytes of that and of the
 * private evidence. An address has its limits, and so have all of them together, so that nobody fills disk or chain.
 *
 * @throws {Problem} `RateLimited`
 */
export async function countAnonymousReceipt(
  { usage, config: { settings } }: Pick<Platform, "usage" | "config">,
  { operation, caller, input }: Pick<CheckedCall, "operation" | "caller" | "input">,
): Promise<void> {
  const { effect, access, governance } = operation;
  if (caller.keyId !== null || effect === "read" || access === "device") return;
  if (governance?.limits?.perMinute === "sign_in") return; // it seals only what has succeeded
  // Evidence holds the input as JSON within JSON, which is twice as long at most, beside the answer.
  const amount = 2 * Buffer.byteLength(JSON.stringify(input)) + ANSWER_BYTES;
  const ownSubject = subjectOf(caller);
  const limits = [
    { subject: ownSubject, kind: "receipts", limit: settings.SEALOOP_LIMIT_ANONYMOUS_RECEIPTS },
    { subject: ownSubject, kind: "bytes", limit: settings.SEALOOP_LIMIT_ANONYMOUS_BYTES, amount },
    { subject: ALL, kind: "receipts", limit: settings.SEALOOP_LIMIT_ALL_ANONYMOUS_RECEIPTS },
    { subject: ALL, kind: "bytes", limit: settings.SEALOOP_LIMIT_ALL_ANONYMOUS_BYTES, amount },
  ];
  for (const limit of limits) await countAnonymous(usage, limit);
}

const ANSWER_BYTES = 16 * 1024;
/** Subject of the counts of all callers without a key. */
const ALL = "anonymous";
const KIND_NAMES: Readonly<Record<string, string>> = {
  requests: "requests",
  receipts: "sealed requests",
  bytes: "bytes of sealed requests",
};

/** A use of a day by a caller without a key. */
type AnonymousUse = Omit<Use, "periodSeconds">;

/** @throws {Problem} `RateLimited` */
async function countAnonymous(usage: UsageMeter, use: AnonymousUse): Promise<void> {
  const count = await usage.count({ ...use, periodSeconds: DAY_SECONDS });
  if (!count.allowed) throw anonymousRefusal(use, count);
}

/** @throws {Problem} `RateLimited`: the limit is known to be used up */
function refuseUsedUp(usage: UsageMeter, use: AnonymousUse): void {
  const count = usage.usedUp({ ...use, periodSeconds: DAY_SECONDS });
  if (count) throw anonymousRefusal(use, count);
}

function anonymousRefusal(
  { subject, kind, limit }: AnonymousUse,
  { resetSeconds }: UsageCount,
): Problem {
  const who = subject === ALL ? "All callers without a key together have" : "Your address has";
  const message =
    `${who} used up the ${KIND_NAMES[kind]} of this day (${limit}); ask your operator ` +
    `for a key, which has limits of its own, or come back in ${resetSeconds} seconds`;
  return rateLimited(message, limit, resetSeconds);
}

/** Counts a call that is about to run against the daily limit of its operation. Tier admin has none. @throws {Problem} `RateLimited` */
export async function countDaily(
  { usage, config: { settings } }: Pick<Platform, "usage" | "config">,
  { operation, caller }: Pick<CheckedCall, "operation" | "caller">,
): Promise<void> {
  const kind = operation.governance?.limits?.perDay;
  if (kind === undefined) return;
  if (kind !== "classify") return await countForm(usage, settings, caller, kind);
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

/** Counts one use of a public form, of whoever sends it: of an address, and of all. @throws {Problem} `RateLimited` */
async function countForm(
  usage: UsageMeter,
  settings: Settings,
  { address }: Caller,
  kind: "applications" | "leads" | "posts",
): Promise<void> {
  const [ownLimit, allLimit] = {
    applications: [settings.SEALOOP_LIMIT_APPLICATIONS, settings.SEALOOP_LIMIT_ALL_APPLICATIONS],
    leads: [settings.SEALOOP_LIMIT_LEADS, settings.SEALOOP_LIMIT_ALL_LEADS],
    posts: [settings.SEALOOP_LIMIT_POSTS, settings.SEALOOP_LIMIT_ALL_POSTS],
  }[kind] as [number, number];
  const own = { subject: `address:${address}`, limit: ownLimit };
  const all = { subject: "everybody", limit: allLimit };
  for (const limit of [own, all]) {
    await count(usage, { ...limit, kind, periodSeconds: DAY_SECONDS });
  }
}

/** Counts one call whose answer is kept for its idempotency key. @throws {Problem} `RateLimited` */
export async function countKeptCall(
  { usage, config: { settings } }: Pick<Platform, "usage" | "config">,
  { keyId }: Caller,
): Promise<void> {
  const limit = settings.SEALOOP_LIMIT_IDEMPOTENCY;
  const subject = keyId ?? ALL; // addresses are too many to count each
  await count(usage, { subject, kind: "idempotency", limit, periodSeconds: DAY_SECONDS });
}

/**
 * Over REST a day's requests, in a session and on the tool server a minute's calls; then the operation's own limit a minute.
 */
function limitsOf(
  { governance }: Pick<Operation, "governance">,
  caller: Caller,
  door: Door,
  settings: Settings,
): Use[] {
  const { counted, perMinute: kind } = governance?.limits ?? {};
  const subject = subjectOf(caller);
  const perDay = {
    free: settings.SEALOOP_LIMIT_FREE,
    partner: settings.SEALOOP_LIMIT_PARTNER,
    enterprise: settings.SEALOOP_LIMIT_ENTERPRISE,
    admin: undefined,
  }[caller.tier];
  const limits: Use[] = [];
  if (caller.session) { // its pages ask again with each piece of news, all day long
    const limit = settings.SEALOOP_LIMIT_CONSOLE;
    limits.push({ subject, kind: "console", limit, periodSeconds: MINUTE_SECONDS });
  } else if (door !== "rest") {
    limits.push(toolLimit(caller, settings));
  } else if (counted !== false && perDay !== undefined) {
    limits.push({ subject, kind: "requests", limit: perDay, periodSeconds: DAY_SECONDS });
  }
  if (kind) {
    const limit = {
      simulate: settings.SEALOOP_LIMIT_SIMULATE,
      heartbeats: settings.SEALOOP_LIMIT_HEARTBEATS,
      statements: settings.SEALOOP_LIMIT_STATEMENTS,
      sign_in: settings.SEALOOP_LIMIT_SIGN_IN,
    }[kind];
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
  heartbeats: " of heartbeats",
  statements: " of statements",
  sign_in: " of signing in",
  console: " of the console",
  idempotency: " with idempotency keys",
  applications: " of applications",
  leads: " of leads",
  posts: " of posts",
};

async function count(usage: UsageMeter, use: Use): Promise<Allowance> {
  const { limit, periodSeconds } = use;
  const { allowed, remaining, resetSeconds } = await usage.count(use);
  if (allowed) return { limit, remaining, resetSeconds };
  const perMinute = periodSeconds === MINUTE_SECONDS;
  const period = perMinute ? "minute" : "day";
  const kind = OWN_LIMITS[use.kind] ?? "";
  const advice = perMinute ? `; wait ${resetSeconds} seconds` : "";
  const message = `Rate limit exceeded (${limit}/${period}${kind})${advice}`;
  throw rateLimited(message, limit, resetSeconds);
}

function rateLimited(message: string, limit: number, resetSeconds: number): Problem {
  return new Problem("RateLimited", message, {
    headers: {
      "retry-after": String(resetSeconds),
      "ratelimit-limit": String(limit),
      "ratelimit-remaining": "0",
      "ratelimit-reset": String(resetSeconds),
    },
  });
}
