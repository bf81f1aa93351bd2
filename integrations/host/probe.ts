import { spawn } from "node:child_process";
import { connect } from "node:net";
import { basename } from "node:path";
import { escapeInvisible } from "../../contract/mod.ts";
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
  /** Last line that a failing command has printed. */
  readonly output?: string;
}

const TIMEOUT_MS = 2_000;
/** Characters of a command's output that are kept until it ends, and of its last line. */
const MAX_OUTPUT_READ = 4_000;
const MAX_OUTPUT = 200;
/** Time to read the output of a command that has ended. */
const DRAIN_MS = 100;

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
  const { code, output } = await runCheck(check, timeoutMs, http);
  const elapsedMs = performance.now() - started;
  return { healthy: code === "ok", code, elapsedMs, ...(output ? { output } : {}) };
}

type CheckResult = Pick<ProbeResult, "code" | "output">;

async function runCheck(
  check: HealthCheck,
  timeoutMs: number,
  http?: HttpClient,
): Promise<CheckResult> {
  if ("http" in check) return { code: await checkHttp(check.http, timeoutMs, http) };
  if ("tcp" in check) return { code: await checkTcp(check.tcp, timeoutMs) };
  return await checkCommand(check.command, timeoutMs);
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
): Promise<CheckResult> {
  return new Promise((resolve) => {
    const child = spawn(program!, args, {
      env: minimalEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-MAX_OUTPUT_READ);
    };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", read);
    let isLate = false;
    const deadline = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    const end = (code: string) => {
      clearTimeout(deadline);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      resolve({ code, output: code === "ok" ? "" : lastLineOf(output) });
    };
    child.once("error", (error) => end(failureCode(error)));
    child.once("exit", (code, signal) => {
      const failure = signal?.toLowerCase() ?? `exit_${code}`;
      const result = isLate ? "timeout" : code === 0 ? "ok" : failure;
      child.once("close", () => end(result)); // all that it printed was read
      setTimeout(end, DRAIN_MS, result); // a program that it left behind keeps its output open
    });
  });
}

/** Returns the last line that has text, where people look for what went wrong. */
function lastLineOf(output: string): string {
  const line = output.split("\n").findLast((one) => one.trim() !== "")?.trim() ?? "";
  return escapeInvisible(line).slice(0, MAX_OUTPUT).toWellFormed();
}

function failureCode(error: unknown): string {
  if (error instanceof OutboundRefused) return `${error.code}_not_allowed`;
  const own = (error as { code?: unknown }).code;
  const code = error instanceof OutboundFailed ? error.systemCode ?? own : own;
  if (code === "timeout" || code === "ETIMEDOUT") return "timeout";
  if (code === "ECONNREFUSED") return "refused";
  return typeof code === "string" ? code.toLowerCase() : "unreachable";
}
