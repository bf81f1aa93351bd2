/** Lines as sshd writes them, and a log that detectors look at. */
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type DetailedFinding,
  detectAll,
  type DetectedFinding,
} from "../../../judgement/detection/mod.ts";
import type { TestContext } from "./_context.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Formats a line of sshd. @param secondsAgo when it was written */
export function sshd(message: string, secondsAgo = 0, pid = 4711): string {
  return syslog(`sshd[${pid}]: ${message}`, secondsAgo);
}

/** Formats a line of a host's log. @param secondsAgo when it was written */
export function syslog(message: string, secondsAgo = 0): string {
  const at = new Date(Date.now() - secondsAgo * 1_000);
  const day = String(at.getDate()).padStart(2, " ");
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((n) => String(n).padStart(2, "0")).join(":");
  return `${MONTHS[at.getMonth()]} ${day} ${time} gate ${message}\n`;
}

/** Formats lines of failed logins. */
export function failedLogins(source: string, times: number, user = "root"): string[] {
  return Array.from(
    { length: times },
    (_, i) => sshd(`Failed password for ${user} from ${source} port 4${i} ssh2`),
  );
}

/** A log of a test. */
export interface TestLog {
  readonly path: string;
  append(...lines: readonly string[]): Promise<void>;
  /** Runs the detector on it, and saves the result. @param timeoutMs limit of the detector */
  sweep(timeoutMs?: number): Promise<{
    findings: readonly DetailedFinding[];
    incidents: readonly DetectedFinding[];
    codes: string[];
    error: string | null;
  }>;
}

/** Creates a log that a detector looks at. @param settings of the file, as YAML has them */
export async function createTestLog(
  context: TestContext,
  name: string,
  { file = "", block = "" }: { file?: string; block?: string } = {},
): Promise<TestLog> {
  const path = join(context.folder, name);
  await writeFile(path, "");
  const indented = block.split("\n").map((line) => `  ${line}`).join("\n");
  const entry = `{ path: "${path}"${file && `, ${file}`} }`;
  const yaml = `logs:\n  files:\n    - ${entry}\n${indented}`;
  return {
    path,
    append: (...lines) => appendFile(path, lines.join("")),
    async sweep(timeoutMs) {
      const settings = { ...await context.with(yaml), ...timeoutMs ? { timeoutMs } : {} };
      const { findings, incidents, runs } = await detectAll(settings, { save: true });
      const { error } = runs.find(({ detector }) => detector === "logs")!;
      return { findings, incidents, codes: findings.map(({ code }) => code), error };
    },
  };
}
