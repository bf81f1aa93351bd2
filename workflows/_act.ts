import { CancellationScope, isCancellation } from "@temporalio/workflow";
import { type Act, actOnce } from "../contract/domain/mod.ts";

/**
 * Acts outside, once. After the intent, the run goes on to the end although it is cancelled, and what the attempt said is
 * lost where its worker was.
 */
export async function actToTheEnd<Attempt, Proof, End>(
  { intend, act, prove, end }: Act<Attempt, Proof, End>,
): Promise<End> {
  return await actOnce({
    intend,
    act: () => CancellationScope.nonCancellable(() => resultOrLost(act)),
    prove: (attempt) => CancellationScope.nonCancellable(() => prove(attempt)),
    end: (proof) => CancellationScope.nonCancellable(() => end(proof)),
  });
}

/** @returns undefined: the activity has failed, or its worker was lost */
export async function resultOrLost<T>(attempt: () => Promise<T>): Promise<T | undefined> {
  try {
    return await attempt();
  } catch (error) {
    if (isCancellation(error)) throw error;
    return undefined;
  }
}
