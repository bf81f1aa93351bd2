/** Lines as sshd writes them, and a log that is looked at. */
import { appendFile, writeFile } from "node:fs/promises";
import { detectAll, type DetectedFinding, type DetailedFinding } from "../../detection/mod.ts";
import { join } from "node:path";
import type { TestWorld } from "./_world.ts";

const MONTHS = [
  ...["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
];

/** A line of sshd. @param secondsAgo when it was written */
export function sshd(message: string, secondsAgo = 0, pid = 4711): string {
  const at = new Date(Date.now() - secondsAgo * 1_000);
  const day = String(at.getDate()).padStart(2, " ");
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((n) => String(n).padStart(2, "0")).join(":");
  return `${MONTHS[at.getMonth()]} ${day} ${time} gate sshd[${pid}]: ${message}\n`;
}

/** A log of a test. */
export interface TestLog {
  readonly path: string;
  append(...lines: readonly string[]): Promise<void>;
  /** Looks at it, and remembers. */
  look(): Promise<{
    findings: readonly DetailedFinding[];
    incidents: readonly DetectedFinding[];
    codes: string[];
    error: string | null;
  }>;
}

/** Makes a log that a world looks at. @param settings of the file, as YAML has them */
export async function testLog(
  world: TestWorld,
  name: string,
  { file = "", block = "" }: { file?: string; block?: string } = {},
): Promise<TestLog> {
  const path = join(world.folder, name);
  await writeFile(path, "");
  const yaml = `logs:\n  files:\n    - { path: "${path}"${file && `, ${file}`} }\n${
    block.split("\n").map((line) => `  ${line}`).join("\n")
  }`;
  return {
    path,
    append: (...lines) => appendFile(path, lines.join("")),
    async look() {
      const { findings, incidents, runs } = await detectAll(await world.with(yaml), {
        save: true,
      });
      const error = runs.find(({ detector }) => detector === "logs")!.error;
      return { findings, incidents, codes: findings.map(({ code }) => code), error };
    },
  };
}
