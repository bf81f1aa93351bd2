import { type HttpClient, OutboundFailed, OutboundRefused } from "../../integrations/http/mod.ts";
import { createMark, marksFolder, readMark, writeMark } from "./_marks.ts";
import { type Act, notDone, type StepOutcome, unknownOutcome } from "./_outcome.ts";
import type { HttpAct } from "./schema.ts";

/** Codes of connections that were never made, so that the server can't have received the request. */
const NOT_CONNECTED = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/;

/**
 * Sends a request once, whichever processes ask for it and however often.
 *
 * The process that creates the mark `sent` sends it; the mark `answer` follows. A request that was sent and has no answer
 * is unknown, unless the server deduplicates by the Idempotency-Key that goes with it: then it is sent again.
 */
export async function sendOnce(http: HttpClient, act: HttpAct, step: Act): Promise<StepOutcome> {
  const marks = marksFolder(step.dataDir, step.effectId);
  const answer = readMark(marks, "answer");
  if (answer !== undefined) return toOutcome(act, Number(answer));
  try {
    http.check(act.url);
    const isFirst = createMark(marks, "sent", new Date().toISOString());
    if (!isFirst && !act.idempotent) return unknownOutcome("no_answer");
    const status = await send(http, act, step);
    writeMark(marks, "answer", String(status));
    return toOutcome(act, status);
  } catch (error) {
    return failure(error);
  }
}

async function send(
  http: HttpClient,
  { method, url, headers, body }: HttpAct,
  { effectId, withinMs }: Act,
): Promise<number> {
  const all: Record<string, string> = { ...headers, "idempotency-key": effectId };
  if (body !== undefined) all["content-type"] ??= "application/json";
  const { status } = await http.request(url, {
    method,
    headers: all,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    timeoutMs: withinMs,
    ignoreBody: true,
  });
  return status;
}

function toOutcome({ expect }: HttpAct, status: number): StepOutcome {
  return { state: "done", ok: expect.includes(status), code: `status_${status}` };
}

function failure(error: unknown): StepOutcome {
  if (error instanceof OutboundRefused) return notDone(`${error.code}_not_allowed`);
  if (!(error instanceof OutboundFailed)) throw error;
  const { code, systemCode = "" } = error;
  if (NOT_CONNECTED.test(systemCode)) return notDone(systemCode.toLowerCase());
  return unknownOutcome(code === "timeout" ? "timeout" : "no_answer");
}
