/** Which rule of a policy decides on a call. */
import type { Caller, Door, Effect } from "../../contract/mod.ts";
import { fitsPattern } from "./patterns.ts";
import { DAYS, type Rule, SHIPPED } from "./policy.ts";

/** What rules look at. */
export interface Facts {
  /** Every name that the tool goes by: the one used, its other doors', and the operation's. */
  readonly names: readonly string[];
  readonly effect: Effect;
  /** Whether people decide or stop by it: then nobody is asked about it. */
  readonly humanControl: boolean;
  readonly door: Door;
  readonly caller: Caller;
  readonly environment: string;
  readonly now: Date;
  readonly input: Readonly<Record<string, unknown>>;
  /** How many services it reaches, by the service graph; null: the graph knows nothing of what it is about. */
  blastRadius(): Promise<number | null>;
  /** Counts one call of the key for a rule. @returns whether it is above so many in a span of that length */
  isOver(rule: string, calls: number, seconds: number): Promise<boolean>;
}

/**
 * The first rule that fits: those of the policy, then those that ship, of which the last one always does. One that asks
 * people passes by what they decide by: an approval that waits for an approval would never end.
 */
export async function ruleFor(rules: readonly Rule[], facts: Facts): Promise<Rule> {
  for (const rule of [...rules, ...SHIPPED]) {
    if (facts.humanControl && rule.then === "needs_approval") continue;
    if (await fits(rule, facts)) return rule;
  }
  throw new Error("No rule fits, though the last one that ships fits every call");
}

async function fits({ name, when, then }: Rule, facts: Facts): Promise<boolean> {
  const { caller } = facts;
  const plain = oneOf(when.tools, facts.names) && has(when.effects, facts.effect) &&
    has(when.doors, facts.door) && oneOf(when.tenants, [caller.tenant]) &&
    has(when.keys, caller.keyId) && oneOf(when.principals, [caller.principal]) &&
    has(when.tiers, caller.tier) && oneOf(when.environments, [facts.environment]) &&
    (!when.hours || isWithin(when.hours, facts.now)) &&
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
  return await facts.isOver(name, when.rate_over.calls, when.rate_over.seconds); // last, as it counts
}

function has(wanted: readonly unknown[] | undefined, value: unknown): boolean {
  return wanted === undefined || wanted.includes(value);
}

function oneOf(wanted: readonly string[] | undefined, values: readonly string[]): boolean {
  return wanted === undefined ||
    wanted.some((glob) => values.some((value) => fitsGlob(glob, value)));
}

/** Whether a name fits a pattern, in which `*` stands for anything. */
export function fitsGlob(glob: string, value: string): boolean {
  const [start = "", ...parts] = glob.split("*");
  const end = parts.pop();
  if (end === undefined) return glob === value;
  let at = start.length;
  if (!value.startsWith(start) || !value.endsWith(end)) return false;
  for (const part of parts) { // the first place of each is the right one: what is left is longest then
    const found = value.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at + end.length <= value.length;
}

/** Whether a moment is in a span of the day, which may go past midnight. */
export function isWithin(
  { from, to, days, zone }: NonNullable<Rule["when"]["hours"]>,
  now: Date,
): boolean {
  const parts = new Intl.DateTimeFormat("en-US", {
    ...{ timeZone: zone, weekday: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
  }).formatToParts(now);
  const part = (type: string) => parts.find((one) => one.type === type)!.value;
  const time = `${part("hour")}:${part("minute")}`;
  const today = DAYS.indexOf(part("weekday").toLowerCase() as typeof DAYS[number]);
  const overnight = to <= from;
  const inside = overnight ? time >= from || time < to : time >= from && time < to;
  const began = overnight && time < to ? (today + 6) % 7 : today;
  return inside && (days === undefined || days.includes(DAYS[began]!));
}

/** What is at a path; of a list, what is there in each entry. */
function valuesAt(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value.flatMap((entry) => valuesAt(entry, path));
  const [name, ...rest] = path;
  if (name === undefined) return value === undefined ? [] : [value];
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return [];
  return valuesAt((value as Record<string, unknown>)[name], rest);
}
