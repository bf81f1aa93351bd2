/** Decisions that rules would have made about calls of the past. */
import { setImmediate as breathe } from "node:timers/promises";
import { type Operation, SHIPPED_RULES, type Tier } from "../../contract/mod.ts";
import type { Decision } from "../../contract/domain/mod.ts";
import { namesOf } from "../platform.ts";
import type { Rule } from "./policy.ts";
import { type Facts, ruleFor, weighRule } from "./rules.ts";

/** A call as it is on record. */
export interface PastCall {
  readonly id: string;
  readonly at: Date;
  readonly tenant: string;
  readonly keyId: string;
  readonly principal: string;
  readonly tier: Tier;
  readonly mayApprove: boolean;
  readonly door: Facts["door"];
  readonly tool: string;
  readonly operation: Pick<
    Operation<never>,
    "name" | "tool" | "rest" | "effect" | "governance"
  >;
  /** Undefined: its arguments are sealed, and not kept where they could be read. */
  readonly input: Readonly<Record<string, unknown>> | undefined;
}

/** A rule that may have decided. Where there are several, it depends on arguments that are not known. */
export interface Outcome {
  readonly rule: string;
  readonly decision: Decision;
}

/** Calls between two pauses for others of the process. */
const BREATHE_EVERY = 100;

/**
 * Replays calls against the rules of a policy: by the same code as calls are decided by, without stops, guardrails and second
 * opinions. Calls are counted for `rate_over` from the first one on.
 *
 * @param calls oldest first
 * @param endMs `performance.now()` at which it ends, however many calls are left
 * @returns for each call that was replayed what may have decided, one outcome where that is certain
 */
export async function replayRules(
  calls: readonly PastCall[],
  rules: readonly Rule[],
  environment: string,
  endMs: number,
): Promise<(readonly Outcome[])[]> {
  const isRateOver = openRates();
  const outcomes: (readonly Outcome[])[] = [];
  for (const [n, call] of calls.entries()) {
    if (n % BREATHE_EVERY === 0) await breathe();
    if (performance.now() > endMs) break;
    outcomes.push(await replayCall(call, rules, factsOf(call, environment, isRateOver)));
  }
  return outcomes;
}

/** Returns the rules that may have decided, up to the first that certainly matches. */
async function replayCall(
  call: PastCall,
  rules: readonly Rule[],
  facts: Facts,
): Promise<readonly Outcome[]> {
  const possible: Outcome[] = [];
  let rest = rules.map((rule) => ({ rule, seen: withoutUnknown(rule, call.input !== undefined) }));
  for (;;) {
    const seen = await ruleFor(rest.map((one) => one.seen), facts);
    const at = rest.findIndex((one) => one.seen === seen);
    if (!seen || at === -1) return [...possible, ...shippedOutcomes(call)];
    possible.push(outcomeOf(seen, call));
    if (rest[at]!.rule === seen) return possible;
    rest = rest.slice(at + 1);
  }
}

/** Returns a rule without the conditions on what is not known; itself where it has none. */
function withoutUnknown(rule: Rule, hasInput: boolean): Rule {
  const { arguments: paths, blast_radius_over, ...when } = rule.when;
  if (blast_radius_over === undefined && (hasInput || paths === undefined)) return rule;
  return { ...rule, when: { ...when, ...(hasInput && paths ? { arguments: paths } : {}) } };
}

function shippedOutcomes(call: PastCall): readonly Outcome[] {
  const named = call.operation.governance?.rule;
  const names = typeof named !== "function"
    ? named === undefined ? [] : [named]
    : call.input !== undefined
    ? [named(call.input)]
    : Object.keys(SHIPPED_RULES) as (keyof typeof SHIPPED_RULES)[];
  return names.map((name) =>
    outcomeOf({ name, approvers: 1, passkey: false, ...SHIPPED_RULES[name] }, call)
  );
}

function outcomeOf(
  rule: Pick<Rule, "name" | "then" | "approvers" | "passkey">,
  call: Pick<PastCall, "door" | "mayApprove">,
): Outcome {
  return { rule: rule.name, decision: weighRule(rule, { ...call, signs: false }).decision };
}

function factsOf(
  { tenant, keyId, principal, tier, mayApprove, door, tool, operation, input, at }: PastCall,
  environment: string,
  isRateOver: ReturnType<typeof openRates>,
): Facts {
  return {
    names: [...new Set([tool, ...namesOf(operation, input)])],
    effect: operation.effect,
    humanControl: operation.governance?.humanControl === true,
    door,
    caller: { keyId, tenant, tier, principal, mayApprove, scope: "full", address: "" },
    environment,
    now: at,
    input: input ?? {},
    blastRadius: () => Promise.resolve(null), // conditions on it are left out
    isRateOver: (rule, calls, seconds) =>
      Promise.resolve(isRateOver(`${rule} ${keyId}`, at.getTime(), calls, seconds)),
  };
}

/** Returns the function that counts a call, and tells whether there were more than `calls` in the span before it. */
function openRates() {
  const times = new Map<string, number[]>();
  return (subject: string, atMs: number, calls: number, seconds: number): boolean => {
    const recent = (times.get(subject) ?? []).filter((one) => one > atMs - seconds * 1_000);
    recent.push(atMs);
    times.set(subject, recent.slice(-calls - 1));
    return recent.length > calls;
  };
}
