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

  constructor() {
    const program = join(ROOT, "test", "agent", "_functions.py");
    this.#child = spawn(PYTHON, ["-I", program, dirname(AGENT)], {
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
