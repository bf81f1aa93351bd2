import { randomBytes } from "node:crypto";
import {
  asProblem,
  type Caller,
  type Decision,
  type Govern,
  type GovernedCall,
  type GovernedOutput,
  isGoverned,
  type Lasting,
  type Operation,
  Problem,
  type Ruling,
} from "../contract/mod.ts";
import type { Engine } from "../engine/mod.ts";
import type { Sealer } from "../ledger/mod.ts";
import {
  impactOf,
  type InForce,
  inForce,
  type Meter,
  openHolder,
  type Stop,
  stopsCall,
  type Store,
} from "../store/mod.ts";
import { type AskPeople, createDesk, type Found } from "./desk.ts";
import { readByRails, targetOf } from "./guardrails.ts";
import { openPolicies } from "./policies.ts";
import { recordDecision } from "./record.ts";
import { ruleFor } from "./rules.ts";

/** What decisions are made of. */
export interface GovernanceParts {
  /** As role `app`. */
  readonly store: Store;
  readonly sealer: Sealer;
  readonly meter: Meter;
  readonly engine: Engine;
  /** What this platform is, as policies name it: production, staging, … */
  readonly environment: string;
  /** Begins to ask people; nothing is asked where it throws. */
  readonly ask: AskPeople;
  /** What a call means whenever it is run; undefined: just what it says. @throws {Problem} it means nothing */
  lasting(
    operation: Operation<never>,
    input: Readonly<Record<string, unknown>>,
  ): Promise<Lasting | undefined>;
}

/** Decides on calls. */
export interface Governor {
  /**
   * Begins with a call of a caller: reads what is in force. What it gives decides on the call, and puts the decision on
   * record: a row, and a receipt. It asks people where a rule says so, decides nothing where a call only reads or
   * nobody's key is behind it, and throws a {@linkcode Problem} where it can't decide, or not put that on record.
   */
  govern<C>(operation: Operation<C>, caller: Caller): Govern<C>;
}

/** A decision, before it is on record. */
export interface Verdict {
  readonly decision: Decision;
  readonly rule: string;
  readonly reasons: readonly string[];
  readonly approvers: number;
  /** Thrown where it is a denial; absent: `Denied` with the reasons. */
  readonly problem?: Problem;
}

/** How many edges away what needs a service is counted in. */
const DEPTH = 4;
const STRICTNESS: readonly Decision[] = ["allow", "needs_approval", "deny"];

/** Opens a governor. It reads policy and switches at each call, so that what is set holds from the next one on. */
export function openGovernor(parts: GovernanceParts): Governor {
  const { store, sealer } = parts;
  const policies = openPolicies(store);
  const desk = createDesk(parts);
  const holder = openHolder(store);

  async function decide<C>(call: GovernedCall<C>, held: InForce): Promise<Ruling> {
    const { request, caller: { keyId } } = call;
    const names = namesOf(call);
    const stops = held.stops.filter((stop) => stopsCall(stop, keyId!, names));
    const { policy, name: policyVersion } = await policies.at(held.version);
    const verdict = stops.length > 0
      ? stopped(stops)
      : await weigh(parts, call, names, policy.rules);
    const dryRun = request.dryRun === true;
    const ids = {
      id: `GOV-${randomBytes(6).toString("hex")}`,
      receiptId: randomBytes(8).toString("hex"),
      callReceiptId: dryRun || sealsCall(call) || verdict.decision !== "allow"
        ? randomBytes(8).toString("hex")
        : undefined,
    };
    const ruling = { ...ids, ...verdict, policyVersion, dryRun };
    if (!dryRun && verdict.decision === "needs_approval") {
      const found = await desk.hold(call, ruling, policy.max_waiting_per_key);
      return rulingOf(call, { ...ruling, ...found.verdict }, found);
    }
    const runs = verdict.decision === "allow" && !dryRun;
    const number = runs ? await holder.number() : undefined;
    await recordDecision(sealer, { call, ruling, runs, holder: number });
    return rulingOf(call, ruling);
  }

  return {
    govern(operation, { keyId }) {
      if (!isGoverned(operation) || keyId === null) return () => Promise.resolve(undefined);
      const held = inForce(store);
      held.catch(() => {}); // is told where it is waited for, if ever
      return async (call) => await decide(call, await held);
    },
  };
}

/** A verdict with its place on record. */
export interface Recorded extends Verdict {
  readonly id: string;
  readonly receiptId: string;
  readonly callReceiptId: string | undefined;
  readonly policyVersion: string;
  readonly dryRun: boolean;
}

/** Whether the door seals how a call ends; over REST some operations do so themselves, with the change. */
function sealsCall<C>({ operation, request }: GovernedCall<C>): boolean {
  return request.door !== "rest" || operation.sealsItself !== true;
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
  rules: Parameters<typeof ruleFor>[0],
): Promise<Verdict> {
  const rule = await ruleFor(rules, {
    ...{ names, caller, environment, input, effect: operation.effect, door: request.door },
    now: new Date(),
    async blastRadius() {
      const target = targetOf(input);
      const impact = target && await impactOf(store.knex, target, DEPTH);
      return impact ? impact.downstream.length + 1 : null;
    },
    async isOver(name, limit, periodSeconds) {
      const kind = `governance:${name}`;
      return !(await meter.count({ subject: caller.keyId!, kind, limit, periodSeconds })).allowed;
    },
  });
  const own: Verdict = {
    decision: rule.then,
    rule: rule.name,
    reasons: [rule.reason ?? `Rule ${rule.name} of the policy says so`],
    approvers: rule.approvers,
  };
  if (!rule.guardrails || rule.then === "deny") return own;
  try {
    const read = await readByRails(engine, operation, request.as, input);
    if (!read || STRICTNESS.indexOf(read.decision) <= STRICTNESS.indexOf(own.decision)) return own;
    return { ...own, decision: read.decision, rule: "guardrails", reasons: read.reasons };
  } catch (error) {
    const problem = asProblem(error);
    const reasons = [problem.message];
    return { decision: "deny", rule: "guardrails-away", reasons, approvers: 1, problem };
  }
}

function rulingOf<C>(call: GovernedCall<C>, ruling: Recorded, found?: Found): Ruling {
  const { id, decision, rule, policyVersion, dryRun, callReceiptId } = ruling;
  const about = { id, decision, rule, policyVersion, dryRun, callReceiptId };
  if (found) {
    const { approvalId, output, problem, status } = found;
    if (problem) return { ...about, approvalId, problem };
    if (output) return { ...about, approvalId, instead: { kind: "earlier", output } };
    const input = found.input ?? call.input;
    const told = toldOf({ ...call, input }, ruling, approvalId, status);
    return { ...about, approvalId, instead: { kind: "held", output: told } };
  }
  if (dryRun) return { ...about, instead: { kind: "dry_run", output: toldOf(call, ruling) } };
  if (decision !== "deny") return about;
  const problem = ruling.problem ??
    new Problem("Denied", `Governance refuses this call: ${ruling.reasons.join("; ")}`);
  return { ...about, problem };
}

function toldOf<C>(
  { request, input }: GovernedCall<C>,
  { id, decision, rule, reasons, policyVersion, dryRun }: Recorded,
  approvalId?: string,
  status: "pending" | "approved" = "pending",
): GovernedOutput {
  return {
    governance: {
      decision,
      dry_run: dryRun,
      decision_id: id,
      rule,
      reasons: [...reasons],
      policy_version: policyVersion,
      tool: request.as,
      arguments: input,
      approval_id: approvalId ?? null,
      status: approvalId ? status : null,
      next: dryRun ? NEXT[decision] : nextOf(approvalId!),
    },
  };
}

const NEXT: Readonly<Record<Decision, string>> = {
  allow: "Call without the dry run to have it done.",
  needs_approval: "Call without the dry run to have people asked.",
  deny: "Do not call: it would be refused for these reasons.",
};

const nextOf = (approvalId: string) =>
  `Nothing was done yet: a person decides about ${approvalId}. Then exactly these arguments are run, once. ` +
  "For the result call again with the same arguments, or read " +
  `GET /v1/approvals/${approvalId}/info on the gateway.`;
