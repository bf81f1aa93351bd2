import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { loadConfig, ROOT } from "../../../config.ts";
import { sha256 } from "../../../ledger/crypto/mod.ts";
import {
  computeRootAt,
  createHashReader,
  findContradiction,
  getPublishedCheckpoint,
  isSignedBy,
  parseVerifierKey,
  readLogSettings,
} from "../../../ledger/log/mod.ts";
import { parseCheckpoint, parseNote } from "../../../ledger/notes/mod.ts";
import { testFolder } from "../../_run.ts";
import { serveLedger, startSealing, type TestSealing } from "../_ledger.ts";

const run = promisify(execFile);

describe("the Merkle log", () => {
  let sealing: TestSealing;
  beforeEach(async () => {
    sealing = await startSealing();
  });
  afterEach(() => sealing.stop());

  const settings = () => readLogSettings(loadConfig({ SEALOOP_DATA: sealing.folder }));
  async function asSuperuser(sql: string) {
    const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  it("signs a checkpoint of the genesis, and then of all sealed receipts", async () => {
    assert.equal((await sealing.untilPublished(1)).size, 1);
    await sealing.seal(2);
    const { note, root, verifierKey } = await sealing.untilPublished(3);
    const parsed = parseNote(note);
    assert.ok(isSignedBy(parsed, parseVerifierKey(verifierKey)));
    assert.deepEqual(parseCheckpoint(parsed.text), {
      origin: "sealoop.localhost",
      size: 3,
      root: new Uint8Array(root),
    });
    assert.equal(await readFile(join(sealing.folder, "checkpoint"), "utf8"), note);
    assert.deepEqual(sealing.troubles, []);
  });

  it("has the same tree whether it was given a receipt's leaf or reads it from the database", async () => {
    await sealing.seal(699);
    const { size, root } = await sealing.untilPublished(700);
    await sealing.pause();
    const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
    await client.connect();
    await client.query("SET session_replication_role = replica; DELETE FROM log_tiles");
    await client.end();
    const rebuilt = await computeRootAt(size, async (level, from, to) => {
      assert.ok(level === 0 || from === to, "no tile is there");
      return await createHashReader(sealing.app)(level, from, to);
    }, sha256).catch((error) => error);
    assert.ok(rebuilt instanceof Error, "whole tiles are needed for a tree of 700");
    sealing.go();
    await sealing.seal(1);
    await sealing.untilPublished(701);
    assert.deepEqual(
      Buffer.from(await computeRootAt(700, createHashReader(sealing.app), sha256)).toString("hex"),
      root.toString("hex"),
    );
    assert.deepEqual(sealing.troubles, []);
  });

  it("continues after a restart, and only ever grows", async () => {
    await sealing.seal(299);
    const first = await sealing.untilPublished(300);
    await sealing.pause();
    sealing.go();
    await sealing.seal(300);
    await sealing.untilPublished(600);
    assert.deepEqual(
      Buffer.from(await computeRootAt(first.size, createHashReader(sealing.app), sha256)),
      first.root,
    );
    assert.deepEqual(sealing.troubles, []);
  });

  it("reports that the end is missing, and signs nothing at all, where the database has lost it", async () => {
    await sealing.seal(4);
    await sealing.untilPublished(5);
    await sealing.pause();
    await sealing.forgetCommitted();
    await asSuperuser(`SET session_replication_role = replica;
      DELETE FROM receipts WHERE position >= 3;
      UPDATE ledger_head SET size = 3, hash = (SELECT hash FROM receipts WHERE position = 2);
      DELETE FROM log_checkpoint`);
    const missing =
      "The ledger has 3 receipts, and a checkpoint was signed of 5: its end is missing";
    assert.equal(await findContradiction(sealing.app, settings()), missing);
    sealing.go();
    await assert.rejects(sealing.untilSealed(4), { name: "SealingHeld" });
    assert.equal(await getPublishedCheckpoint(sealing.app), undefined);
  });

  it("reports that stored receipts are not those it has signed, where one was changed", async () => {
    await sealing.seal(4);
    await sealing.untilPublished(5);
    await sealing.pause();
    await asSuperuser(`SET session_replication_role = replica;
      UPDATE receipts SET signature = decode(repeat('00', 64), 'hex') WHERE position = 2`);
    assert.match(
      (await findContradiction(sealing.app, settings()))!,
      /^The first 5 receipts are not those/,
    );
  });

  it("refuses a checkpoint file that is signed by another key, or is none", async () => {
    await sealing.seal(1);
    await sealing.untilPublished(1);
    await sealing.pause();
    await rm(join(sealing.folder, "checkpoint.key"));
    await assert.rejects(findContradiction(sealing.app, settings()), /not signed by the log's key/);
    await writeFile(join(sealing.folder, "checkpoint"), "no note");
    await assert.rejects(findContradiction(sealing.app, settings()), { name: "BadNote" });
  });

  it("is read and verified whole by Go's own client of transparency logs", async function () {
    const client = await goClient();
    if (typeof client !== "string") {
      console.log(`      not run: ${client.reason}`);
      return this.skip();
    }
    await sealing.seal(699);
    const { verifierKey } = await sealing.untilPublished(700);
    const ledger = await serveLedger(sealing.database);
    try {
      const { stdout } = await run(client, [ledger.address, verifierKey], { timeout: 60_000 });
      assert.equal(stdout, "verified 700 leaves\n");
    } finally {
      await ledger.stop();
    }
  });
});

/** Builds the client. @returns its path, or why it can't be built here */
async function goClient(): Promise<string | { reason: string }> {
  const path = join(await testFolder(), "tlog-client");
  try {
    await run("go", ["build", "-o", path, "."], {
      cwd: join(ROOT, "test/ledger/log/client"),
      timeout: 90_000,
    });
    return path;
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    return { reason: (stderr || message).trim().split("\n").at(-1)! };
  }
}
