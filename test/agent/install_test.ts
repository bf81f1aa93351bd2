import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { testFolder } from "../_run.ts";
import { AGENT, readJson } from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { pins } from "./_ledger.ts";

const read = (name: string) => readFileSync(join(ROOT, "agent", name), "utf8");

describe("the install script", function () {
  let gateway: TestGateway;
  let home: string;
  beforeEach(async () => {
    gateway = await new TestGateway().start();
    gateway.trust = pins();
    home = await testFolder();
  });
  afterEach(() => gateway.stop());

  /** Fills the template as the platform does for each fetch. */
  function fill(more: Readonly<Record<string, string>> = {}): string {
    const values: Readonly<Record<string, string>> = {
      ORGANIZATION: "platform",
      SERVER: gateway.address,
      AGENT_SHA256: hash("sha256", readFileSync(AGENT)),
      PINS: JSON.stringify(gateway.trust),
      CODE: gateway.mintCode(),
      UNIT: read("sealoop-agent.service").trimEnd(),
      ...more,
    };
    return read("install.sh").replace(/\{\{([A-Z0-9_]+)\}\}/g, (_, name) => values[name]!);
  }
  async function run(script: string, ...args: string[]) {
    const path = join(await testFolder(), "install.sh");
    writeFileSync(path, script);
    return await new Promise<{ code: number; output: string }>((resolve) => {
      const env = { ...process.env, HOME: home };
      execFile("sh", [path, ...args], { env }, (error, out, err) => {
        resolve({ code: Number(error?.code ?? 0), output: out + err });
      });
    });
  }
  const isUntouched = () => readdirSync(home).length === 0 && gateway.requests === 0;

  it("has a unit that systemd takes, and that lets the agent ask whether the clock is synchronized", async function () {
    const path = join(await testFolder(), "sealoop-agent.service");
    writeFileSync(path, read("sealoop-agent.service"));
    const { error, text } = await new Promise<{ error: unknown; text: string }>((resolve) => {
      execFile("systemd-analyze", ["verify", path], (error, out, err) => {
        resolve({ error, text: out + err });
      });
    });
    if ((error as NodeJS.ErrnoException)?.code === "ENOENT" || !existsSync("/usr/bin/python3")) {
      console.log("    not run: it needs systemd-analyze and /usr/bin/python3");
      return this.skip();
    }
    assert.deepEqual([error, text], [null, ""]);
    // It would block adjtimex(2) altogether, and allow no device but the clock's.
    assert.doesNotMatch(read("sealoop-agent.service"), /^ProtectClock=/m);
  });

  it("installs the agent for a user, enrols it, and prints what is pinned", async () => {
    const { code, output } = await run(fill(), "--user", "--folder", join(home, "agent"));
    assert.equal(code, 0, output);
    assert.match(
      output,
      /This machine is the device DEV-[0-9a-f]{12} of platform\. Receipt: [0-9a-f]{16}/,
    );
    assert.match(output, /log key +ledger\.example +SHA-256 [0-9a-f]{64}/);
    assert.match(output, /quorum +2 of 3/);
    assert.match(output, /Start it with: .* run --state /);
    assert.deepEqual(readFileSync(join(home, "agent", "sealoop_agent.py")), readFileSync(AGENT));
    const identity = readJson(join(home, "agent", "state", "runner", "identity.json"));
    const again = await run(fill(), "--user", "--folder", join(home, "agent"));
    assert.match(again.output, /its agent was upgraded, its keys and pins were kept/);
    assert.deepEqual(readJson(join(home, "agent", "state", "runner", "identity.json")), identity);
  });

  it("does nothing where it was cut off, at every 100th byte and at each of the last", async () => {
    const script = Buffer.from(fill());
    const cuts = Array.from({ length: Math.floor(script.length / 100) }, (_, n) => n * 100);
    for (let at = script.length - 40; at < script.length - 1; at++) cuts.push(at);
    for (const at of cuts) {
      await run(script.subarray(0, at).toString(), "--user");
      assert.ok(isUntouched(), `cut at ${at} of ${script.length} it did something`);
    }
  });

  it("installs nothing where the agent is another than it pins", async () => {
    const { code, output } = await run(fill({ AGENT_SHA256: "ab".repeat(32) }), "--user");
    assert.equal(code, 1);
    assert.match(output, /the agent's SHA-256 is [0-9a-f]{64}, and this script pins abab/);
    assert.ok(!existsSync(join(home, ".local")));
  });

  it("refuses arguments that it does not know", async () => {
    const { code, output } = await run(fill(), "--usr");
    assert.deepEqual([code, /Unknown argument: --usr/.test(output), isUntouched()], [
      2,
      true,
      true,
    ]);
  });
});
