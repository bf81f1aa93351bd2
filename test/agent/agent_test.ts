import assert from "node:assert/strict";
import { hash, randomInt } from "node:crypto";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeviceCommand } from "../../domain/mod.ts";
import { computeCommitment } from "../../store/mod.ts";
import { testFolder } from "../_run.ts";
import {
  AGENT,
  copyDevice,
  countRuns,
  type Device,
  enroll,
  PYTHON,
  readJson,
  runAgent,
} from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { makeCommand, pins } from "./_ledger.ts";

type Fields = Record<string, unknown>;

describe("the agent", function () {
  this.timeout(60_000);
  let gateway: TestGateway;
  const running: ChildProcess[] = [];
  beforeEach(async () => {
    gateway = await new TestGateway().start();
    errors = "";
  });
  afterEach(async () => {
    for (const child of running.splice(0)) await end(child);
    await gateway.stop();
  });

  let errors = "";
  /** @param program Python and the agent that it runs */
  function run({ state }: Device, args: readonly string[] = ["--user"], program = [PYTHON, AGENT]) {
    const [python, agent] = program;
    const child = spawn(python!, ["-I", agent!, "run", ...args, "--state", state], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    child.stderr.on("data", (data) => errors += data);
    running.push(child);
    return child;
  }
  async function end(child: ChildProcess, signal: NodeJS.Signals = "SIGTERM") {
    if (child.exitCode !== null || child.signalCode) return;
    const ended = new Promise((resolve) => child.on("close", resolve));
    child.kill(signal);
    await ended;
  }
  async function until(isSo: () => boolean, what: string, seconds = 20) {
    for (let n = 0; !isSo(); n++) {
      if (n > seconds * 50) throw new Error(`Not so after ${seconds} s: ${what}\n${errors}`);
      await sleep(20);
    }
  }
  /** Issues a command for the next heartbeat, and returns its id. */
  async function issue(device: Device, sequence: number, more: Partial<DeviceCommand> = {}) {
    const bundle = await gateway.ledger.issue(
      makeCommand(device.id, sequence, device.marker, more),
    );
    gateway.queues.set(device.id, [...gateway.queues.get(device.id) ?? [], bundle]);
    return bundle.command.command_id;
  }
  const endOf = (id: string) =>
    gateway.statements.find(({ command_id, phase }) => command_id === id && phase === "ended");

  it("enrols, runs what it is issued, and shows a person what was approved and what ran", async () => {
    const device = await enroll(gateway);
    run(device);
    const id = await issue(device, 1);
    await until(() => gateway.outputs.has(id), "the output came");
    assert.equal(countRuns(device), 1);
    const ended = endOf(id)!;
    const { salt, output } = gateway.outputs.get(id)!;
    assert.equal(output.toString(), "output\n");
    const commitment = computeCommitment(Buffer.from(salt, "hex"), output.toString());
    assert.equal(ended.output_sha256, commitment);

    const { code, output: shown } = await runAgent(
      "verify-bundle",
      id,
      "--user",
      "--state",
      device.state,
    );
    assert.equal(code, 0, shown);
    assert.match(shown, /^issued +receipt [0-9a-f]{16} at position \d+/m);
    assert.match(shown, /^begun +receipt [0-9a-f]{16}/m);
    assert.match(shown, /^ended +receipt [0-9a-f]{16} at position \d+: done, exit_code 0/m);
    const status = await runAgent("status", "--user", "--state", device.state);
    assert.match(status.output, new RegExp(`${device.id} of platform`));

    const path = join(device.state, "runner", "commands", id, "bundle.json");
    writeFileSync(path, readFileSync(path, "utf8").replace('"/bin/sh"', '"/bin/sx"'));
    const altered = await runAgent("verify-bundle", id, "--user", "--state", device.state);
    assert.equal(altered.code, 1);
    assert.match(altered.output, /commitment_mismatch/);
  });

  it("sends one heartbeat at a time with growing counters, and the very same one again where no answer came", async () => {
    const device = await enroll(gateway);
    gateway.silent = true;
    const child = run(device);
    await until(() => gateway.heartbeats.length >= 2, "it tries again");
    assert.equal(new Set(gateway.heartbeats.map(({ sha256 }) => sha256)).size, 1);
    gateway.silent = false;
    await until(
      () => new Set(gateway.heartbeats.map(({ fields }) => fields.counter)).size > 2,
      "beats",
    );
    await end(child, "SIGKILL");
    const before = Math.max(...gateway.heartbeats.map(({ fields }) => Number(fields.counter)));
    assert.ok(Number(readFileSync(join(device.state, "talker", "counter"), "utf8")) >= before);
    run(device);
    await until(() => Number(gateway.heartbeats.at(-1)!.fields.counter) > before, "it goes on");
    assert.ok(!errors.includes("cloned"), errors);
  });

  it("is found by its counter where its folder was cloned", async () => {
    const device = await enroll(gateway);
    const clone = await copyDevice(device);
    run(device);
    await until(() => gateway.heartbeats.length >= 2, "beats");
    run(clone);
    await until(() => errors.includes("cloned"), "the clone is found");
  });

  it("sends its inventory once, then what has changed, and all of it where the platform lost it", async () => {
    const device = await enroll(gateway);
    run(device);
    await until(() => gateway.heartbeats.length >= 3, "beats");
    const deltas = gateway.heartbeats.map(({ fields }) =>
      Object.keys(fields.delta as Fields ?? {})
    );
    assert.ok(deltas[0]!.includes("os") && deltas[0]!.includes("listeners"), String(deltas[0]));
    assert.ok(!deltas[2]!.includes("os"), String(deltas[2]));
    const seen = gateway.heartbeats.length;
    gateway.inventories.delete(device.id);
    await until(() => gateway.heartbeats.length > seen + 3, "beats");
    const later = gateway.heartbeats.slice(seen).map(({ fields }) =>
      Object.keys(fields.delta as Fields ?? {})
    );
    assert.ok(later.some((names) => names.includes("os")));
  });

  it("cosigns the checkpoints that it accepts", async () => {
    const device = await enroll(gateway);
    run(device);
    gateway.ledger.seal({});
    const size = gateway.ledger.records.length;
    await until(
      () => gateway.heartbeats.some(({ fields }) => fields.log_size === size),
      "accepted",
    );
    const { fields } = gateway.heartbeats.find(({ fields }) => fields.log_size === size)!;
    assert.match(String(fields.cosignature), new RegExp(`^— ${device.id} [A-Za-z0-9+/=]+\\n$`));
  });

  it("waits while the platform is away, and runs once when it is back in time", async () => {
    const device = await enroll(gateway);
    run(device);
    await until(() => gateway.heartbeats.length > 0, "beats");
    gateway.silent = true;
    const id = await issue(device, 1);
    await sleep(1000);
    assert.equal(countRuns(device), 0);
    gateway.silent = false;
    await until(() => endOf(id) !== undefined, "it ended");
    assert.equal(countRuns(device), 1);
  });

  it("talks as a user without rights, who can neither read the runner's files nor gain any", async function () {
    // A Python that others may run, unlike one in a home folder.
    const python = "/usr/bin/python3";
    if (process.getuid?.() !== 0 || process.platform !== "linux" || !existsSync(python)) {
      return this.skip();
    }
    const device = await enroll(gateway, 0, ["--talker-user", "nobody"]);
    const folder = dirname(device.state);
    const agent = join(folder, "sealoop_agent.py");
    copyFileSync(AGENT, agent);
    chmodSync(folder, 0o755);
    chmodSync(agent, 0o755);
    const child = run(device, [], [python, agent]);
    await until(() => gateway.heartbeats.length > 0, "beats");
    const talker = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim();
    const status = readFileSync(`/proc/${talker}/status`, "utf8");
    assert.doesNotMatch(status, /^Uid:\t0/m);
    assert.match(status, /^NoNewPrivs:\t1/m);
    assert.match(status, /^CapEff:\t0{16}/m);
    assert.equal(statSync(join(device.state, "runner")).mode & 0o777, 0o700);
    const argv = ["/bin/sh", "-c", "id -un"];
    const id = await issue(device, 1, { argv, user: "nobody" });
    await until(() => gateway.outputs.has(id), "the output came");
    assert.equal(gateway.outputs.get(id)!.output.toString(), "nobody\n");
  });

  it("shows the enrolment's code to nobody: it is in a file that others can't read, and in no argument", async () => {
    const folder = await testFolder();
    writeFileSync(join(folder, "pins.json"), JSON.stringify(pins()));
    writeFileSync(join(folder, "code"), gateway.mintCode(), { mode: 0o644 });
    const { code, output } = await runAgent(
      ...["enroll", "--user", "--server", gateway.address, "--state", join(folder, "state")],
      ...["--code-file", join(folder, "code"), "--pins", join(folder, "pins.json")],
    );
    assert.deepEqual([code, /can be read by others/.test(output)], [1, true]);
  });

  it("does not enrol where the platform names other keys than the install script pinned", async () => {
    const folder = await testFolder();
    const { log_key, ...rest } = pins();
    gateway.trust = { ...rest, log_key, quorum: 1 };
    writeFileSync(join(folder, "pins.json"), JSON.stringify(pins()));
    writeFileSync(join(folder, "code"), gateway.mintCode(), { mode: 0o600 });
    const { code, output } = await runAgent(
      ...["enroll", "--user", "--server", gateway.address, "--state", join(folder, "state")],
      ...["--code-file", join(folder, "code"), "--pins", join(folder, "pins.json")],
    );
    assert.deepEqual([code, /names other keys/.test(output)], [1, true]);
    assert.ok(!existsSync(join(folder, "state", "runner", "identity.json")));
  });

  it("talks to other machines over TLS alone", async () => {
    const device = await enroll(gateway);
    const path = join(device.state, "talker", "server.json");
    writeFileSync(path, JSON.stringify({ ...readJson(path), url: "http://example.com" }));
    run(device);
    await until(() => /is no address with https/.test(errors), "it refuses");
  });

  it("runs more commands than it runs at once, each in its turn", async () => {
    const device = await enroll(gateway);
    const argv = ["/bin/sh", "-c", 'sleep 0.7; echo ran >> "$0"', device.marker];
    const ids: string[] = [];
    for (let n = 1; n <= 9; n++) ids.push(await issue(device, n, { argv }));
    run(device);
    await until(() => ids.every((id) => endOf(id)), "all ended");
    assert.deepEqual(ids.map((id) => endOf(id)!.status), ids.map(() => "done"));
    assert.equal(countRuns(device), 9);
  });

  it("brings every command to its end once, and its output, killed at random together with its talker and the platform", async function () {
    this.timeout(120_000);
    const device = await enroll(gateway);
    const COMMANDS = 8;
    const script = 'echo "$SEALOOP_COMMAND_ID" >> "$0"; sleep 0.1; echo output';
    const ids: string[] = [];
    for (let n = 1; n <= COMMANDS; n++) {
      ids.push(await issue(device, n, { argv: ["/bin/sh", "-c", script, device.marker] }));
    }
    const talkerOf = ({ pid }: ChildProcess) => {
      const children = `/proc/${pid}/task/${pid}/children`;
      return existsSync(children) ? Number(readFileSync(children, "utf8").split(" ")[0]) : 0;
    };
    let agent = run(device);
    for (let n = 0; n < 12; n++) {
      await sleep(randomInt(100, 900));
      if (agent.exitCode !== null) agent = run(device); // the one before had not let go of the state folder
      const kind = process.platform === "linux" ? randomInt(3) : 0;
      if (kind === 0) {
        await end(agent, "SIGKILL");
        agent = run(device);
      } else if (kind === 1) {
        const talker = talkerOf(agent);
        if (talker > 0) process.kill(talker, "SIGKILL");
      } else gateway.silent = !gateway.silent;
    }
    gateway.silent = false;
    if (agent.exitCode !== null) run(device);
    const isOver = (id: string) => {
      const status = endOf(id)?.status;
      return status === "unknown" || status === "done" && gateway.outputs.has(id);
    };
    await until(() => ids.every(isOver), "every command came to its end", 60);
    const ran = readFileSync(device.marker, "utf8").trim().split("\n");
    assert.equal(new Set(ran).size, ran.length, "a command ran twice");
    for (const id of ids) {
      const ends = gateway.statements.filter(({ command_id, phase }) =>
        command_id === id && phase === "ended"
      );
      assert.equal(ends.length, 1);
    }
  });

  it("is upgraded by a command like any other, and goes on as the new program", async () => {
    const device = await enroll(gateway);
    const agent = join(dirname(device.state), "sealoop_agent.py");
    copyFileSync(AGENT, agent);
    gateway.agent = `${readFileSync(AGENT, "utf8")}# the next version\n`;
    const next = hash("sha256", gateway.agent);
    run(device, ["--user"], [PYTHON, agent]);
    const other = await issue(device, 1, {
      argv: ["sealoop-agent", "upgrade", "--sha256", "ab".repeat(32)],
    });
    await until(() => endOf(other) !== undefined, "it ended");
    assert.equal(endOf(other)!.status, "failed");
    const id = await issue(device, 2, { argv: ["sealoop-agent", "upgrade", "--sha256", next] });
    await until(() => endOf(id) !== undefined, "it ended");
    assert.equal(endOf(id)!.status, "done");
    const isNew = () => (gateway.inventories.get(device.id)?.agent as Fields)?.sha256 === next;
    await until(isNew, "the new program beats");
    await issue(device, 3);
    await until(() => countRuns(device) === 1, "it runs commands");
  });

  it("removes all that it kept when it is uninstalled, and only when that is meant", async () => {
    const device = await enroll(gateway);
    assert.equal((await runAgent("uninstall", "--user", "--state", device.state)).code, 1);
    assert.ok(existsSync(device.state));
    const { code } = await runAgent("uninstall", "--yes", "--user", "--state", device.state);
    assert.equal(code, 0);
    assert.deepEqual(readdirSync(dirname(device.state)).sort(), ["code", "pins.json"]);
  });

  it("says on Windows that it can't run there", async () => {
    const program = `import runpy, sys; sys.platform = "win32"; runpy.run_path(${
      JSON.stringify(AGENT)
    }, run_name="__main__")`;
    const { code, text } = await new Promise<{ code: unknown; text: string }>((resolve) => {
      execFile(
        PYTHON,
        ["-c", program],
        (error, out, err) => resolve({ code: error?.code, text: out + err }),
      );
    });
    assert.deepEqual([code, text.trim()], [
      1,
      "sealoop-agent: Cannot run on win32: the agent runs on Linux and macOS only",
    ]);
  });
});
