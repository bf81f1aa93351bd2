import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../../config.ts";
import { bootId, claimDataFolder } from "../../../runtime/embedded/mod.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";

/** What a platform says of itself; nothing listens there. */
const SETTINGS = { SEALOOP_GATEWAY_PORT: "1", SEALOOP_POSTGRES_PORT: "2" };

describe("commands in a shell that knows the data folder alone", () => {
  let data: string;

  beforeEach(async () => {
    data = await testFolder();
    await writeFile(join(data, `approver-${userInfo().username}.key`), "slp_admin_key\n");
  });

  /** Returns the address at which `npm run now` looks for the gateway. */
  async function gateway(settings: Record<string, string> = {}): Promise<string> {
    const file = await program("processes/commands/now.ts");
    const env = { PATH: process.env.PATH, SEALOOP_DATA: data, ...settings };
    const failure = promisify(execFile)(process.execPath, [file], { cwd: ROOT, env });
    const { stderr } = await failure.then(
      () => assert.fail("It has reached one"),
      (error) => error,
    );
    return /http:\S*[^:\s]/.exec(stderr)?.[0] ?? assert.fail(stderr); // its own or a stranger's refusal names it
  }

  it("find the platform that runs on it", async () => {
    const tree = await claimDataFolder(data, { settings: SETTINGS });
    try {
      assert.equal(await gateway(), "http://127.0.0.1:1");
    } finally {
      await tree.release();
    }
  });

  it("go where their own settings say first", async () => {
    const settings = { ...SETTINGS, SEALOOP_GATEWAY_URL: "http://127.0.0.1:1/public" };
    const tree = await claimDataFolder(data, { settings });
    try {
      assert.equal(await gateway({ SEALOOP_GATEWAY_PORT: "3" }), "http://127.0.0.1:3");
      const url = "http://127.0.0.1:4";
      assert.equal(await gateway({ SEALOOP_GATEWAY_URL: url }), url);
    } finally {
      await tree.release();
    }
  });

  it("believe nothing that a platform which runs no more has left behind", async () => {
    const left = {
      boot: bootId(),
      supervisor: { pid: process.pid, start_time: "1" }, // another process had its number
      processes: [],
      settings: SETTINGS,
    };
    for (const file of [left, { ...left, boot: "another boot" }, {}]) {
      await writeFile(join(data, "run.json"), JSON.stringify(file));
      assert.equal(await gateway({ SEALOOP_TEMPORAL_PORT: "5" }), "http://127.0.0.1:8080");
    }
  });
});
