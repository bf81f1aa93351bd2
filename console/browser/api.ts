/** Calls of the gateway, with the session's cookie. */
import { noteAnswer } from "./live.ts";
import type { CallProposal } from "./shapes.ts";
import { signCall } from "./sign_call.tsx";

/** The gateway has refused a call, or can't be reached. */
class CallError extends Error {
  override readonly name = "CallError";
  /** HTTP status; 0: the gateway can't be reached. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Method = "GET" | "POST" | "DELETE";

/**
 * Calls an operation. Where a rule leaves the call to people, the person is shown it, and it is made again once their passkey
 * has signed it.
 *
 * @throws {Error} with what to tell the person
 */
export async function call<Answer>(method: Method, path: string, body?: object): Promise<Answer> {
  const first = await send(method, path, body);
  const proposal = first.answer.passkey as CallProposal | undefined;
  const { response, answer } = first.response.status === 403 && proposal
    ? await send(method, path, body, { "x-passkey": await signCall(proposal) })
    : first;
  if (response.ok) return answer as Answer;
  throw new CallError(response.status, problemText(answer));
}

async function send(
  method: Method,
  path: string,
  body: object | undefined,
  marks: Readonly<Record<string, string>> = {},
): Promise<{ readonly response: Response; readonly answer: Record<string, unknown> }> {
  const headers = { ...(body ? { "content-type": "application/json" } : {}), ...marks };
  const init = { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await fetch(path, init).catch(() => {
    noteAnswer(false);
    throw new CallError(0, "The gateway can't be reached");
  });
  noteAnswer(true);
  return { response, answer: await response.json().catch(() => ({})) };
}

/** Returns an answer of {@linkcode call}; where nobody has signed in, the page for that instead. */
export async function read<Answer>(path: string): Promise<Answer> {
  try {
    return await call<Answer>("GET", path);
  } catch (error) {
    if (error instanceof CallError && error.status === 401) location.assign(signInUrl());
    throw error;
  }
}

function signInUrl(): string {
  return `/console/sign-in?to=${encodeURIComponent(location.pathname + location.search)}`;
}

function problemText({ detail }: Record<string, unknown>): string {
  if (typeof detail === "string") return detail;
  const [first] = Array.isArray(detail) ? detail as { msg?: string; loc?: string[] }[] : [];
  return first ? `${first.loc?.at(-1)}: ${first.msg}` : "The gateway gave no reason";
}
