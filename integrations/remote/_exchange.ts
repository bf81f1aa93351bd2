/** Headers and errors that all requests to systems of others share. */
import { OutboundFailed, OutboundRefused, type OutboundResponse } from "../http/mod.ts";
import { type FailedOutcome, RemoteFailed } from "./errors.ts";

/** Makes a failure of one system. */
export type Fail = (
  code: string,
  about: string,
  outcome: FailedOutcome,
  waitMs?: number,
) => RemoteFailed;

const DEFAULT_RETRY_AFTER_MS = 1_000;

/** Returns how failures of a system are made. */
export function failureOf(system: string): Fail {
  return (code, about, outcome, waitMs) => new RemoteFailed(system, code, about, outcome, waitMs);
}

/** Returns the name of a URL's host, as it is resolved. */
export function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

/** Returns the headers of every request, with the credential. @throws {RemoteFailed} it can't be read */
export function readHeaders(
  { credential = () => ({}) }: { readonly credential?: () => Readonly<Record<string, string>> },
  fail: Fail,
): Record<string, string> {
  try {
    return { "user-agent": "sealoop/1", ...credential() };
  } catch { // the error may name a path
    throw fail("credential", "can't be asked: its credential can't be read", "not_done");
  }
}

/** Checks that a response is a success. @throws {RemoteFailed} */
export function checkStatus({ status, headers }: OutboundResponse, fail: Fail): void {
  if (status >= 300 && status < 400) {
    throw fail("redirect", `redirects (${status}), which is not followed`, "not_done");
  }
  if (status === 401 || status === 403) {
    throw fail("credential", `does not accept our credential (${status})`, "not_done");
  }
  if (status === 429) {
    const waitMs = retryAfterMs(headers["retry-after"]);
    const about = `limits our requests, and wants ${Math.ceil(waitMs / 1_000)} s without`;
    throw fail("limited", about, "not_done", waitMs);
  }
  if (status >= 500) throw fail("failed", `answered ${status}`, "unknown");
  if (status < 200 || status >= 300) throw fail("refused", `answered ${status}`, "not_done");
}

/** Returns the failure that an error of the HTTP client is; other errors stay. */
export function toRemoteFailure(error: unknown, fail: Fail): unknown {
  if (error instanceof OutboundRefused) {
    return fail("address", "may not be reached at its address", "not_done");
  }
  if (!(error instanceof OutboundFailed)) return error;
  switch (error.code) {
    case "timeout":
      return fail("timeout", "did not answer in time", "unknown");
    case "too_large":
      return fail("too_large", "gave an answer that is too large", "unknown");
    case "tls":
      return fail("tls", "has no certificate that can be trusted", "not_done");
    case "unresolvable":
      return fail("unreachable", "has a name that can't be resolved", "not_done");
    default: {
      const isRefused = error.systemCode === "ECONNREFUSED";
      return fail("unreachable", "can't be reached", isRefused ? "not_done" : "unknown");
    }
  }
}

/** Parses `Retry-After`: seconds, or a date. */
function retryAfterMs(header: string | undefined): number {
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header ?? "") - Date.now();
  return ms > 0 ? ms : DEFAULT_RETRY_AFTER_MS;
}
