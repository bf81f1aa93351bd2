import type { Caller, CallRequest, Operation } from "../contract/mod.ts";
import type { Platform } from "./platform.ts";

/** A call whose input has been checked. */
export interface CheckedCall {
  readonly operation: Operation<Platform>;
  readonly request: CallRequest;
  readonly caller: Caller;
  readonly input: Record<string, unknown>;
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
