/** A platform with people and workers, and a real agent on a device of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadScripts, releaseScripts, scriptsFolder } from "../../../judgement/catalogue/mod.ts";
import { ROOT } from "../../../config.ts";
import { getPublishedCheckpoint } from "../../../ledger/mod.ts";
import { getApproval } from "../../../store/approvals/mod.ts";
import type { Approvers } from "../../../store/devices/mod.ts";
import { openPeople, type People } from "../../api/_people.ts";
import { addTestDevice, type TestDevice, writeAgentState } from "./protocol/_devices.ts";
import { eventually } from "../../_time.ts";

/** The agent's one file. */
export const AGENT = join(ROOT, "dist", "agent", "sealoop_agent.py");
/** Python that runs the agent. */
export const PYTHON = process.env.SEALOOP_TEST_PYTHON ?? "python3";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

/** A device with a real agent. */
export class Machine {
  said = "";
  #agent: ChildProcess | undefined;

  constructor(
    readonly people: People,
    readonly device: TestDevice,
    readonly state: string,
  ) {}

  get id(): string {
    return this.device.id;
  }

  /** Starts its agent. @param before words that come before its program, such as one that starts it */
  start(...before: readonly string[]): void {
    const agent = [PYTHON, "-I", AGENT, "run", "--user", "--state", this.state];
    const [file, ...args] = [...before, ...agent];
    this.#agent = spawn(file!, args);
    this.#agent.stderr!.on("data", (data) => this.said += data);
  }

  /** Stops its agent as an end of the machine does. */
  async stop(): Promise<void> {
    const agent = this.#agent;
    if (!agent || agent.exitCode !== null) return;
    await new Promise((resolve) => {
      agent.on("exit", resolve);
      agent.kill();
    });
  }

  /** Orders a command, and waits until people can decide about it where they have to. */
  async order(body: object, who = "program"): Promise<{ status: number; body: Json }> {
    const path = `/v1/devices/${this.id}/command`;
    const answer = await this.people.call("POST", path, who, body);
    const { approval_id } = answer.body;
    if (approval_id) await approvalBegins(this.people, approval_id);
    return answer;
  }

  /** Returns what is known of a command. */
  async read(commandId: string): Promise<Json> {
    const path = `/v1/devices/${this.id}/command?command_id=${commandId}`;
    const { body } = await this.people.call("GET", path, "admin");
    if (!body.commands) throw new Error(JSON.stringify(body));
    return body.commands[0];
  }

  /** Waits until a command has one of these states. */
  async until(commandId: string, ...statuses: readonly string[]): Promise<Json> {
    for (const end = Date.now() + 120_000;; await sleep(100)) {
      const command = await this.read(commandId);
      if (statuses.includes(command.status)) return command;
      if (Date.now() > end) throw new Error(`${JSON.stringify(command)}\n${this.said}`);
    }
  }
}

/** Waits until people can decide about an approval, which may be after the answer that names it. */
export async function approvalBegins({ store }: People, id: string): Promise<void> {
  await eventually(async () => (await getApproval(store.asPlatform(), id))?.moves || undefined);
}

/** Opens a platform whose catalogue is released. */
export async function openCommandPlatform(
  settings: Record<string, string> = {},
): Promise<People> {
  const people = await openPeople(settings);
  await releaseScripts(people.store, loadScripts(scriptsFolder(people.loop.config)));
  await eventually(async () => {
    const published = await getPublishedCheckpoint(people.store);
    return published && published.size > 0 ? published : undefined;
  });
  return people;
}

/** Adds a machine, whose agent is not started yet. @param approvers that it pins */
export async function addMachine(
  people: People,
  approvers?: Approvers,
): Promise<Machine> {
  const device = await addTestDevice(people.platform.store, people.url, "platform");
  return new Machine(people, device, await writeAgentState(people, device, approvers));
}
