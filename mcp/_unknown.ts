import { Problem } from "../contract/mod.ts";
import type { Sender } from "./_caller.ts";
import { receiptMeta } from "./call.ts";
import { Refused } from "./handlers.ts";
import type { ToolServerAuth } from "../calls/mod.ts";

/** A request for something that there is not. */
export interface UnknownRequest {
  readonly method: "tools/call" | "resources/read" | "prompts/get";
  /** As the client named it. It may be anything, and so is kept as private evidence alone. */
  readonly name: string;
  /** Code of JSON-RPC that it is answered with. */
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** As it is sealed; by default that there is nothing of this name. */
  readonly problem?: Problem;
}

/** More of a name says nothing. */
const MOST_NAME = 200;

/**
 * Refuses such a request; it is counted and sealed as any that is refused.
 *
 * @throws {Refused} with the receipt; {@linkcode Problem} `RateLimited`
 */
export async function refuseUnknown(
  entrance: ToolServerAuth,
  { caller }: Sender,
  { method, name, code, message, data, problem }: UnknownRequest,
): Promise<never> {
  const started = performance.now();
  await entrance.admit(caller);
  const receiptId = await entrance.record({
    ...{ door: "mcp", caller, method, subject: "unknown" },
    arguments: { name: name.slice(0, MOST_NAME) },
    error: problem ?? new Problem("NotFound", `There is nothing of this name for ${method}`),
    durationMs: performance.now() - started,
  });
  throw new Refused(code, message, { ...data, ...receiptMeta(receiptId) });
}
