import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  beginScrub,
  exportReceipts,
  findReceipt,
  getPublishedCheckpoint,
  requestSeal,
  scrubPart,
  verifyStored,
} from "../../../ledger/mod.ts";
import { eventually } from "../../_time.ts";
import { anyRequest, startSealing, type TestSealing } from "../_ledger.ts";
import { placed } from "../hostile/_places.ts";
import { FAULTS, replaceKey, resign } from "./_faults.ts";
import { asSuperuser, listBreaks, runScrub, scrubParts, tamper } from "./_scrub.ts";

/** More receipts than a full tile of the Merkle log has. */
const COUNT = 300;

describe("the scrub", () => {
  let sealing: TestSealing;
  let errors: string[] = [];
  beforeEach(async () => {
    errors = [];
    sealing = await startSealing();
    await sealing.seal(COUNT - 1); // and the genesis
    await eventually(async () =>
      (await getPublishedCheckpoint(sealing.app))?.size === COUNT ? true : undefined
    );
    await sealing.pause();
  });
  afterEach(() => sealing.stop());

  const parts = () => scrubParts(sealing, (error) => errors.push(String(error)));
  const scrub = (known: Parameters<typeof runScrub>[1] = null) => runScrub(parts(), known);
  const getState = async () =>
    (await sealing.app.asPlatform().first("SELECT * FROM ledger_scrub"))!;
  const countRequests = async () => {
    const sql = "SELECT count(*)::int AS n FROM seal_requests";
    return (await sealing.app.asPlatform().first(sql))!.n;
  };

  /** Waits for the receipts of breaks. */
  async function listSealedBreaks(count: number) {
    sealing.go();
    return await eventually(async () => {
      const sealed = (await exportReceipts(sealing.app, { from: 0, to: 10_000 }))
        .filter(({ category }) => category === "ledger_break").map(({ text }) => JSON.parse(text));
      return sealed.length >= count ? sealed : undefined;
    });
  }

  it("finds nothing in a valid chain, and stores that", async () => {
    const { breaks, verified, known } = await scrub();
    assert.deepEqual([breaks, verified, known.size], [0, COUNT, COUNT]);
    assert.equal((await scrub(known)).breaks, 0);
    const { pass, verified_through, verified_hash, finished_at } = await getState();
    assert.deepEqual([pass, verified_through], ["2", String(COUNT - 1)]);
    assert.equal(verified_hash.toString("hex"), known.hash);
    assert.ok(finished_at);
  });

  it("verifies receipts that are sealed during a pass", async () => {
    await scrub();
    const begun = await beginScrub(parts(), null);
    sealing.go();
    await sealing.seal(7);
    await sealing.pause();
    await tamper(sealing, "UPDATE receipts SET category = 'another' WHERE position = 303");
    const { place, found } = await scrubPart(parts(), begun);
    assert.deepEqual([begun.size, place.position, found], [COUNT, COUNT, 1]);
    assert.equal(Number((await getState()).verified_through), COUNT + 6);
    assert.deepEqual((await listBreaks(sealing)).map(({ position }) => position), [303]);
  });

  for (const { name, apply, at, check, reason, breaks = 1 } of FAULTS) {
    it(`reports ${name} within one pass, with position and reason, and seals it`, async () => {
      await asSuperuser(sealing, apply);
      const result = await scrub();
      const found = await listBreaks(sealing);
      const [first] = found;
      assert.deepEqual([first!.position, first!.failed_check], [at, check]);
      assert.match(first!.reason, reason);
      assert.deepEqual([result.breaks, found.length], [breaks, breaks]);
      assert.equal(await countRequests(), COUNT + breaks);
      await scrub();
      assert.equal((await listBreaks(sealing)).length, breaks);
      assert.equal(await countRequests(), COUNT + breaks, "a known break is not sealed again");
    });
  }

  it("seals a receipt of a break with its position and check", async () => {
    await tamper(sealing, "UPDATE receipts SET category = 'another' WHERE position = 100");
    const [broken] = await exportReceipts(sealing.app, { from: 100, to: 101 });
    await scrub();
    const [{ category, actor, subject, action, outcome, details }] = await listSealedBreaks(1);
    assert.deepEqual({ category, actor, subject, action, outcome, details }, {
      category: "ledger_break",
      actor: "ledger-scrub",
      subject: broken!.id,
      action: "scrub",
      outcome: "broken",
      details: { pass: 1, position: 100, check: "columns" },
    });
  });

  it("reports and seals that a break has healed, and reports it again if it returns", async () => {
    const setCategory = (category: string) =>
      tamper(sealing, `UPDATE receipts SET category = '${category}' WHERE position = 100`);
    await setCategory("another");
    await scrub();
    await setCategory("test");
    assert.equal((await scrub()).breaks, 0);
    assert.deepEqual(await listBreaks(sealing), []);
    await setCategory("another");
    assert.equal((await scrub()).breaks, 1);
    const outcomes = (await listSealedBreaks(3)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ["broken", "healed", "broken"]);
  });

  it("reports acts of a place that no receipt enrols, as does the check of one receipt", async () => {
    sealing.go();
    for (const n of [2, 4]) {
      const { category, action, outcome, details } = JSON.parse(placed[n]!);
      const request = anyRequest({ id: category, category, action, outcome, details });
      await requestSeal(sealing.app.asPlatform(), request);
      await sealing.sealer.sealed(category);
    }
    await sealing.pause();
    const verifyAct = async () =>
      await verifyStored(sealing.app, await findReceipt(sealing.app, "repair_intended"));
    assert.equal((await scrub()).breaks, 0);
    assert.equal((await verifyAct()).verified, true);
    await tamper(sealing, "UPDATE receipts SET category = 'x' WHERE category = 'place_enrolled'");
    await scrub();
    const breaks = (await listBreaks(sealing)).map(({ position, failed_check }) => [
      position - COUNT,
      failed_check,
    ]);
    assert.deepEqual(breaks, [[0, "columns"], [1, "signature"]]);
    const { verified, reasons } = await verifyAct();
    assert.equal(verified, false);
    assert.match(reasons.join(), /no receipt before it enrols/);
  });

  it("reports a chain signed anew with another key, by the keys of the last pass", async () => {
    const { known } = await scrub();
    await asSuperuser(sealing, replaceKey);
    const { breaks } = await scrub(known);
    const [first] = await listBreaks(sealing);
    assert.deepEqual([first!.position, first!.failed_check], [0, "keys"]);
    assert.ok(breaks > 1, "the Merkle log has other receipts, too");
  });

  it("reports it by the Merkle log if there was no pass before", async () => {
    await asSuperuser(sealing, replaceKey);
    await scrub();
    const checks = (await listBreaks(sealing)).map(({ failed_check }) => failed_check);
    assert.deepEqual(checks, Array(256).fill("log"));
  });

  it("reports it by the signed checkpoint if the Merkle log was replaced, too", async () => {
    await asSuperuser(sealing, replaceKey);
    await tamper(sealing, "DELETE FROM log_tiles");
    await scrub();
    const [first, ...more] = await listBreaks(sealing);
    assert.deepEqual([first!.position, first!.failed_check, more], [COUNT - 1, "log", []]);
    assert.match(first!.reason, /The first 300 receipts are not those of the signed checkpoint/);
  });

  it("still reports a truncated end after the chain has grown over it", async () => {
    const { known } = await scrub();
    await tamper(
      sealing,
      `DELETE FROM receipts WHERE position >= 250; UPDATE ledger_head SET
      size = 250, hash = (SELECT hash FROM receipts WHERE position = 249);
      DELETE FROM ledger_scrub`,
    );
    await sealing.forgetSigned();
    sealing.go();
    await sealing.seal(60);
    await sealing.pause();
    for (let pass = 1; pass <= 2; pass++) {
      const result = await scrub(known);
      assert.ok(result.breaks > 0);
      assert.equal(result.known.hash, known.hash);
      const found = await listBreaks(sealing);
      const atEnd = found.find(({ position }) => position === 299);
      assert.match(atEnd?.reason ?? "", /the last pass knew/, JSON.stringify(found));
    }
  });

  it("stores a break for each position of a chain that is broken everywhere", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    await asSuperuser(sealing, (client) => resign(client, "true", privateKey));
    const { breaks } = await scrub();
    assert.deepEqual([breaks, (await listBreaks(sealing)).length], [COUNT, COUNT]);
  });

  it("starts over if its own rows were removed", async () => {
    for (const id of ["one", "another"]) {
      await tamper(
        sealing,
        `UPDATE receipts SET id = '${id}' WHERE position = 100;
        DELETE FROM ledger_breaks; DELETE FROM ledger_scrub`,
      );
      assert.equal((await scrub()).breaks, 1);
    }
    const subjects = (await listSealedBreaks(2)).map(({ subject }) => subject);
    assert.deepEqual(subjects, ["one", "another"]);
  });

  it("continues without a checkpoint that the log has not signed, and reports it", async () => {
    const path = join(sealing.folder, "checkpoint");
    await writeFile(path, (await readFile(path, "utf8")).replace("300", "999"));
    assert.equal((await scrub()).breaks, 0);
    assert.match(errors.join(), /not signed by the log's key/);
  });

  it("stores and seals a break of a receipt with a hostile id", async () => {
    const id = `\u0007<script>\u202e${"x".repeat(1000)}`;
    await asSuperuser(
      sealing,
      (client) => client.query("UPDATE receipts SET id = $1 WHERE position = 7", [id]),
    );
    await scrub();
    const [{ subject, details }] = await listSealedBreaks(1);
    assert.deepEqual([subject, details.position], ["position-7", 7]);
  });
});
