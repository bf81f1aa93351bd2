import type { RequestHandlers } from "./requests.ts";

/** Returns the same handlers, whose tool calls are in `calls` until their results have been sent. */
export function trackCalls(
  handlers: RequestHandlers,
  calls: Set<Promise<unknown>>,
): RequestHandlers {
  return {
    ...handlers,
    callTool(call) {
      const result = handlers.callTool(call);
      const remove = () => void setImmediate(() => calls.delete(result)); // it is sent in the same turn
      calls.add(result);
      result.then(remove, remove);
      return result;
    },
  };
}

/** Waits until calls have settled and their results are sent. @param timeoutMs ≥ 0 */
export async function settledWithin(
  calls: readonly Promise<unknown>[],
  timeoutMs: number,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => timer = setTimeout(resolve, timeoutMs));
  await Promise.race([Promise.allSettled(calls), timeout]);
  clearTimeout(timer);
  await new Promise((resolve) => setImmediate(resolve)); // results are sent in the turn after the calls
}
