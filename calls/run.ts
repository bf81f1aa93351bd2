import type {
  Caller,
  CallRequest,
  GovernanceDecision,
  Operation,
  Problem,
} from "../contract/mod.ts";
import { type Context, forTenant, type Platform } from "./platform.ts";

/** A call whose input has been checked. */
export interface CheckedCall {
  readonly operation: Operation<Platform>;
  readonly request: CallRequest;
  readonly caller: Caller;
  readonly input: Record<string, unknown>;
}

/** The end of a call: an output or an error. */
export interface CallOutcome {
  readonly output?: unknown;
  readonly error?: Problem | undefined;
  readonly decision?: GovernanceDecision | undefined;
  /** Set where it is the outcome of an earlier call. */
  readonly repeats?: {
    /** Null: nothing was decided, as the caller has no key. */
    readonly decisionId: string | null;
    readonly endedAt: Date;
  };
}

/**
 * Runs an operation with the platform's parts.
 *
 * @param parts in the name of the caller's tenant
 * @param decision that allowed it
 */
export async function runOperation(
  parts: Platform,
  call: CheckedCall,
  decision: Pick<GovernanceDecision, "id" | "required"> | undefined,
): Promise<unknown> {
  const context = await contextOf(parts, call, decision);
  return await call.operation.run(call.input, context);
}

/** Refuses a call that can't be run at the moment, before people are asked about it. @throws {Problem} why */
export async function checkRunnable(parts: Platform, call: CheckedCall): Promise<void> {
  await call.operation.governance?.check?.(call.input, await contextOf(parts, call, undefined));
}

async function contextOf(
  parts: Platform,
  call: CheckedCall,
  decision: Pick<GovernanceDecision, "id" | "required"> | undefined,
): Promise<Context> {
  const { operation: { governance = {} }, request, caller, input } = call;
  const { door, requestId, signal, progress = () => {}, detached = false, signed } = request;
  const crosses = caller.tier === "admin";
  const owner = crosses ? await governance.ownerOf?.(input, parts) : undefined;
  return {
    ...(owner === undefined ? parts : forTenant(parts, owner)),
    caller,
    door,
    requestId,
    signal,
    progress,
    detached,
    spansTenants: crosses && governance.spansTenants === true,
    signed,
    decisionId: decision?.id,
    requiredApproval: decision?.required,
  };
}
