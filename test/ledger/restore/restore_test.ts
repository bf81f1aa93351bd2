import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getHead } from "../../../ledger/mod.ts";
import { program } from "../../_programs.ts";
import { anyRequest } from "../_ledger.ts";
import { openRestore, type RestoreSetup } from "./_restore.ts";

const COUNT = 20;

describe("restoring a database that was put back to an older state", () => {
  let setup: RestoreSetup;
  beforeEach(async () => {
    setup = await openRestore(COUNT);
  });
  afterEach(() => setup.close());

  /** Seals one more receipt, and asserts that the chain is the one that it was, and then that. */
  async function assertContinued(): Promise<void> {
    const before = setup.sealing.troubles.length; // the older state may have been refused until now
    setup.sealing.go();
    await setup.sealing.seal(1);
    const chain = await setup.readChain();
    assert.deepEqual(chain.slice(0, setup.texts.length), setup.texts);
    assert.equal(chain.length, setup.texts.length + 1);
    assert.deepEqual(setup.sealing.troubles.slice(before), []);
  }

  it("puts back the missing receipts of an export, and sealing continues without a fork", async () => {
    await setup.putBack(5);
    setup.sealing.go();
    await assert.rejects(setup.sealing.untilSealed(6), { name: "SealingHeld" });
    const result = await setup.restore([await setup.writeExport(setup.texts)]);
    assert.deepEqual(result, {
      restored: setup.texts.length - 5,
      size: setup.texts.length,
      startedFrom: undefined,
    });
    await assertContinued();
  });

  it("takes parts of several exports, in any order, newest or oldest first", async () => {
    await setup.putBack(5);
    const { texts } = setup;
    const exports = [
      await setup.writeExport(texts.slice(15)),
      await setup.writeExport(texts.slice(9, 16).toReversed()),
      await setup.writeExport(texts.slice(3, 10)),
    ];
    await setup.restore(exports);
    await assertContinued();
  });

  it("changes nothing where nothing is missing", async () => {
    const { restored } = await setup.restore([await setup.writeExport(setup.texts)]);
    assert.equal(restored, 0);
    await assertContinued();
  });

  it("puts back nothing where no export has all that was committed", async () => {
    await setup.putBack(5);
    const path = await setup.writeExport(setup.texts.slice(0, -1));
    const last = setup.texts.length - 1;
    await assert.rejects(setup.restore([path]), {
      name: "RestoreRefused",
      message: new RegExp(`^Receipts ${last} to ${last} are in none of the exports`),
    });
    assert.equal((await getHead(setup.sealing.app)).size, 5);
    await assert.rejects(setup.restore([]), /are in no export: name one or more/);
  });

  it("refuses a receipt that does not hold, or that another key signed", async () => {
    await setup.putBack(5);
    const edit = (at: number, from: string, to: string) =>
      setup.texts.map((text, n) => n === at ? text.replace(from, to) : text);
    for (const texts of [edit(7, '"tester"', '"tesler"'), edit(9, '"value":"', '"value":"00')]) {
      await assert.rejects(setup.restore([await setup.writeExport(texts)]), /does not hold/);
    }
    const swapped = setup.texts.toSpliced(7, 1, setup.texts[8]!);
    await assert.rejects(setup.restore([await setup.writeExport(swapped)]), {
      name: "RestoreRefused",
    });
    assert.equal((await getHead(setup.sealing.app)).size, 5);
    await setup.restore([await setup.writeExport(setup.texts)]);
    await assertContinued();
  });

  it("refuses another ledger that was signed with the same key", async () => {
    await setup.putBack(5);
    const signer = join(setup.sealing.folder, "signer");
    await cp(signer, `${signer}.kept`, { recursive: true });
    await setup.sealing.forgetSigned();
    await setup.sealing.database.executeAsSuperuser("DELETE FROM seal_outbox");
    setup.sealing.go();
    await setup.sealing.seal(setup.texts.length);
    await setup.sealing.pause();
    const fork = await setup.writeExport(await setup.readChain());
    await setup.putBack(5);
    rmSync(signer, { recursive: true });
    await cp(`${signer}.kept`, signer, { recursive: true });
    await assert.rejects(setup.restore([fork]), /two ledgers have been signed with this key/);
    assert.equal((await getHead(setup.sealing.app)).size, 5);
  });

  it("is whole or not at all where it is killed midway, again and again", async () => {
    await setup.putBack(5);
    const path = await setup.writeExport(setup.texts);
    const { folder, database } = setup.sealing;
    const args = [database.urls.sequencer, folder, path];
    for (let n = 0; n < 6; n++) {
      const child = spawn(process.execPath, [
        await program("test/ledger/restore/_restore_program.ts"),
        ...args,
      ], { stdio: ["ignore", "pipe", "inherit"] });
      const ended = once(child, "exit");
      await Promise.race([once(child.stdout, "data"), ended]); // the first receipts are put back
      await sleep(15 * n);
      child.kill("SIGKILL");
      await ended;
      while (await isLocked()) await sleep(10);
      const { size } = await getHead(setup.sealing.app);
      assert.ok(size === 5 || size === setup.texts.length, String(size));
      setup.sealing.go();
      if (size === 5) {
        await assert.rejects(setup.sealing.untilSealed(6), { name: "SealingHeld" });
      }
      await setup.sealing.pause();
    }
    await setup.restore([path]);
    await assertContinued();
  });

  async function isLocked(): Promise<boolean> {
    const row = await setup.sealing.app.asPlatform().first(
      "SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = " +
        "(SELECT oid FROM pg_database WHERE datname = current_database())",
    );
    return row!.n > 0;
  }

  it("seals no request again that waits in the older state, and knows its receipt", async () => {
    await setup.putBack(5);
    await setup.restore([await setup.writeExport(setup.texts)]);
    const ids = setup.texts.map((text) => JSON.parse(text).id as string);
    setup.sealing.go();
    await setup.sealing.sealer.request(anyRequest({ id: ids.at(-1)! }));
    await assert.rejects(
      setup.sealing.sealer.request(anyRequest({ id: ids.at(-1)!, outcome: "other" })),
      { name: "ReceiptConflict" },
    );
    await setup.sealing.pause();
    await assertContinued();
  });
});

describe("restoring a signer whose state is lost", () => {
  let setup: RestoreSetup;
  let checkpoint: string;
  let signer: string;
  beforeEach(async () => {
    setup = await openRestore(COUNT);
    checkpoint = readFileSync(join(setup.sealing.folder, "checkpoint"), "utf8");
    signer = join(setup.sealing.folder, "signer");
  });
  afterEach(() => setup.close());

  const damages: Readonly<Record<string, () => void>> = {
    "is missing": () => rmSync(signer, { recursive: true }),
    "is damaged": () => {
      const [name] = readdirSync(signer) as [string];
      const bytes = readFileSync(join(signer, name));
      bytes[bytes.length - 40]! ^= 1;
      writeFileSync(join(signer, name), bytes);
    },
  };
  for (const [name, damage] of Object.entries(damages)) {
    it(`starts from a checkpoint that the operator names where the journal ${name}`, async () => {
      damage();
      await assert.rejects(setup.restore([]), /Name the newest checkpoint/);
      const { startedFrom } = await setup.restore([], { checkpoint });
      assert.equal(startedFrom, setup.texts.length);
      setup.sealing.go();
      await setup.sealing.seal(1);
      assert.deepEqual((await setup.readChain()).slice(0, -1), setup.texts);
    });
  }

  it("refuses a checkpoint that is older than one that is known here, or of another key", async () => {
    setup.sealing.go();
    await setup.sealing.seal(3);
    await setup.sealing.pause();
    rmSync(signer, { recursive: true });
    await assert.rejects(setup.restore([], { checkpoint }), /one of \d+ was signed: name that/);
    const other = checkpoint.replace(/\n\d+\n/, "\n999\n");
    await assert.rejects(setup.restore([], { checkpoint: other }), /not signed by the log's key/);
  });

  it("refuses a database that has not all of the checkpoint's receipts, until an export has them", async () => {
    await setup.putBack(5);
    rmSync(signer, { recursive: true });
    await assert.rejects(setup.restore([], { checkpoint }), /with all exports there are 5/);
    const path = await setup.writeExport(setup.texts);
    const { restored, startedFrom } = await setup.restore([path], { checkpoint });
    assert.deepEqual([restored, startedFrom], [setup.texts.length - 5, setup.texts.length]);
    setup.sealing.go();
    await setup.sealing.seal(1);
    assert.deepEqual((await setup.readChain()).slice(0, -1), setup.texts);
  });

  it("does not believe an older copy of the journal", async () => {
    await cp(signer, `${signer}.old`, { recursive: true });
    setup.sealing.go();
    await setup.sealing.seal(3);
    await setup.sealing.pause();
    rmSync(signer, { recursive: true });
    await cp(`${signer}.old`, signer, { recursive: true });
    setup.sealing.go();
    await assert.rejects(setup.sealing.untilSealed(99), /journal ends at \d+: it is older/);
    await assert.rejects(setup.restore([]), /Name the newest checkpoint/);
    await assert.rejects(setup.restore([], { checkpoint }), /name that/);
    const newest = readFileSync(join(setup.sealing.folder, "checkpoint"), "utf8");
    await setup.restore([], { checkpoint: newest });
    setup.sealing.go();
    await setup.sealing.seal(1);
    assert.equal((await setup.readChain()).length, setup.texts.length + 4);
  });
});
