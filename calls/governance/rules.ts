import type { Caller, Door, Effect } from "../../contract/mod.ts";
import type { Decision } from "../../contract/domain/mod.ts";
import { fitsPattern } from "./patterns.ts";
import { DAYS, type Rule } from "./policy.ts";

/** Facts about a call that rules match. */
export interface Facts {
  /** Every name of the tool: the one used, those of its other interfaces, and the operation's. */
  readonly names: readonly string[];
  readonly effect: Effect;
  /** True: people decide or stop by it, so no rule asks people about it. */
  readonly humanControl: boolean;
  readonly door: Door;
  readonly caller: Caller;
  readonly environment: string;
  readonly now: Date;
  readonly input: Readonly<Record<string, unknown>>;
  /** Returns how many services it reaches, by the service graph; null: the graph does not know the target. */
  blastRadius(): Promise<number | null>;
  /** Counts one call of the key for a rule, and returns whether there are more than `calls` in the period. */
  isRateOver(rule: string, calls: number, seconds: number): Promise<boolean>;
}

/** Result of a rule for a call. */
interface Weight {
  readonly decision: Decision;
  /** Number of people who must approve besides the caller, ≥ 1. */
  readonly approvers: number;
  /** True: a rule asks people, and the caller is one of them, by this very call over REST. */
  readonly callerApproves: boolean;
}

/** Parts of a call that count for the weight of a rule. */
interface Voter {
  readonly door: Door;
  /** True: the key may approve. */
  readonly mayApprove: boolean;
  /** True: a person who has signed in, and may approve with a passkey. */
  readonly signs: boolean;
}

/** Weighs a rule that matches: the call itself may be one of the approvals that it asks for, unless that takes a passkey. */
export function weighRule(
  { then, approvers, passkey }: Pick<Rule, "then" | "approvers" | "passkey">,
  { door, mayApprove, signs }: Voter,
): Weight {
  const callerApproves = then === "needs_approval" && door === "rest" &&
    (signs || mayApprove && !passkey);
  const others = approvers - (callerApproves ? 1 : 0);
  return {
    decision: others > 0 ? then : "allow",
    approvers: Math.max(others, 1),
    callerApproves,
  };
}

/**
 * Returns the first rule of a policy that matches, or undefined. A rule that asks people skips operations by which they
 * decide, as an approval of an approval would never end.
 */
export async function ruleFor(rules: readonly Rule[], facts: Facts): Promise<Rule | undefined> {
  for (const rule of rules) {
    if (facts.humanControl && rule.then === "needs_approval") continue;
    if (await fits(rule, facts)) return rule;
  }
  return undefined;
}

async function fits({ name, when, then }: Rule, facts: Facts): Promise<boolean> {
  const { caller } = facts;
  const plain = oneOf(when.tools, facts.names) && has(when.effects, facts.effect) &&
    has(when.doors, facts.door) && oneOf(when.tenants, [caller.tenant]) &&
    has(when.keys, caller.keyId) && oneOf(when.principals, [caller.principal]) &&
    has(when.tiers, caller.tier) && oneOf(when.environments, [facts.environment]) &&
    (!when.hours || isWithinHours(when.hours, facts.now)) &&
    Object.entries(when.arguments ?? {}).every(([path, pattern]) =>
      fitsPattern(
        valuesAt(facts.input, path.split(".")),
        pattern,
        then === "allow" ? "allow" : "restrict",
      )
    );
  if (!plain) return false;
  if (when.blast_radius_over !== undefined) {
    const reached = await facts.blastRadius();
    if (reached === null || reached <= when.blast_radius_over) return false;
  }
  if (!when.rate_over) return true;
  return await facts.isRateOver(name, when.rate_over.calls, when.rate_over.seconds); // last, since asking counts the call
}

function has(wanted: readonly unknown[] | undefined, value: unknown): boolean {
  return wanted === undefined || wanted.includes(value);
}

function oneOf(wanted: readonly string[] | undefined, values: readonly string[]): boolean {
  return wanted === undefined ||
    wanted.some((glob) => values.some((value) => matchesGlob(glob, value)));
}

/** Returns whether a name matches a pattern, in which `*` stands for any text. */
export function matchesGlob(glob: string, value: string): boolean {
  const [start = "", ...parts] = glob.split("*");
  const end = parts.pop();
  if (end === undefined) return glob === value;
  let at = start.length;
  if (!value.startsWith(start) || !value.endsWith(end)) return false;
  for (const part of parts) { // the first match of each part leaves the most text for the others
    const found = value.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at + end.length <= value.length;
}

/** Returns whether a moment is within hours of a day, which may go past midnight. */
export function isWithinHours(
  { from, to, days, zone }: NonNullable<Rule["when"]["hours"]>,
  now: Date,
): boolean {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    weekday: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).formatToParts(now);
  const part = (type: string) => parts.find((one) => one.type === type)!.value;
  const time = `${part("hour")}:${part("minute")}`;
  const today = DAYS.indexOf(part("weekday").toLowerCase() as typeof DAYS[number]);
  const overnight = to <= from;
  const inside = overnight ? time >= from || time < to : time >= from && time < to;
  const began = overnight && time < to ? (today + 6) % 7 : today;
  return inside && (days === undefined || days.includes(DAYS[began]!));
}

/** Returns the values at a path; of a list, those in each entry. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((entry) => valuesAt(entry, path));
  const [name, ...rest] = path;
  if (name === undefined) return value === undefined ? [] : [value];
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return [];
  return valuesAt((value as Record<string, unknown>)[name], rest);
}
