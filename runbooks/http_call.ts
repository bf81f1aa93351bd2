import { createTimeoutSignal } from "../contract/mod.ts";
import { leaveMark, markOf, marksOf } from "./_marks.ts";
import type { HttpAct } from "./schema.ts";
import type { StepOutcome } from "./step.ts";

/** Which call it is. */
export interface CallOrder {
  readonly dataDir: string;
  readonly effectId: string;
  readonly withinMs: number;
}

/** Codes of connections that were never made, so that the server can't have been asked. */
const NOT_ASKED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

/**
 * Sends a request, once. That it is about to be sent is marked before, and its answer after; what was sent and has no
 * answer is unknown, unless the server keeps count by the Idempotency-Key that goes with it.
 */
export async function call(act: HttpAct, order: CallOrder): Promise<StepOutcome> {
  const marks = marksOf(order.dataDir, order.effectId);
  const answer = markOf(marks, "answer");
  if (answer !== undefined) return answered(act, Number(answer));
  if (markOf(marks, "sent") !== undefined && !act.idempotent) return unknown("no_answer");
  leaveMark(marks, "sent", new Date().toISOString());
  try {
    const status = await send(act, order);
    leaveMark(marks, "answer", String(status));
    return answered(act, status);
  } catch (error) {
    const { name, code, cause } = error as NodeJS.ErrnoException & { cause?: { code?: string } };
    const system = code ?? cause?.code ?? "";
    if (NOT_ASKED.test(system)) return { state: "not_done", ok: false, code: system.toLowerCase() };
    return unknown(name === "TimeoutError" ? "timeout" : "no_answer");
  }
}

async function send(
  { method, url, headers, body }: HttpAct,
  { effectId, withinMs }: CallOrder,
): Promise<number> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
      "idempotency-key": effectId,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
    redirect: "manual",
    signal: createTimeoutSignal(withinMs),
  });
  await response.body?.cancel();
  return response.status;
}

const answered = ({ expect }: HttpAct, status: number): StepOutcome => ({
  state: "done",
  ok: expect.includes(status),
  code: `status_${status}`,
});
const unknown = (code: string): StepOutcome => ({ state: "unknown", ok: false, code });
