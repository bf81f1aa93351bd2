import { asProblem, SHIPPED_RULES, shippedRuleOf } from "../../contract/mod.ts";
import { stricter } from "../../contract/domain/mod.ts";
import { type Stop, stopFor, type UsageMeter } from "../../store/calls/mod.ts";
import { listActiveFreezes } from "../../store/calendar/mod.ts";
import { listReached } from "../../store/cmdb/mod.ts";
import { namesOf, type Platform } from "../platform.ts";
import type { CheckedCall } from "../run.ts";
import type { Evaluation } from "./_evaluation.ts";
import { withOpinion } from "./_opinion.ts";
import { hasFreeText, judgeText, targetOf } from "./guardrails.ts";
import type { Rule } from "./policy.ts";
import { ruleFor, weighRule } from "./rules.ts";

type Parts = Pick<Platform, "store" | "usage" | "config" | "adviser">;

/**
 * Decides about a call by stops, then by the policy's rules or the operation's shipped rule, then by the guardrails where
 * the rule wants them: on its text, and on every such call that may change something while changes are frozen. A second opinion, where one is
 * configured, can only make that stricter; people who decide or stop do not depend on it.
 *
 * A call over REST by a key that may approve is that person's own decision: it counts as one of the approvals that a rule
 * asks for, unless that rule takes passkeys. One by a person who has signed in counts once their passkey has signed it, which
 * is still to be asked for. What the guardrails leave to people is left to somebody else.
 */
export async function evaluate(
  parts: Platform,
  call: CheckedCall,
  stops: readonly Stop[],
  rules: readonly Rule[],
): Promise<Evaluation> {
  const { operation, request, caller } = call;
  const names = [...new Set([request.as, ...namesOf(operation, call.input)])]; // or a rule could be bypassed by another interface
  const subject = { keyId: caller.keyId, names };
  const active = stops.filter((stop) =>
    stopFor([stop], subject) && !(stop.kind === "all" && operation.governance?.humanControl)
  );
  if (active.length > 0) return stopped(active);
  const evaluation = await evaluateRules(parts, call, names, rules);
  const changes = evaluation.guardrails && operation.effect !== "read" &&
    (await operation.governance?.changes?.(call.input, parts) ?? true);
  const isJudged = evaluation.guardrails &&
    (operation.governance?.judgedAction !== undefined || hasFreeText(call.input) ||
      changes && (await listActiveFreezes(parts.store.db)).length > 0);
  const judged = isJudged ? await withGuardrails(parts, call, evaluation, changes) : evaluation;
  return await withOpinion(parts, call, names, judged);
}

/** Decides about a call again, which was counted when it was decided about first. */
export async function evaluateAgain(
  parts: Platform,
  call: CheckedCall,
  stops: readonly Stop[],
  rules: readonly Rule[],
): Promise<Evaluation> {
  return await evaluate({ ...parts, usage: UNCOUNTED }, call, stops, rules);
}

/**
 * Returns how many people besides the caller the rules ask for now, 0 where they ask nobody, and whether they must approve by
 * passkey. The call was counted before.
 */
export async function approversByRules(
  parts: Parts,
  call: CheckedCall,
  rules: readonly Rule[],
): Promise<{ readonly needed: number; readonly passkey: boolean }> {
  const names = [call.request.as, ...namesOf(call.operation, call.input)];
  const uncounted = { ...parts, usage: UNCOUNTED };
  const { decision, approvers, passkey } = await evaluateRules(uncounted, call, names, rules);
  return { needed: decision === "needs_approval" ? approvers : 0, passkey };
}

const UNCOUNTED: UsageMeter = {
  count: () => Promise.resolve({ allowed: true, remaining: 1, resetSeconds: 1 }),
  usedUp: () => undefined,
};

function stopped(stops: readonly Stop[]): Evaluation {
  const what = { all: "Everything that changes something", key: "This key", tool: "This tool" };
  const reasons = stops.map(({ kind, reason }) => `${what[kind]} is stopped: ${reason}`);
  const nobody = { approvers: 1, passkey: false, callerApproves: false, isGrantable: false };
  return { decision: "deny", rule: "stopped", reasons, ...nobody };
}

async function evaluateRules(
  { store, usage, config }: Parts,
  { operation, request, caller, input }: CheckedCall,
  names: readonly string[],
  rules: readonly Rule[],
): Promise<Evaluation & { readonly guardrails: boolean }> {
  const humanControl = operation.governance?.humanControl === true;
  const rule = await ruleFor(rules, {
    names,
    caller,
    environment: config.settings.SEALOOP_ENVIRONMENT,
    input,
    effect: operation.effect,
    door: request.door,
    humanControl,
    now: new Date(),
    async blastRadius() {
      const target = targetOf(input);
      const reached = target ? await listReached(store.db, target) : [];
      return reached.length > 0 ? reached.length : null;
    },
    async isRateOver(name, limit, periodSeconds) {
      const use = { subject: caller.keyId!, kind: `governance:${name}`, limit, periodSeconds };
      return !(await usage.count(use)).allowed;
    },
  }) ?? shippedRule(operation, input);
  const signs = caller.session?.mayApprove === true;
  const { decision, approvers, callerApproves } = weighRule(rule, {
    door: request.door,
    mayApprove: caller.mayApprove,
    signs,
  });
  const reasons = [rule.reason ?? `Rule ${rule.name} of the policy says so`];
  if (callerApproves) {
    const how = signs ? "decides about this call by their passkey" : "has decided by this call";
    reasons.push(`The caller may approve, and ${how}`);
  }
  return {
    decision,
    rule: rule.name,
    reasons,
    approvers,
    passkey: rule.passkey,
    callerApproves,
    isGrantable: decision === "needs_approval",
    guardrails: rule.guardrails && !humanControl && rule.then !== "deny",
  };
}

function shippedRule(operation: CheckedCall["operation"], input: CheckedCall["input"]) {
  const name = shippedRuleOf(operation, input);
  return { name, approvers: 1, passkey: false, ...SHIPPED_RULES[name] };
}

/** Has the guardrails read the call's text. While they can't be reached, the call is denied. */
async function withGuardrails(
  parts: Platform,
  { operation, request, caller, input }: CheckedCall,
  evaluation: Evaluation,
  changes: boolean,
): Promise<Evaluation> {
  const judged = await operation.governance?.judgedAction?.(input, parts);
  try {
    const { decision, reasons } = await judgeText(
      parts.engine,
      operation,
      request.as,
      input,
      caller.tenant,
      judged,
      changes,
    );
    const told = { ...evaluation, isGrantable: evaluation.isGrantable && decision === "allow" };
    if (stricter(decision, evaluation.decision) === evaluation.decision) return told;
    return { ...told, decision, rule: "guardrails", reasons, callerApproves: false };
  } catch (error) {
    const problem = asProblem(error);
    const reasons = [problem.message];
    const denial = { decision: "deny", rule: "guardrails-away", reasons, problem } as const;
    return { ...evaluation, ...denial, callerApproves: false, isGrantable: false };
  }
}
