/** Devices of tests: an enrolled folder, the agent's programs as processes, and a talker that the test plays itself. */
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT } from "../../config.ts";
import { testFolder } from "../_run.ts";
import type { Approvers } from "../../store/devices/mod.ts";
import type { TestGateway } from "./_gateway.ts";
import { pins } from "./_ledger.ts";

/** The agent's one file. */
export const AGENT = join(ROOT, "dist", "agent", "sealoop_agent.py");
/** Python that runs the agent: the program itself, as a shim has children of its own, and ends where they are killed. */
export const PYTHON = execFileSync(
  process.env.SEALOOP_TEST_PYTHON ?? "python3",
  ["-c", "import sys; print(sys.executable)"],
  { encoding: "utf8" },
).trim();

/** Returns the process of an agent's talking half; undefined where it is none, or not known. */
export function findTalker(agent: ChildProcess): number | undefined {
  try {
    const children = readFileSync(`/proc/${agent.pid}/task/${agent.pid}/children`, "utf8");
    return children.split(" ").filter(Boolean).map(Number).find((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("\0talk\0")
    );
  } catch {
    return undefined; // one of them has just ended
  }
}

/** End of a program. */
export interface Ended {
  readonly code: number;
  readonly output: string;
}

/** Runs a command of the agent to its end. */
export function runAgent(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(PYTHON, ["-I", AGENT, ...args], (error, out, err) => {
      resolve({ code: Number(error?.code ?? 0), output: out + err });
    });
  });
}

/** An enrolled device. */
export interface Device {
  readonly state: string;
  readonly id: string;
  /** File that its commands append a line to. */
  readonly marker: string;
}

/**
 * Enrols a device in a new folder.
 *
 * @param required number of approvers' signatures
 * @param options of the command
 * @param approvers that it pins; default: by their keys alone
 */
export async function enroll(
  gateway: TestGateway,
  required = 0,
  options: readonly string[] = ["--user"],
  approvers?: Approvers,
): Promise<Device> {
  const folder = await testFolder();
  const state = join(folder, "state");
  gateway.trust = { ...pins(required), ...(approvers ? { approvers } : {}) };
  await writeFile(join(folder, "pins.json"), JSON.stringify(gateway.trust));
  await writeFile(join(folder, "code"), gateway.mintCode(), { mode: 0o600 });
  await mkdir(state, { recursive: true });
  const { code, output } = await runAgent(
    "enroll",
    ...options,
    ...["--server", gateway.address],
    ...["--state", state],
    ...["--code-file", join(folder, "code")],
    ...["--pins", join(folder, "pins.json")],
    ...["--name", "test"],
  );
  if (code !== 0) throw new Error(output);
  const { device_id } = readJson(join(state, "runner", "identity.json"));
  return { state, id: String(device_id), marker: join(folder, "marker") };
}

/** Returns a device in a copy of its folder, as a clone has it. */
export async function copyDevice({ state, id }: Device): Promise<Device> {
  const folder = await testFolder();
  await cp(state, join(folder, "state"), { recursive: true });
  return { state: join(folder, "state"), id, marker: join(folder, "marker") };
}

/** Returns the size of the log that a device has accepted. */
export function readAcceptedSize({ state }: Device): number {
  const { checkpoint } = readJson(join(state, "runner", "accepted.json"));
  return Number(String(checkpoint).split("\n")[1]);
}

/** Reads a file of the agent's. */
export const readJson = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(path, "utf8"));

/** Returns the lines of a device's journal. */
export function readJournal({ state }: Device): Record<string, unknown>[] {
  const text = readFileSync(join(state, "runner", "journal.ndjson"), "utf8");
  return text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

/** Returns how often commands of a device ran. */
export function countRuns({ marker }: Device): number {
  try {
    return readFileSync(marker, "utf8").split("\n").length - 1;
  } catch {
    return 0;
  }
}

/** A line that a runner wrote. */
export type Message = Readonly<Record<string, unknown>> & { readonly type: string };

/** A runner whose talker is the test. */
export class TestRunner {
  readonly messages: Message[] = [];
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #waiting: (() => void)[] = [];
  #hasEnded = false;
  errors = "";

  /**
   * @param env added to the environment
   * @param before shell lines that set up the process
   */
  constructor({ state }: Device, env: Readonly<Record<string, string>> = {}, before = "") {
    const argv = [PYTHON, "-I", AGENT, "runner", "--user", "--state", state];
    this.#child = spawn("/bin/sh", ["-c", `${before}\nexec "$@"`, "sh", ...argv], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      this.messages.push(JSON.parse(line));
      this.#wake();
    });
    this.#child.stderr!.on("data", (data) => this.errors += data);
    this.#child.stdin!.on("error", () => {}); // it was killed
    this.ended = new Promise((resolve) => {
      this.#child.on("close", () => {
        this.#hasEnded = true;
        this.#wake();
        resolve();
      });
    });
  }

  #wake() {
    const waiting = this.#waiting;
    this.#waiting = [];
    waiting.forEach((wake) => wake());
  }

  send(message: unknown): void {
    this.#child.stdin!.write(
      typeof message === "string" ? `${message}\n` : `${JSON.stringify(message)}\n`,
    );
  }

  /** Takes the next message of some types, with those before it. @throws {Error} the runner ended */
  async take(...types: readonly string[]): Promise<Message> {
    for (;;) {
      const at = this.messages.findIndex(({ type }) => types.includes(type));
      if (at >= 0) return this.messages.splice(at, 1)[0]!;
      if (this.#hasEnded) {
        throw new Error(`The runner ended: ${this.errors}`);
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Asks something and takes the answer. */
  async ask(message: unknown, ...types: readonly string[]): Promise<Message> {
    this.send(message);
    return await this.take(...types);
  }

  kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    return this.ended;
  }

  /** Ends it as the loss of its talker does. */
  stop(): Promise<void> {
    this.#child.stdin!.end();
    return this.ended;
  }
}
