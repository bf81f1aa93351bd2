import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { testFolder } from "../_run.ts";
import { sized } from "../_size.ts";
import { AGENT, PYTHON, readJson } from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { pins } from "./_ledger.ts";
import { canMakeCertificates, TestProxy, TlsServer } from "./_proxy.ts";

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
  const run = (script: string, ...args: string[]) => runWith({}, script, ...args);
  async function runWith(more: NodeJS.ProcessEnv, script: string, ...args: string[]) {
    const path = join(await testFolder(), "install.sh");
    writeFileSync(path, script);
    return await new Promise<{ code: number; output: string }>((resolve) => {
      const env = { ...process.env, HOME: home, ...more };
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

  it("does nothing where it was cut off, all along and at each of its last bytes", async () => {
    const script = Buffer.from(fill());
    const count = sized(Math.floor(script.length / 100));
    const cuts = Array.from({ length: count }, (_, n) => Math.floor(n * script.length / count));
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

  it("installs nothing as root in a folder that others own, or can write to, or that is below such a one", async function () {
    if (process.getuid?.() !== 0) return this.skip();
    const nobody = 65_534;
    const makers: Readonly<Record<string, (folder: string) => string>> = {
      "owned by another": (folder) => {
        mkdirSync(folder);
        chownSync(folder, nobody, nobody);
        return folder;
      },
      "below one of another's": (folder) => {
        mkdirSync(folder);
        chownSync(folder, nobody, nobody);
        return join(folder, "new", "agent");
      },
      "that all can write to": (folder) => {
        mkdirSync(folder);
        chmodSync(folder, 0o777);
        return folder;
      },
      "that a group can write to": (folder) => {
        mkdirSync(folder);
        chmodSync(folder, 0o775);
        return join(folder, "agent");
      },
      "behind a link to one of another's": (folder) => {
        mkdirSync(`${folder} of another`);
        chownSync(`${folder} of another`, nobody, nobody);
        symlinkSync(`${folder} of another`, folder);
        return join(folder, "agent");
      },
      "with a state of another's": (folder) => {
        mkdirSync(join(folder, "state"), { recursive: true });
        chownSync(join(folder, "state"), nobody, nobody);
        return folder;
      },
    };
    for (const [name, make] of Object.entries(makers)) {
      for (const mode of [[], ["--user"]]) {
        const folder = make(join(home, `${name} ${mode.length}`));
        const { code, output } = await run(fill(), ...mode, "--folder", folder);
        assert.equal(code, 1, `${name}: ${output}`);
        assert.match(output, /others than root own .* or may write to it/, name);
        assert.ok(!existsSync(join(folder, "state", "runner", "identity.json")), name);
      }
    }
    const { code, output } = await run(fill(), "--user", "--folder", join(home, "root's", "agent"));
    assert.equal(code, 0, output);
  });

  it("does not run as root with a state that others have come to own", async function () {
    if (process.getuid?.() !== 0) return this.skip();
    const folder = join(home, "agent");
    assert.equal((await run(fill(), "--user", "--folder", folder)).code, 0);
    chmodSync(folder, 0o777);
    const program = join(folder, "sealoop_agent.py");
    const args = ["-I", program, "run", "--user", "--state", join(folder, "state")];
    const { error, text } = await new Promise<{ error: unknown; text: string }>((resolve) => {
      execFile(PYTHON, args, { timeout: 60_000 }, (error, _, text) => resolve({ error, text }));
    });
    assert.ok(error);
    assert.match(text, /others than root own/);
  });

  describe("behind a proxy", () => {
    let proxy: TestProxy;
    let tls: TlsServer;
    before(function () {
      if (!canMakeCertificates()) return this.skip();
    });
    beforeEach(async () => {
      proxy = await new TestProxy().start();
      tls = await new TlsServer(gateway.address).start();
    });
    afterEach(() => {
      proxy?.stop();
      tls?.stop();
    });
    /** Proxies that an environment names for other purposes. */
    const elsewhere = {
      ...Object.fromEntries(
        ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
          .map((name) => [name, "http://127.0.0.1:9"]),
      ),
      no_proxy: "localhost,127.0.0.1",
    };

    it("goes through the one that it is told, and so does the agent ever after", async () => {
      const env = { ...elsewhere, SSL_CERT_FILE: tls.certificate };
      const script = fill({ SERVER: tls.address });
      const folder = join(home, "agent");
      const words = ["--user", "--folder", folder, "--proxy", proxy.address];
      const { code, output } = await runWith(env, script, ...words);
      assert.equal(code, 0, output);
      assert.equal(proxy.tunnels, 2, "the download and the enrolment");
      const child = spawn(
        PYTHON,
        ["-I", join(folder, "sealoop_agent.py"), "run", "--user", "--state", join(folder, "state")],
        { env: { ...process.env, ...env }, stdio: "ignore" },
      );
      // The talker has the environment of a service, where only the test's certificate is missing.
      while (proxy.tunnels < 3) await once(proxy, "tunnel");
      child.kill();
      await once(child, "close");
      assert.deepEqual(new Set(proxy.targets), new Set([new URL(tls.address).host]));
    });

    it("goes directly where it is told none, whatever proxies the environment names", async () => {
      const words = ["--user", "--folder", join(home, "agent")];
      const { no_proxy: _, ...named } = elsewhere;
      const env = { ...named, http_proxy: proxy.address, https_proxy: proxy.address };
      const { code, output } = await runWith(env, fill(), ...words);
      assert.equal(code, 0, output);
      const secure = ["--user", "--folder", join(home, "secure")];
      const second = await runWith(
        { ...env, SSL_CERT_FILE: tls.certificate },
        fill({ SERVER: tls.address }),
        ...secure,
      );
      assert.equal(second.code, 0, second.output);
      assert.equal(proxy.tunnels, 0);
    });

    it("says what a proxy is where it is told something else", async () => {
      const words = ["--user", "--folder", join(home, "agent"), "--proxy", "socks://127.0.0.1"];
      const { code, output } = await run(fill({ SERVER: tls.address }), ...words);
      assert.equal(code, 2);
      assert.match(output, /a proxy is http:\/\/\[USER:PASSWORD@\]HOST:PORT/);
    });
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
