/** Agents as processes, with a gateway that is new for each test of a suite. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeviceCommand } from "../../contract/domain/mod.ts";
import { AGENT, type Device, PYTHON } from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { makeCommand } from "./_ledger.ts";

const TIMEOUT_MS = 120_000;

/** Fields of a message or a statement. */
export type Fields = Record<string, unknown>;

/** A gateway and agents for the tests of a suite. Made within `describe()`. */
export class AgentScene {
  gateway!: TestGateway;
  /** Everything that agents wrote as errors. */
  errors = "";
  readonly #running: ChildProcess[] = [];

  constructor() {
    beforeEach(async () => {
      this.gateway = await new TestGateway().start();
      this.errors = "";
    });
    afterEach(async () => {
      for (const child of this.#running.splice(0)) await this.end(child);
      await this.gateway.stop();
    });
  }

  /** @param program Python and the agent that it runs */
  run({ state }: Device, args: readonly string[] = ["--user"], program = [PYTHON, AGENT]) {
    const [python, agent] = program;
    const child = spawn(python!, ["-I", agent!, "run", ...args, "--state", state], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr.on("data", (data) => this.errors += data);
    this.#running.push(child);
    return child;
  }

  /** Ends an agent, and waits until it has ended. */
  async end(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (child.exitCode !== null || child.signalCode) return;
    const ended = new Promise((resolve) => child.on("close", resolve));
    child.kill(signal);
    await ended;
  }

  /** Waits until something is so. */
  async until(isSo: () => boolean, what: string): Promise<void> {
    for (const end = Date.now() + TIMEOUT_MS; !isSo(); await sleep(20)) {
      if (Date.now() > end) throw new Error(`Not so within two minutes: ${what}\n${this.errors}`);
    }
  }

  /** Issues a command for the next heartbeat, and returns its id. */
  async issue(device: Device, sequence: number, more: Partial<DeviceCommand> = {}) {
    const bundle = await this.gateway.ledger.issue(
      makeCommand(device.id, sequence, device.marker, more),
    );
    const { queues } = this.gateway;
    queues.set(device.id, [...queues.get(device.id) ?? [], bundle]);
    return bundle.command.command_id;
  }

  /** Returns the statement that ended a command, if it came. */
  endOf(id: string) {
    return this.gateway.statements.find(({ command_id, phase }) =>
      command_id === id && phase === "ended"
    );
  }
}
