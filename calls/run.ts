import type {
  Caller,
  CallRequest,
  GovernanceDecision,
  Operation,
  Problem,
} from "../contract/mod.ts";
import type { Platform } from "./platform.ts";

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

/** Runs an operation with the platform's parts. @param decisionId of the governance decision that allowed it */
export async function runOperation(
  platform: Platform,
  { operation, request, caller, input }: CheckedCall,
  decisionId: string | undefined,
): Promise<unknown> {
  const { door, requestId, signal, progress = () => {}, detached = false } = request;
  return await operation.run(input, {
    ...platform,
    caller,
    door,
    requestId,
    signal,
    progress,
    detached,
    decisionId,
  });
}
