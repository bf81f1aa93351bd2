/** What stops, rules and rails say of a call. */
import { asProblem, type Problem } from "../../contract/mod.ts";
import type { GovernedCall } from "../invoke.ts";
import type { Decision } from "../../domain/mod.ts";
import { getImpact, type Stop, stopsCall } from "../../store/mod.ts";
import type { GovernanceParts, Turn } from "./governor.ts";
import { hasFreeText, readByRails, targetOf } from "./guardrails.ts";
import type { Rule } from "./policy.ts";
import { ruleFor } from "./rules.ts";

/** A decision, before it is on record. */
export interface Verdict {
  readonly decision: Decision;
  readonly rule: string;
  readonly reasons: readonly string[];
  readonly approvers: number;
  /** Thrown where it is a denial; absent: `Denied` with the reasons. */
  readonly problem?: Problem;
}

/** What is asked about a call, however often it is decided anew. */
export interface Asked {
  readonly turn: Turn;
  /** By a rule's name: whether the key has made more calls than that. */
  readonly over: Map<string, Promise<boolean>>;
}

/** How many edges away what needs a service is counted in. */
const DEPTH = 4;
const STRICTNESS: readonly Decision[] = ["allow", "needs_approval", "deny"];

/** What becomes of a call under switches and a policy's rules. Nobody else is asked before it is counted. */
export async function verdictOn<C>(
  parts: GovernanceParts,
  call: GovernedCall<C>,
  { stops, rules }: { readonly stops: readonly Stop[]; readonly rules: readonly Rule[] },
  asked: Asked,
): Promise<Verdict> {
  const { operation: { humanControl }, caller: { keyId } } = call;
  const names = namesOf(call);
  const stopping = stops.filter((stop) =>
    stopsCall(stop, keyId!, names) && !(stop.kind === "all" && humanControl)
  );
  return stopping.length > 0 ? stopped(stopping) : await weigh(parts, call, names, rules, asked);
}

/** Every name of the tool, so that no rule is gone round by another door. */
function namesOf<C>({ operation, request }: GovernedCall<C>): string[] {
  const { name, tool = {}, rest = {} } = operation;
  return [...new Set([request.as, name, ...Object.keys(tool), ...Object.keys(rest)])];
}

function stopped(stops: readonly Stop[]): Verdict {
  const what = { all: "Everything that changes something", key: "This key", tool: "This tool" };
  const reasons = stops.map(({ kind, reason }) => `${what[kind]} is stopped: ${reason}`);
  return { decision: "deny", rule: "stopped", reasons, approvers: 1 };
}

async function weigh<C>(
  { store, meter, engine, environment }: GovernanceParts,
  { operation, request, caller, input }: GovernedCall<C>,
  names: readonly string[],
  rules: readonly Rule[],
  { turn, over }: Asked,
): Promise<Verdict> {
  async function isOver(name: string, limit: number, periodSeconds: number): Promise<boolean> {
    await turn.count();
    const use = { subject: caller.keyId!, kind: `governance:${name}`, limit, periodSeconds };
    return !(await meter.count(use)).allowed;
  }
  const rule = await ruleFor(rules, {
    ...{ names, caller, environment, input, effect: operation.effect, door: request.door },
    humanControl: operation.humanControl === true,
    now: new Date(),
    async blastRadius() {
      await turn.count(); // nobody is asked about a call that is over its limit
      const target = targetOf(input);
      const impact = target && await getImpact(store.asPlatform(), target, DEPTH);
      return impact ? impact.downstream.length + 1 : null;
    },
    isOver(name, limit, periodSeconds) {
      const asked = over.get(name) ?? isOver(name, limit, periodSeconds);
      over.set(name, asked);
      return asked;
    },
  });
  const own: Verdict = {
    decision: rule.then,
    rule: rule.name,
    reasons: [rule.reason ?? `Rule ${rule.name} of the policy says so`],
    approvers: rule.approvers,
  };
  const isRead = rule.guardrails && !operation.humanControl && hasFreeText(input);
  if (!isRead || rule.then === "deny") return own;
  await turn.count();
  try {
    const read = await readByRails(engine, operation, request.as, input);
    if (STRICTNESS.indexOf(read.decision) <= STRICTNESS.indexOf(own.decision)) return own;
    return { ...own, decision: read.decision, rule: "guardrails", reasons: read.reasons };
  } catch (error) {
    const problem = asProblem(error);
    const reasons = [problem.message];
    return { decision: "deny", rule: "guardrails-away", reasons, approvers: 1, problem };
  }
}
