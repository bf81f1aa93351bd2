import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { enroll, runAgent } from "./_device.ts";
import { TestGateway } from "./_gateway.ts";
import { pins } from "./_ledger.ts";

describe("an enrolment", function () {
  let gateway: TestGateway;
  let folder: string;
  beforeEach(async () => {
    gateway = await new TestGateway().start();
    const { state } = await enroll(gateway);
    folder = dirname(state);
    rmSync(state, { recursive: true });
    writeFileSync(join(folder, "code"), gateway.mintCode(), { mode: 0o600 });
    gateway.trust = pins();
  });
  afterEach(() => gateway.stop());
  const again = () =>
    runAgent(
      ...["enroll", "--user", "--server", gateway.address, "--state", join(folder, "state")],
      ...["--code-file", join(folder, "code"), "--pins", join(folder, "pins.json")],
    );

  it("writes through no link that the talker has left in its folder", async () => {
    mkdirSync(join(folder, "state", "talker"), { recursive: true });
    writeFileSync(join(folder, "victim"), "of root");
    symlinkSync(join(folder, "victim"), join(folder, "state", "talker", "server.json.new"));
    const { code, output } = await again();
    assert.equal(code, 1, output);
    assert.equal(readFileSync(join(folder, "victim"), "utf8"), "of root");
  });

  it("gives nobody a file that the talker has linked to", async function () {
    if (process.getuid?.() !== 0) return this.skip();
    mkdirSync(join(folder, "state", "talker"), { recursive: true });
    writeFileSync(join(folder, "victim"), "of root");
    symlinkSync(join(folder, "victim"), join(folder, "state", "talker", "link"));
    const { code, output } = await runAgent(
      ...["enroll", "--talker-user", "nobody", "--server", gateway.address],
      ...["--state", join(folder, "state"), "--code-file", join(folder, "code")],
      ...["--pins", join(folder, "pins.json")],
    );
    assert.equal(code, 0, output);
    assert.equal(statSync(join(folder, "victim")).uid, 0);
  });

  it("makes one device where two begin at once", async () => {
    const results = await Promise.all([again(), again(), again()]);
    assert.equal(results.filter(({ code }) => code === 0).length, 1);
    assert.ok(existsSync(join(folder, "state", "runner", "identity.json")));
  });
});
