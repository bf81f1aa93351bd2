/** A device whose agent is killed: the real agent in a folder of its own, and a script that tells each run of a command. */
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AGENT, findTalker, PYTHON } from "../../agent/_device.ts";
import type { Installed } from "./_platform.ts";

/** Name of the script that commands run: it writes the command's id into a file, takes some time, and prints a line. */
export const SCRIPT = "mark-run";

/** Writes the script and its file of the catalogue into a folder. */
export function writeScript(folder: string): void {
  const program = join(folder, "mark-run.sh");
  const lines = ["#!/bin/sh", 'echo "$SEALOOP_COMMAND_ID" >> "$1"', 'sleep "$2"', "echo output"];
  writeFileSync(program, lines.join("\n") + "\n");
  chmodSync(program, 0o755);
  writeFileSync(
    join(folder, `${SCRIPT}.yaml`),
    JSON.stringify({
      script: SCRIPT,
      version: 1,
      title: "Mark a run",
      about: "Writes the command's id into a file, and takes some time.",
      platforms: ["linux", "macos"],
      parameters: {
        file: { about: "The file.", pattern: "/[A-Za-z0-9/._-]{1,300}" },
        seconds: { about: "How long it takes.", pattern: "[0-9]\\.[0-9]" },
      },
      argv: [program, "{file}", "{seconds}"],
      timeout_seconds: 20,
      read_only: false,
      undo: { none: "What ran has run." },
    }),
  );
}

/** A line of a runner's journal. */
export interface JournalLine {
  readonly kind: string;
  readonly command_id?: string;
  readonly statement?: { readonly status: string };
}

/** A device whose agent is started again whenever it ends. */
export class KilledDevice {
  readonly id: string;
  /** File that its commands write their ids into. */
  readonly file: string;
  readonly #state: string;
  #agent: ChildProcess | undefined;
  #isWanted = true;
  said = "";

  constructor({ folder }: Installed) {
    this.#state = join(folder, "state");
    this.file = join(folder, "ran");
    const identity = readFileSync(join(this.#state, "runner", "identity.json"), "utf8");
    this.id = JSON.parse(identity).device_id;
  }

  start(): void {
    const agent = spawn(PYTHON, ["-I", AGENT, "run", "--user", "--state", this.#state], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    agent.stderr.on("data", (data) => this.said = (this.said + data).slice(-10_000));
    agent.on("exit", () => setTimeout(() => this.#isWanted && this.start(), 300));
    this.#agent = agent;
  }

  /** Kills both halves of its agent with -9. */
  kill(): void {
    this.#agent?.kill("SIGKILL");
  }

  /** Kills the talking half alone, which the other starts again. */
  killTalker(): void {
    const talker = findTalker(this.#agent!);
    if (talker !== undefined) process.kill(talker, "SIGKILL");
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    this.kill();
    await sleep(100);
  }

  /** Returns the ids of its commands that ran, each as often as it did. */
  runs(): string[] {
    return existsSync(this.file) ? readFileSync(this.file, "utf8").split("\n").filter(Boolean) : [];
  }

  journal(): JournalLine[] {
    const text = readFileSync(join(this.#state, "runner", "journal.ndjson"), "utf8");
    return text.split("\n").slice(0, -1).map((line) => JSON.parse(line));
  }
}
