import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../config.ts";
import { program } from "../_programs.ts";
import { testFolder } from "../_run.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { type Name, startProcess } from "./_process.ts";

const READY = /^ready$/;
const NO_TEMPORAL = { address: "127.0.0.1:1", namespace: "none" };

describe("the secrets that processes on several machines share", () => {
  let database: TestDatabase;
  let [here, there]: string[] = [];
  before(async () => {
    database = await testDatabase();
    [here, there] = [join(await testFolder(), "here"), join(await testFolder(), "there")];
  });
  after(() => database?.drop());

  /** Starts a process, and waits for such a line of its log. @returns the line */
  async function starts(
    name: Name,
    folder: string,
    line: RegExp,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const place = { database, temporal: NO_TEMPORAL, folder, settings };
    const started = await startProcess(name, place);
    try {
      return (await started.line(line)).msg;
    } finally {
      await started.kill();
    }
  }

  const engineSecret = () => readFileSync(join(here!, "engine.secret"), "utf8").trim();

  it("are those of the first process, and one without them does not start", async () => {
    await starts("gateway", here!, READY);
    const engine = await starts("engine", there!, /^Cannot start/);
    assert.match(engine, /engine\.secret of the data folder differs .* set SEALOOP_ENGINE_SECRET/);
    assert.match(engine, /npm run database -- forget engine/);

    const known = { SEALOOP_ENGINE_SECRET: engineSecret() };
    await starts("engine", there!, READY, known);
    const gateway = await starts("gateway", there!, /^Cannot start/, known);
    assert.match(gateway, /without the key of the webhooks' secrets.* set SEALOOP_WEBHOOK_KEY/);
    assert.ok(!existsSync(join(there!, "webhook.key")), "it makes no other key");
  });

  it("come from a file that a setting names, and another one is refused by its name", async () => {
    const file = join(there!, "given.key");
    writeFileSync(file, `${readFileSync(join(here!, "webhook.key")).toString("hex")}\n`);
    const settings = { SEALOOP_ENGINE_SECRET: engineSecret() };
    await starts("gateway", there!, READY, { ...settings, SEALOOP_WEBHOOK_KEY_FILE: file });
    const other = { ...settings, SEALOOP_WEBHOOK_KEY: randomBytes(32).toString("hex") };
    const refused = await starts("gateway", there!, /^Cannot start/, other);
    assert.match(refused, /^Cannot start: SEALOOP_WEBHOOK_KEY differs/);
    assert.ok(!refused.includes(other.SEALOOP_WEBHOOK_KEY));

    const { stdout } = await promisify(execFile)(process.execPath, [
      await program("processes/commands/database.ts"),
      "forget",
      "webhooks",
    ], { cwd: ROOT, env: { PATH: process.env.PATH, DATABASE_URL: database.urls.owner } });
    assert.match(stdout, /next process that starts notes its own/);
    await starts("gateway", there!, READY, other);
    await starts("gateway", here!, /^Cannot start: webhook\.key of the data folder differs/);
  });
});
