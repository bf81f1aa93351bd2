import type {
  Caller,
  CallRequest,
  GovernanceDecision,
  Operation,
  Problem,
} from "../contract/mod.ts";
import { type Context, forTenant, type Platform, tenantOf } from "./platform.ts";

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

/** Runs an operation with the platform's parts, in the name of the tenant that it is about. @param decision that allowed it */
export async function runOperation(
  platform: Platform,
  call: CheckedCall,
  decision: Pick<GovernanceDecision, "id" | "required"> | undefined,
): Promise<unknown> {
  const context = await contextOf(platform, call, decision);
  return await call.operation.run(call.input, context);
}

/** Refuses a call that can't be run at the moment, before people are asked about it. @throws {Problem} why */
export async function checkRunnable(platform: Platform, call: CheckedCall): Promise<void> {
  await call.operation.governance?.check?.(call.input, await contextOf(platform, call, undefined));
}

async function contextOf(
  platform: Platform,
  call: CheckedCall,
  decision: Pick<GovernanceDecision, "id" | "required"> | undefined,
): Promise<Context> {
  const { door, requestId, signal, progress = () => {}, detached = false, signed } = call.request;
  return {
    ...forTenant(platform, await tenantOfCall(platform, call)),
    caller: call.caller,
    door,
    requestId,
    signal,
    progress,
    detached,
    spansTenants: call.operation.governance?.spansTenants === true && call.caller.tier === "admin",
    signed,
    decisionId: decision?.id,
    requiredApproval: decision?.required,
  };
}

/**
 * Returns the tenant in whose name a call runs: the caller's; for keys of tier admin the owner of what the call is about,
 * if the operation crosses tenants. Callers without a key see what operations show of the platform's own.
 */
async function tenantOfCall(
  platform: Platform,
  { operation, caller, input }: Pick<CheckedCall, "operation" | "caller" | "input">,
): Promise<string> {
  const owner = caller.tier === "admin"
    ? await operation.governance?.ownerOf?.(input, platform)
    : undefined;
  return owner ?? tenantOf(caller);
}
