import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { createInterface } from "node:readline";
import { generateKeyPairSync } from "node:crypto";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { isSequencerAtWork } from "../../../ledger/mod.ts";
import { getSealingTrouble } from "../../../store/platform/mod.ts";
import { PROCESS_NAMES } from "../../../contract/domain/mod.ts";
import { freePort } from "../../_run.ts";
import { program } from "../../_programs.ts";
import { testTemporal } from "../../_servers.ts";
import { eventually } from "../../_time.ts";
import { startSealing, type TestSealing } from "../_ledger.ts";

describe("a sequencer that can't seal", () => {
  let sealing: TestSealing;
  let running: ChildProcess | undefined;
  let monitoringPort: number;
  const trouble = () => getSealingTrouble(sealing.app.asPlatform());

  beforeEach(async () => {
    sealing = await startSealing();
    await sealing.seal(1);
    await sealing.pause();
  });
  afterEach(async () => {
    running?.kill("SIGKILL");
    await sealing.stop();
  });

  /** Starts the process, and returns the first line of its log that matches. */
  async function logged(pattern: RegExp): Promise<Record<string, unknown>> {
    const { address, namespace } = await testTemporal();
    monitoringPort = await freePort();
    running = fork(await program("processes/sequencer.ts"), {
      execArgv: [],
      env: {
        PATH: process.env.PATH,
        SEALOOP_DATA: sealing.folder,
        SEALOOP_DATABASE_SEQUENCER_URL: sealing.database.urls.sequencer,
        TEMPORAL_ADDRESS: address,
        TEMPORAL_NAMESPACE: namespace,
        // The port of the gateway's; the others take the next ones.
        SEALOOP_METRICS: String(monitoringPort - PROCESS_NAMES.indexOf("sequencer")),
      },
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    for await (const line of createInterface({ input: running.stdout! })) {
      if (pattern.test(line)) return JSON.parse(line);
    }
    throw new Error(`The sequencer ended without ${pattern}`);
  }

  it("logs that its key is missing, and what to do", async () => {
    rmSync(sealing.keyFile);
    const { level, msg } = await logged(/Sealing is held/);
    assert.equal(level, "error");
    assert.match(String(msg), /key is missing.* npm run keys -- ledger recover$/);
    assert.equal((await eventually(trouble)).held, true);
    const answer = await fetch(`http://127.0.0.1:${monitoringPort}/readyz`);
    const reasons = [{ code: "waits_for_key", says: "It waits for the ledger's key" }];
    assert.deepEqual(await answer.json(), { ready: false, reasons });
    assert.ok(!existsSync(sealing.keyFile));
  });

  it("logs the error of the database, of which the public status has the kind alone", async () => {
    await sealing.database.executeAsSuperuser(
      "REVOKE SELECT ON seal_outbox FROM sealoop_sequencer",
    );
    const { msg, activity, err } = await logged(/permission denied/);
    assert.deepEqual([msg, activity], ["Activity failed", "runLedgerSequencer"]);
    assert.match((err as Error).message, /permission denied for table seal_outbox/);
    const { ageSeconds: _, ...stored } = await eventually(trouble);
    assert.deepEqual(stored, {
      reason: "the sequencer's role lacks a right in the database (42501)",
      held: false,
    });
  });

  it("is told from no sequencer at all", async () => {
    const atWork = () => isSequencerAtWork(sealing.app.asPlatform());
    await eventually(async () => !await atWork());
    sealing.go();
    await sealing.seal(1);
    assert.equal(await atWork(), true);
  });

  it("names the file of a key that is not the ledger's without its folder", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    writeFileSync(sealing.keyFile, privateKey.export({ type: "pkcs8", format: "pem" }));
    sealing.go();
    await assert.rejects(
      sealing.untilSealed(9),
      (error: Error) => error.name === "SealingHeld" && error.message.includes(sealing.keyFile),
    );
    const { reason, held } = (await trouble())!;
    assert.ok(held);
    assert.match(reason, / and ledger\.key holds [0-9a-f]{64}\. /);
    assert.ok(!reason.includes(sealing.folder));
  });
});
