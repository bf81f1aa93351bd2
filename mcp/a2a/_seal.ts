import type { AgentAction } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import type { A2aHandlerParts, RequestSender } from "./handlers.ts";

/** Does work that calls no operation, and seals the request and whether its object was found. */
export type SealWork = <T>(method: string, args: unknown, work: () => Promise<T>) => Promise<T>;

/** Creates the function that seals one key's reads. A task's words are not part of the receipt. */
export function createSealWork<C>(
  auth: A2aHandlerParts<C>["auth"],
  caller: RequestSender["caller"],
): SealWork {
  return async (method, args, work) => {
    const started = performance.now();
    const record = (end: Pick<AgentAction, "error" | "result">) =>
      auth.record({
        door: "a2a",
        caller,
        method,
        subject: method.split("/")[0]!,
        arguments: args,
        ...end,
        durationMs: performance.now() - started,
      });
    let result;
    try {
      result = await work();
    } catch (error) {
      if (error instanceof Problem) await record({ error });
      throw error;
    }
    const { id, version, total } = (result ?? {}) as Record<string, unknown>;
    await record({ result: { found: result !== undefined, id, version, total } });
    return result;
  };
}
