/** Calls functions of the agent in a Python process. */
import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "../../config.ts";
import { AGENT, PYTHON } from "./_device.ts";

/** Answer of a function: its result, or the ValueError that it raised. */
export interface Answer {
  readonly result?: unknown;
  readonly error?: string;
}

/** A Python process that has loaded the agent. */
export class AgentFunctions {
  readonly #child: ChildProcess;
  readonly #waiting: ((answer: Answer) => void)[] = [];

  /** @param before program that runs it, with its arguments */
  constructor(before: readonly string[] = []) {
    const program = join(ROOT, "test", "agent", "_functions.py");
    const [first, ...rest] = [...before, PYTHON, "-I", program, dirname(AGENT)];
    this.#child = spawn(first!, rest, {
      stdio: ["pipe", "pipe", "inherit"],
    });
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      this.#waiting.shift()!(JSON.parse(line));
    });
  }

  call(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Answer> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#child.stdin!.write(`${JSON.stringify({ call: name, ...fields })}\n`);
    });
  }

  /** Calls a function, and returns its result. @throws {Error} it raised a ValueError */
  async result<T>(name: string, fields: Readonly<Record<string, unknown>> = {}): Promise<T> {
    const { result, error } = await this.call(name, fields);
    if (error !== undefined) throw new Error(error);
    return result as T;
  }

  stop(): void {
    this.#child.stdin!.end();
  }
}
