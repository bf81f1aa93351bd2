import { spawn } from "node:child_process";
import { minimalEnvironment } from "../../integrations/host/mod.ts";
import { NotHad } from "./observer.ts";

/** Result of a program. */
export interface ProgramResult {
  /** `exit_0`, the signal that ended it, or `timeout`. */
  readonly code: string;
  /** The end of what it has printed, both streams. */
  readonly text: string;
}

const TIMEOUT_MS = 5_000;
const MAX_TEXT = 8_000;
/** Time to read the output of a program that has ended. */
const DRAIN_MS = 100;

/** Runs a program that only looks. @throws {NotHad} `no_program`, `permission` */
export function runProgram(
  [program, ...args]: readonly string[],
  maxText = MAX_TEXT,
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program!, args, {
      env: minimalEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    let text = "";
    const read = (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-maxText);
    };
    for (const stream of [child.stdout, child.stderr]) stream.on("data", read);
    child.once("error", ({ code }: NodeJS.ErrnoException) => {
      reject(new NotHad(code === "ENOENT" ? "no_program" : "permission"));
    });
    child.once("exit", (code, signal) => {
      const ended = signal === "SIGKILL" ? "timeout" : signal?.toLowerCase() ?? `exit_${code}`;
      const end = () => {
        for (const stream of [child.stdout, child.stderr]) stream.destroy();
        resolve({ code: ended, text });
      };
      child.once("close", end); // all that it printed was read
      setTimeout(end, DRAIN_MS); // a program that it left behind keeps its output open
    });
  });
}
