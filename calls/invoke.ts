import {
  type Allowance,
  asProblem,
  type GovernanceDecision,
  InvalidInput,
  type Invoke,
  type Operation,
  parseInput,
  type Problem,
  TIERS,
} from "../contract/mod.ts";
import { openHolder } from "../store/mod.ts";
import { authenticate } from "./authenticate.ts";
import { authorize } from "./authorize.ts";
import { openGovernor } from "./govern.ts";
import { type Claim, openIdempotency } from "./idempotency.ts";
import { countAnonymousReceipt, countCall, countDaily } from "./limit.ts";
import { forTenant, type Platform, tenantOf } from "./platform.ts";
import { recordCall, sealWithin } from "./record.ts";
import { type CallOutcome, type CheckedCall, runOperation, type StoreEnd } from "./run.ts";
import { countEndedCall, spanOfCall } from "./spans.ts";

/** Errors by which a call has not begun: it is over its limit, or its person is asked to sign it. */
const UNSEALED: ReadonlySet<string> = new Set(["RateLimited", "PasskeyNeeded"]);

/**
 * Returns the function that every call goes through, whatever the interface:
 * authenticate → authorize → limit → validate → repeat → govern → run → record. A call that repeats another by its
 * idempotency key is neither decided about nor run.
 *
 * A call that ends with an error is recorded like one that succeeds; the {@linkcode Problem} that is thrown then carries
 * its receipt. A call over its limit is neither counted nor recorded; nor is one recorded that its person has yet to sign.
 */
export function createInvoke(platform: Platform): Invoke<Platform> {
  const holder = openHolder(platform.store);
  const govern = openGovernor(platform, holder);
  const performOnce = openIdempotency(holder);

  /**
   * Decides about a call and runs it.
   *
   * @param parts in the name of the caller's tenant
   * @returns errors, too, as a repetition may get them again
   */
  async function perform(
    parts: Platform,
    call: CheckedCall,
    startedMs: number,
    { begin, keep }: Claim,
  ): Promise<CallOutcome> {
    let decision: GovernanceDecision | undefined;
    let committed: CallOutcome["committed"];
    const storeEnd: StoreEnd = async (trx, output) => {
      const ended = { ...call, decision, output, durationMs: performance.now() - startedMs };
      const receiptId = await sealWithin(trx, ended);
      await keep(trx, ended);
      committed = { receiptId };
    };
    try {
      decision = await govern(parts, call);
      if (decision?.problem) return { decision, error: decision.problem };
      if (decision?.answer) return { decision, output: decision.answer.output };
      await countDaily(platform, call);
      await countAnonymousReceipt(platform, call); // the last limit, so that nothing is counted that another one refuses
      await begin(decision?.id);
      const output = await runOperation(parts, call, decision, storeEnd);
      return { decision, output, ...(committed ? { committed } : {}) };
    } catch (error) {
      return { decision, error: asProblem(error) };
    }
  }

  const invoke: Invoke<Platform> = async (operation, request) => {
    const startedMs = performance.now();
    const caller = await authenticate(platform, operation, request);
    const parts = forTenant(platform, tenantOf(caller));
    request.identified?.(caller);
    let input: Record<string, unknown> | undefined;
    let limit: Allowance | undefined;
    let outcome: CallOutcome;
    try {
      const refusal = problemOf(() => authorize(operation, request, caller));
      // A key's refused call is sealed, and so counted too; an anonymous one is neither.
      if (caller.keyId !== null || !refusal) {
        limit = await countCall(platform, operation, caller, request.door);
      }
      if (refusal) throw refusal;
      input = parseInput(operation.input, request.input);
      const call = { operation, request, caller, input };
      outcome = await performOnce(parts, call, (claim) => perform(parts, call, startedMs, claim));
    } catch (error) {
      outcome = { error: asProblem(error) };
    }
    const { error, output, decision, repeats, committed } = outcome;
    const record = async () => {
      const durationMs = performance.now() - startedMs;
      const call = { operation, request, caller, input, durationMs, ...outcome };
      countEndedCall(call);
      const receiptId = committed ? committed.receiptId : await recordCall(platform, call);
      const span = spanOfCall(call, receiptId);
      if (span) platform.spans.record(span);
      return receiptId;
    };
    if (error) {
      if (!UNSEALED.has(error.name)) error.receiptId = await record();
      throw error;
    }
    const earlier = repeats?.endedAt.toISOString() ?? decision?.earlier;
    return { output, receiptId: await record(), limit, governance: decision, earlier };
  };

  return async (operation, request) => {
    const delegate = operation.governance?.delegateTo?.(request.input, platform);
    if (!delegate) return await invoke(operation, request);
    const meant = withBindings(platform.operations.get(delegate.operation)!, operation);
    try {
      return await invoke(meant, { ...request, input: delegate.input });
    } catch (error) {
      const { field } = delegate;
      throw error instanceof InvalidInput && field !== null ? prefixPaths(error, field) : error;
    }
  };
}

/**
 * Returns the operation that a call of another one stands for, with the access and tools of both. The call is run as that,
 * so that no rule, limit or stop can be bypassed by calling it so. It keeps the name that the caller used.
 */
function withBindings(
  meant: Operation<Platform>,
  { access, tool }: Operation<Platform>,
): Operation<Platform> {
  return {
    ...meant,
    access: stricterAccess(access, meant.access),
    tool: { ...meant.tool, ...tool },
  };
}

const ACCESS_RANKS: readonly string[] = ["public", "key", ...TIERS];

function stricterAccess(a: Operation["access"], b: Operation["access"]): Operation["access"] {
  return ACCESS_RANKS.indexOf(a) >= ACCESS_RANKS.indexOf(b) ? a : b;
}

/** Tells what is wrong with the delegate's input by the field that holds it. */
function prefixPaths({ issues, receiptId }: InvalidInput, field: string): InvalidInput {
  const problem = new InvalidInput(
    issues.map((issue) => ({ ...issue, path: [field, ...issue.path] })),
  );
  problem.receiptId = receiptId;
  return problem;
}

function problemOf(check: () => void): Problem | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return asProblem(error);
  }
}
