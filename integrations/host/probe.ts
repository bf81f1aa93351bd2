import { spawn } from "node:child_process";
import { connect } from "node:net";
import { basename } from "node:path";
import { createTimeoutSignal } from "../../contract/mod.ts";

/** How a service's health is looked at: one of the three. */
export type HealthCheck =
  | { readonly http: string }
  | { readonly tcp: string }
  | { readonly command: readonly string[] };

/** What a look gave. `code` is `ok`, or what failed: refused, timeout, status_500, exit_1, … */
export interface ProbeResult {
  readonly healthy: boolean;
  readonly code: string;
  readonly elapsedMs: number;
}

/** Longest that a probe takes, milliseconds. */
export const PROBE_MS = 2_000;

/** Kind of a check, for fingerprints. */
export function checkKind(check: HealthCheck): "http" | "tcp" | "command" {
  return "http" in check ? "http" : "tcp" in check ? "tcp" : "command";
}

/**
 * What a check looks at, as it may be shown: a URL without credentials and query, `host:port`, or the program alone, as
 * arguments may be secrets.
 *
 * @param check as the store has it; null: there is none
 */
export function describeCheck(
  check: unknown,
): { kind: "http" | "tcp" | "command"; target: string } | null {
  if (check === null) return null;
  const known = check as HealthCheck;
  const kind = checkKind(known);
  if ("tcp" in known) return { kind, target: known.tcp };
  if ("command" in known) return { kind, target: basename(known.command[0]!) };
  const { origin, pathname } = new URL(known.http);
  return { kind, target: origin + pathname };
}

/** Looks once. Never throws: whatever goes wrong is what was found. */
export async function probe(check: HealthCheck, timeoutMs = PROBE_MS): Promise<ProbeResult> {
  const started = performance.now();
  const code = await look(check, timeoutMs);
  return { healthy: code === "ok", code, elapsedMs: performance.now() - started };
}

function look(check: HealthCheck, timeoutMs: number): Promise<string> {
  if ("http" in check) return lookHttp(check.http, timeoutMs);
  if ("tcp" in check) return lookTcp(check.tcp, timeoutMs);
  return lookCommand(check.command, timeoutMs);
}

async function lookHttp(url: string, timeoutMs: number): Promise<string> {
  try {
    const response = await fetch(url, {
      signal: createTimeoutSignal(timeoutMs),
      redirect: "manual",
      headers: { connection: "close" },
    });
    await response.body?.cancel();
    return response.status < 400 ? "ok" : `status_${response.status}`;
  } catch (error) {
    return reason(error);
  }
}

function lookTcp(address: string, timeoutMs: number): Promise<string> {
  const at = address.lastIndexOf(":");
  return new Promise((resolve) => {
    const socket = connect({ host: address.slice(0, at), port: Number(address.slice(at + 1)) });
    const done = (code: string) => {
      socket.destroy();
      resolve(code);
    };
    socket.setTimeout(timeoutMs, () => done("timeout"));
    socket.once("connect", () => done("ok")).once("error", (error) => done(reason(error)));
  });
}

function lookCommand([program, ...args]: readonly string[], timeoutMs: number): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn(program!, args, {
      stdio: "ignore",
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    child.once("error", (error) => resolve(reason(error)));
    child.once("exit", (code, signal) => {
      resolve(signal ? "timeout" : code === 0 ? "ok" : `exit_${code}`);
    });
  });
}

function reason(error: unknown): string {
  const { name, code, cause } = error as NodeJS.ErrnoException & { cause?: NodeJS.ErrnoException };
  const system = code ?? cause?.code;
  if (name === "TimeoutError" || system === "ETIMEDOUT") return "timeout";
  if (system === "ECONNREFUSED") return "refused";
  return typeof system === "string" ? system.toLowerCase() : "unreachable";
}
