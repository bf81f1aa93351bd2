import type { CallRequest } from "../contract/mod.ts";
import type { Allowance, Invoke, CallResult } from "../contract/mod.ts";
import { asProblem, type CallContext, type Caller, type Door, type GovernanceDecision, type Operation, parseInput, Problem, scopesOf, TIERS } from "../contract/mod.ts";

/** What was called and how it ended, for the receipt. */
export interface Act<Context> {
  readonly operation: Operation<Context>;
  readonly request: CallRequest;
  readonly caller: Caller;
  /** The checked input; undefined where it was refused. */
  readonly input: Record<string, unknown> | undefined;
  readonly output?: unknown;
  readonly error?: Problem;
  readonly ruling?: GovernanceDecision;
  /** Milliseconds from the request to its end. */
  readonly durationMs: number;
}

/** A call whose input is checked. */
export interface GovernedCall<Context> {
  readonly operation: Operation<Context>;
  readonly request: CallRequest;
  readonly caller: Caller;
  readonly input: Record<string, unknown>;
}

/** The platform's part in {@linkcode createInvoke}: what each step on the way asks. */
export interface Gates<Context> {
  /** Who is it? @throws {Problem} `Unauthenticated` */
  authenticate(request: CallRequest, operation: Operation<Context>): Promise<Caller>;
  /** How often, and may it? Nothing is asked yet. */
  enter(operation: Operation<Context>, caller: Caller, door: Door): Entry<Context>;
  /** The parts of the platform that the operation works with. */
  context(call: CallContext): Context & CallContext;
  /** Seals the call; gives the receipt's id, or undefined where this call is not one that is sealed. */
  record(act: Act<Context>): Promise<string | undefined>;
}

/** What a call has to pass before it is run. */
export interface Entry<Context> {
  /** Counts the call. @throws {Problem} `RateLimited` */
  count(): Promise<Allowance | undefined>;
  /**
   * Seals the call as it counts it, both by one statement, after it was run; absent: it is counted before.
   *
   * @throws {Problem} `RateLimited`: nothing is sealed, and nobody is given what the call gave
   */
  readonly recordCounted?: ((act: Act<Context>) => Promise<Counted>) | undefined;
  /** Is told that the call has ended, however it did. */
  leave?(): void;
  /** Governance; absent: it has nothing to decide. */
  readonly decide?: Decide<Context> | undefined;
}

/** The receipt of a call, and what is left of its limit. */
export interface Counted {
  readonly receiptId: string;
  readonly limit: Allowance | undefined;
}

/**
 * Counts a call and decides on it, both in the same statement where that can be. The decision is on record before it is
 * given.
 *
 * @throws {Problem} `RateLimited`, or it can't be decided or not be put on record: then nothing may be run
 */
export type Decide<Context> = (call: GovernedCall<Context>) => Promise<Decided>;

/** A decision on a call, and what is left of its limit. */
export interface Decided {
  /** Absent: there was nothing to decide. */
  readonly ruling?: GovernanceDecision;
  readonly limit?: Allowance | undefined;
}

/**
 * Puts the gates in their order. Every door uses the function this gives, and nothing else runs an operation.
 *
 * A refusal after the caller is known is handed to `record` like a success, so that it can be sealed too; the
 * {@linkcode Problem} that is thrown carries its receipt.
 */
export function createInvoke<Context>(gates: Gates<Context>): Invoke<Context> {
  return async (operation, request) => {
    const started = performance.now();
    const caller = await gates.authenticate(request, operation);
    request.identified?.(caller);
    const entry = gates.enter(operation, caller, request.door);
    try {
      return await pass(gates, entry, { operation, request, caller }, started);
    } finally {
      entry.leave?.();
    }
  };
}

async function pass<Context>(
  gates: Gates<Context>,
  { count, decide, recordCounted }: Entry<Context>,
  called: Pick<Act<Context>, "operation" | "request" | "caller">,
  started: number,
): Promise<CallResult> {
  const { operation, request, caller } = called;
  let input: Record<string, unknown> | undefined;
  let output: unknown;
  let limit: Allowance | undefined;
  let ruling: GovernanceDecision | undefined;
  const check = async () => {
    authorize(operation, request, caller);
    if (caller.keyId === null) limit = await count();
    return parseInput(operation.input, request.input);
  };
  const seal = async (ended: Pick<Act<Context>, "output" | "error">) => {
    const act = { ...called, input, ...ended, ruling, durationMs: performance.now() - started };
    if (!recordCounted) return await gates.record(act);
    const recorded = await recordCounted(act);
    limit = recorded.limit;
    return recorded.receiptId;
  };
  try {
    if (decide) {
      input = await check().catch(async (error) => {
        if (caller.keyId !== null) await count(); // what a key may not is sealed, and so is counted as well
        throw error;
      });
      ({ ruling, limit } = await decide({ operation, request, caller, input }));
    } else {
      if (caller.keyId !== null && !recordCounted) limit = await count();
      input = await check();
    }
    if (ruling?.problem) throw ruling.problem;
    output = ruling?.answer
      ? ruling.answer.output
      : await operation.run(input, gates.context(callOf(request, caller, ruling)));
  } catch (error) {
    const problem = asProblem(error);
    if (problem.name === "RateLimited") {
      if (recordCounted) await count(); // one of another limit, within the call, which was made all the same
      throw problem;
    }
    problem.receiptId = await seal({ error: problem });
    throw problem;
  }
  const receiptId = await seal({ output });
  return { output, receiptId, limit, governance: ruling };
}

function callOf(
  { door, requestId, signal, progress = () => {}, detached = false }: CallRequest,
  caller: Caller,
  ruling: GovernanceDecision | undefined,
): CallContext {
  return { caller, door, requestId, signal, progress, detached, decisionId: ruling?.id };
}

/** @throws {Problem} `Unauthenticated` or `Forbidden`: this caller may not use this operation by this door */
function authorize(operation: Operation<never>, request: CallRequest, caller: Caller): void {
  if (request.door === "rest") return authorizeRest(operation, caller);
  const scopes = scopesOf(operation, request.as);
  if (!scopes) throw new Problem("NotFound", `There is no tool named ${request.as}`);
  if (caller.keyId === null) throw new Problem("Unauthenticated", "A tool needs an API key");
  if (caller.mayApprove) throw approverKey();
  if (!scopes.includes(caller.scope)) {
    throw new Problem(
      "Forbidden",
      `A key of scope ${caller.scope} may not call ${request.as}, which needs ${
        scopes.join(" or ")
      }`,
    );
  }
}

/** Where a person's word is asked for, an agent must not be able to give it: so no agent may hold such a key. */
export function approverKey(): Problem {
  return new Problem(
    "Forbidden",
    "This key may approve, so it is for people, over REST alone; agents need a key without may_approve",
  );
}

function authorizeRest({ access, effect }: Operation<never>, caller: Caller): void {
  if (caller.scope === "audit" && effect !== "read") {
    throw new Problem("Forbidden", "A key of scope audit only reads");
  }
  if (access === "public" || access === "token") return; // a token is what such a call was authenticated by
  if (caller.keyId === null) {
    throw new Problem("Unauthenticated", "This needs an API key in the header x-api-key");
  }
  if (access === "key") return;
  if (access === "partner" || access === "admin") {
    if (TIERS.indexOf(caller.tier) >= TIERS.indexOf(access)) return;
    throw new Problem(
      "Forbidden",
      `This needs a key of tier ${access}, and yours is ${caller.tier}`,
    );
  }
  throw new Problem("Forbidden", `This is reached with a ${access} token, not with an API key`);
}
