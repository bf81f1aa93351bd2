import { spawn } from "node:child_process";
import { connect } from "node:net";
import { basename } from "node:path";
import { type HttpClient, openHttpClient, OutboundFailed, OutboundRefused } from "../http/mod.ts";
import { minimalEnvironment } from "./_environment.ts";

/** A health check of a service: one of the three. */
export type HealthCheck =
  | { readonly http: string }
  | { readonly tcp: string }
  | { readonly command: readonly string[] };

/** Kind of a health check. */
export type CheckKind = "http" | "tcp" | "command";

/** Result of a probe. `code` is `ok`, or what failed: refused, timeout, status_500, exit_1, sigsegv, … */
export interface ProbeResult {
  readonly healthy: boolean;
  readonly code: string;
  readonly elapsedMs: number;
}

const TIMEOUT_MS = 2_000;
/** Ends a command that takes too long. */
const KILL_SIGNAL = "SIGKILL";

/** Returns the kind of a check, for fingerprints. */
export function checkKind(check: HealthCheck): CheckKind {
  return "http" in check ? "http" : "tcp" in check ? "tcp" : "command";
}

/**
 * Describes a check as it may be shown: a URL without credentials and query, `host:port`, or the program alone, as
 * arguments may be secrets.
 *
 * @param check as the store has it; null: there is none
 */
export function describeCheck(check: unknown): { kind: CheckKind; target: string } | null {
  if (check === null) return null;
  const known = check as HealthCheck;
  const kind = checkKind(known);
  if ("tcp" in known) return { kind, target: known.tcp };
  if ("command" in known) return { kind, target: basename(known.command[0]!) };
  const { origin, pathname } = new URL(known.http);
  return { kind, target: origin + pathname };
}

/** Splits `host:port`. An address of version 6 stands in brackets, and is returned without them. */
export function parseHostPort(address: string): { host: string; port: number } {
  const at = address.lastIndexOf(":");
  return {
    host: address.slice(0, at).replace(/^\[|\]$/g, ""),
    port: Number(address.slice(at + 1)),
  };
}

/**
 * Runs a check once. Never throws: whatever goes wrong is the result.
 *
 * @param http for a URL that is not the operator's own; by default, a client that may reach the host of the check
 */
export async function probe(
  check: HealthCheck,
  timeoutMs = TIMEOUT_MS,
  http?: HttpClient,
): Promise<ProbeResult> {
  const started = performance.now();
  const code = await runCheck(check, timeoutMs, http);
  return { healthy: code === "ok", code, elapsedMs: performance.now() - started };
}

function runCheck(check: HealthCheck, timeoutMs: number, http?: HttpClient): Promise<string> {
  if ("http" in check) return checkHttp(check.http, timeoutMs, http);
  if ("tcp" in check) return checkTcp(check.tcp, timeoutMs);
  return checkCommand(check.command, timeoutMs);
}

async function checkHttp(url: string, timeoutMs: number, client?: HttpClient): Promise<string> {
  try {
    const http = client ?? openHttpClient({ allowHosts: [new URL(url).hostname] });
    const { status } = await http.request(url, { method: "GET", timeoutMs, ignoreBody: true });
    return status < 400 ? "ok" : `status_${status}`;
  } catch (error) {
    return failureCode(error);
  }
}

function checkTcp(address: string, timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(parseHostPort(address));
    const done = (code: string) => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(timeoutMs, () => done("timeout"));
    socket.once("connect", () => done("ok")).once("error", (error) => done(failureCode(error)));
  });
}

function checkCommand(
  [program, ...args]: readonly string[],
  timeoutMs: number,
): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(program!, args, {
      env: minimalEnvironment(),
      stdio: "ignore",
      timeout: timeoutMs,
      killSignal: KILL_SIGNAL,
    });
    child.once("error", (error) => resolve(failureCode(error)));
    child.once("exit", (code, signal) => {
      if (signal) resolve(signal === KILL_SIGNAL ? "timeout" : signal.toLowerCase());
      else resolve(code === 0 ? "ok" : `exit_${code}`);
    });
  });
}

function failureCode(error: unknown): string {
  if (error instanceof OutboundRefused) return `${error.code}_not_allowed`;
  const own = (error as { code?: unknown }).code;
  const code = error instanceof OutboundFailed ? error.systemCode ?? own : own;
  if (code === "timeout" || code === "ETIMEDOUT") return "timeout";
  if (code === "ECONNREFUSED") return "refused";
  return typeof code === "string" ? code.toLowerCase() : "unreachable";
}
