import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../config.ts";
import { findFreePort } from "../../integrations/host/mod.ts";
import { testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";

/** Program that tries what an attacker must not do, and prints the results. */
const PROBE = `
import { readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
const [inside, outside] = process.argv.slice(2);
const attempt = (work) => { try { work(); return "done"; } catch ({ code }) { return code; } };
console.log(JSON.stringify({
  inside: attempt(() => writeFileSync(inside, "x")),
  written: attempt(() => writeFileSync(outside, "x")),
  read: attempt(() => readFileSync("/etc/hosts")),
  started: attempt(() => { const { error } = spawnSync("true"); if (error) throw error; }),
}));
`;

describe("a sandbox", () => {
  it("reports baits that vanish while it counts them, and lives", async () => {
    const folder = await testFolder();
    const port = await findFreePort();
    const program = join(ROOT, "integrations", "sandbox", "sandbox.js");
    const sandbox = spawn(process.execPath, [program, String(port), folder, "ransomware"]);
    try {
      const statusOf = () =>
        fetch(`http://127.0.0.1:${port}/health`).then(({ status }) => status, () => undefined);
      await eventually(async () => await statusOf() === 200 || undefined);
      const bait = join(folder, "baits", "accounts-01.csv");
      await rm(bait);
      await symlink("nowhere", bait); // it is listed, and can't be read
      assert.equal(await statusOf(), 500);
      assert.equal(await statusOf(), 500);
    } finally {
      sandbox.kill();
    }
  });
});

describe("the attacker of a sandbox", () => {
  it("can access no file but the baits, and start no programs", async () => {
    const { fenceOptions } = await import(join(ROOT, "integrations", "sandbox", "_fence.js"));
    const folder = await testFolder();
    const [baits, probe] = [join(folder, "baits"), join(folder, "probe.mjs")];
    await mkdir(baits);
    await writeFile(probe, PROBE);
    const outside = join(folder, "outside");
    const args = [...fenceOptions(probe, baits), probe, join(baits, "bait"), outside];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const denied = "ERR_ACCESS_DENIED";
    assert.deepEqual(JSON.parse(stdout), {
      inside: "done",
      written: denied,
      read: denied,
      started: denied,
    });
    assert.equal(existsSync(outside), false);
  });
});
