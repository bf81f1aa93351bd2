/** Calls of the gateway, with the session's cookie. */
import { noteAnswer } from "./live.ts";

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

/** Calls an operation. @throws {CallError} with what to tell the person */
export async function call<Answer>(
  method: "GET" | "POST" | "DELETE",
  path: string,
  body?: object,
): Promise<Answer> {
  const init = {
    method,
    ...(body
      ? { body: JSON.stringify(body), headers: { "content-type": "application/json" } }
      : {}),
  };
  const response = await fetch(path, init).catch(() => {
    noteAnswer(false);
    throw new CallError(0, "The gateway can't be reached");
  });
  noteAnswer(true);
  const answer = await response.json().catch(() => ({})) as Record<string, unknown>;
  if (response.ok) return answer as Answer;
  throw new CallError(response.status, problemText(answer));
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
