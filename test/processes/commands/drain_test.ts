import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ROOT } from "../../../config.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";
import { APPROVAL_ID, LyingGateway, shownApproval } from "./_lying_gateway.ts";

const LINES = 8_000;

describe("the output of a command", () => {
  let gateway: LyingGateway;
  let folder: string;
  before(async () => {
    gateway = await new LyingGateway().start();
    const text = Array.from({ length: LINES }, (_, n) => `line ${n} ${"x".repeat(40)}`).join("\n");
    gateway.shows = [shownApproval({ text })];
    folder = await testFolder();
    writeFileSync(join(folder, "ann.key"), "slp_partner_key\n");
  });
  after(() => gateway.stop());

  const start = (args: readonly string[], more: readonly string[] = []) => {
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      SEALOOP_DATA: folder,
      SEALOOP_GATEWAY_URL: gateway.address,
    };
    const options = ["--key-file", join(folder, "ann.key")];
    return spawn(
      "sh",
      ["-c", `"$0" "$@" ${more.join(" ")}`, ...args, "show", APPROVAL_ID, ...options],
      { cwd: ROOT, env },
    );
  };
  async function end(child: ReturnType<typeof start>) {
    let errors = "";
    child.stderr.on("data", (data) => errors += data);
    const code = await new Promise((resolve) => child.on("close", resolve));
    return { code, errors };
  }
  const PROGRAMS: Readonly<Record<string, () => Promise<string[]>>> = {
    "the command": async () => [
      process.execPath,
      await program("processes/commands/approvals.ts"),
    ],
    "npm run": () =>
      Promise.resolve([process.execPath, "start.mjs", "processes/commands/approvals.ts"]),
  };

  for (const [name, command] of Object.entries(PROGRAMS)) {
    it(`of ${name} reaches a reader that takes its time, and begins with the number of lines`, async () => {
      const child = start(await command());
      const ended = end(child);
      let output = "";
      let reads = 0;
      for await (const chunk of child.stdout) {
        output += chunk;
        if (reads++ < 3) await sleep(50); // the pipe is full meanwhile
      }
      assert.deepEqual(await ended, { code: 0, errors: "" });
      assert.ok(output.length > 300_000, String(output.length));
      const [first, ...rest] = output.trimEnd().split("\n");
      assert.match(first!, /^APR-5b1e09c77a42 is pending; \d+ lines follow$/);
      assert.equal(rest.length, Number(/; (\d+)/.exec(first!)![1]));
      assert.ok(output.includes(`line ${LINES - 1} `));
    });

    it(`of ${name} ends quietly where its reader has gone`, async () => {
      const child = start(await command(), ["| head -n 1"]);
      let output = "";
      child.stdout.on("data", (data) => output += data);
      assert.equal((await end(child)).errors, "");
      assert.match(output, /^APR-5b1e09c77a42 is pending; \d+ lines follow\n$/);
    });
  }

  it("is whole where the usage is asked for", async () => {
    const child = spawn(process.execPath, [
      await program("processes/commands/verify.ts"),
      "--help",
    ], { cwd: ROOT });
    let output = "";
    child.stdout.on("data", (data) => output += data);
    assert.equal(await new Promise((resolve) => child.on("close", resolve)), 0);
    assert.match(output, /^Usage: npm run verify[^]*Exit code: 0/);
  });
});
