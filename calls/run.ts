import type {
  Caller,
  CallRequest,
  GovernanceDecision,
  Operation,
  Problem,
} from "../contract/mod.ts";
import { forTenant, type Platform, tenantOf } from "./platform.ts";

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

/** Runs an operation with the platform's parts, in the name of the tenant that it is about. @param decisionId of the governance decision that allowed it */
export async function runOperation(
  platform: Platform,
  { operation, request, caller, input }: CheckedCall,
  decisionId: string | undefined,
): Promise<unknown> {
  const tenant = await tenantOfCall(platform, { operation, caller, input });
  const { door, requestId, signal, progress = () => {}, detached = false } = request;
  return await operation.run(input, {
    ...forTenant(platform, tenant),
    caller,
    door,
    requestId,
    signal,
    progress,
    detached,
    decisionId,
  });
}

/**
 * Returns the tenant in whose name a call runs: the caller's; for keys of tier admin the owner of what the call is about,
 * if the operation crosses tenants. Callers without a key see what operations show of the platform's own.
 */
async function tenantOfCall(
  platform: Platform,
  { operation, caller, input }: Pick<CheckedCall, "operation" | "caller" | "input">,
): Promise<string> {
  const owner = caller.tier === "admin" ? await operation.ownerOf?.(input, platform) : undefined;
  return owner ?? tenantOf(caller);
}
