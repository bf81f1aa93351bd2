import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { publishedCheckpoint } from "../../ledger/mod.ts";
import { pythonWith } from "../_python.ts";
import { testFolder } from "../_servers.ts";
import { faultyChains, mixedChain, type VectorChain, vectorKeys } from "./_chains.ts";
import { serveLedger, startSealing, type TestSealing } from "./_ledger.ts";

describe("the published verifier in Python", () => {
  let python: string;
  let script: string;
  let sealing: TestSealing;
  let ledger: Awaited<ReturnType<typeof serveLedger>>;

  before(async function () {
    const found = await pythonWith("cryptography", "cryptography==48.0.0");
    if ("missing" in found) {
      console.log(`    not run: ${found.missing}`);
      return this.skip();
    }
    python = found.program;
    sealing = await startSealing();
    await sealing.seal(300);
    await untilCheckpoint(300);
    ledger = await serveLedger(sealing.database);
    // What is run is what the ledger itself gives to strangers.
    const rules = await (await fetch(`${ledger.address}/api/how-to-verify`)).json() as {
      reference_verifier: { source: string };
    };
    script = join(await testFolder(), "verify_ledger.py");
    await writeFile(script, rules.reference_verifier.source);
  });
  after(async () => {
    await ledger?.stop();
    await sealing?.stop();
  });

  async function untilCheckpoint(size: number) {
    while (((await publishedCheckpoint(sealing.app))?.size ?? 0) < size) await sleep(10);
  }
  function verify(...args: string[]): Promise<{ status: number | string; lines: string[] }> {
    return new Promise((resolve) => {
      execFile(python, [script, ...args], (error, stdout, stderr) => {
        const lines = (stdout + stderr).trim().split("\n");
        resolve({ status: error?.code ?? 0, lines });
      });
    });
  }
  async function verifyFile({ records }: VectorChain) {
    const path = join(await testFolder(), "export.json");
    const key = JSON.stringify(vectorKeys[0]!.publicKey);
    await writeFile(path, `{"public_key":${key},"receipts":[${records.join()}]}`);
    return await verify(path);
  }

  it("accepts a live ledger with its checkpoint", async () => {
    assert.deepEqual(await verify(ledger.address), {
      status: 0,
      lines: ["300 receipts, 0 problems, checkpoint of 300"],
    });
  });
  it("accepts all three eras in one chain", async () => {
    assert.deepEqual(await verifyFile(mixedChain), {
      status: 0,
      lines: [`${mixedChain.records.length} receipts, 0 problems`],
    });
  });
  for (const chain of faultyChains) {
    it(`reports ${chain.name} at position ${chain.breaksAt}`, async () => {
      const { status, lines } = await verifyFile(chain);
      assert.equal(status, 1);
      assert.match(lines[0]!, new RegExp(`^position ${chain.breaksAt}: `));
    });
  }
  it("believes the keys that it is told, and no others", async () => {
    const { rows: [row] } = await sealing.app.pool.query("SELECT public_key FROM ledger_keys");
    const right = createHash("sha256").update(row.public_key).digest("hex");
    assert.equal((await verify(ledger.address, right)).status, 0);
    const wrong = await verify(ledger.address, "00".repeat(32));
    assert.deepEqual([wrong.status, /none of the ledger's keys/.test(wrong.lines[0]!)], [1, true]);
    const otherLog = `sealoop.localhost+00000000+${Buffer.alloc(33, 1).toString("base64")}`;
    const log = await verify(ledger.address, right, otherLog);
    assert.deepEqual(log, {
      status: 1,
      lines: ["the checkpoint is not signed by the log's key"],
    });
  });
  it("sees that the end was taken away, as a checkpoint was signed of it", async () => {
    const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
    await client.connect();
    await client.query(`SET session_replication_role = replica;
      DELETE FROM receipts WHERE position = 299;
      UPDATE ledger_head SET size = 299, hash = (SELECT hash FROM receipts WHERE position = 298)`);
    await client.end();
    assert.deepEqual(await verify(ledger.address), {
      status: 1,
      lines: [
        "position 299: the end is missing, as a checkpoint of 300 was signed",
        "299 receipts, 1 problems, checkpoint of 300",
      ],
    });
  });
});
