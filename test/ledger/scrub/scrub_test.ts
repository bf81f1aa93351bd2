import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type pg from "pg";
import {
  beginScrub,
  exportReceipts,
  getPublishedCheckpoint,
  importLedger,
  scrubPart,
} from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { eventually } from "../../_time.ts";
import { mixedChain, vectorKeys } from "../_chains.ts";
import { startSealing, type TestSealing } from "../_ledger.ts";
import { asSuperuser, listBreaks, runScrub, scrubParts, tamper } from "./_scrub.ts";

/** More receipts than a full tile of the Merkle log has. */
const COUNT = 300;

/** A change by a superuser, and the break that it must cause. */
interface Fault {
  readonly name: string;
  apply(client: pg.Client): Promise<unknown>;
  readonly at: number;
  readonly check: string;
  readonly reason: RegExp;
  /** Number of breaks; default: 1. */
  readonly breaks?: number;
}

const sql = (text: string) => (client: pg.Client) => client.query(text);

const FAULTS: readonly Fault[] = [
  {
    name: "an edited record",
    apply: sql(`UPDATE receipts SET record = convert_to(replace(convert_from(record, 'UTF8'),
      '"outcome":"ok"', '"outcome":"no"'), 'UTF8') WHERE position = 100`),
    at: 100,
    check: "hash",
    reason: /hash is not that of the canonical bytes/,
  },
  {
    name: "an edited record with a new hash",
    apply: sql(`UPDATE receipts SET record = r, hash = sha256(r) FROM (
        SELECT convert_to(replace(convert_from(record, 'UTF8'), '"ok"', '"no"'), 'UTF8') AS r
        FROM receipts WHERE position = 100) AS edited WHERE position = 100`),
    at: 100,
    check: "signature",
    reason: /signature does not verify/,
    breaks: 2,
  },
  {
    name: "a record that is not JSON",
    apply: sql(`UPDATE receipts SET record = '\\x00ff7b' WHERE position = 100`),
    at: 100,
    check: "hash",
    reason: /./,
    breaks: 2,
  },
  {
    name: "a removed row",
    apply: sql("DELETE FROM receipts WHERE position = 100"),
    at: 100,
    check: "missing",
    reason: /^Missing$/,
    breaks: 2,
  },
  {
    name: "a removed beginning",
    apply: sql("DELETE FROM receipts WHERE position < 100"),
    at: 0,
    check: "missing",
    reason: /^Missing, with all up to 99$/,
    breaks: 2,
  },
  {
    name: "two rows swapped",
    apply: sql(`UPDATE receipts SET position = 1000 WHERE position = 100;
      UPDATE receipts SET position = 100 WHERE position = 200;
      UPDATE receipts SET position = 200 WHERE position = 1000`),
    at: 100,
    check: "link",
    reason: /prev_hash.*|chain_position is 200/,
    breaks: 4,
  },
  {
    name: "a receipt signed by another key",
    apply: (client) => resign(client, "position = 100", generateKeyPairSync("ed25519").privateKey),
    at: 100,
    check: "signature",
    reason: /signature does not verify/,
  },
  {
    name: "another id in the row",
    apply: sql("UPDATE receipts SET id = 'another' WHERE position = 100"),
    at: 100,
    check: "columns",
    reason: /column id differs/,
  },
  {
    name: "another category in the row",
    apply: sql("UPDATE receipts SET category = 'another' WHERE position = 100"),
    at: 100,
    check: "columns",
    reason: /column category differs/,
  },
  {
    name: "another hash in the row",
    apply: sql("UPDATE receipts SET hash = sha256('x') WHERE position = 100"),
    at: 100,
    check: "hash",
    reason: /hash is not that/,
    breaks: 2,
  },
  {
    name: "another era in the row",
    apply: sql("UPDATE receipts SET era = 1 WHERE position = 100"),
    at: 100,
    check: "hash",
    reason: /./,
    breaks: 2,
  },
  {
    name: "a head with a smaller size",
    apply: sql(`UPDATE ledger_head SET size = 299`),
    at: 298,
    check: "head",
    reason: /head is not the hash/,
    breaks: 2,
  },
  {
    name: "a head with another hash",
    apply: sql("UPDATE ledger_head SET hash = sha256('x')"),
    at: 299,
    check: "head",
    reason: /head is not the hash/,
  },
  {
    name: "a truncated end",
    apply: sql(`DELETE FROM receipts WHERE position >= 250; UPDATE ledger_head SET size = 250,
      hash = (SELECT hash FROM receipts WHERE position = 249)`),
    at: 250,
    check: "missing",
    reason: /with all after it/,
  },
  {
    name: "another entry in the Merkle log",
    apply: sql(
      `UPDATE log_tiles SET hashes = set_byte(hashes, 100 * 32, 255 - get_byte(hashes, 3200))
      WHERE level = 0`,
    ),
    at: 100,
    check: "log",
    reason: /Merkle log has another/,
  },
];

describe("the scrub", () => {
  let sealing: TestSealing;
  let errors: string[] = [];
  beforeEach(async () => {
    errors = [];
    sealing = await startSealing();
    await sealing.seal(COUNT);
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

describe("the scrub of an imported ledger", () => {
  let sealing: TestSealing;
  beforeEach(async () => {
    sealing = await startSealing();
    await sealing.pause();
  });
  afterEach(() => sealing.stop());

  const { records } = mixedChain;
  const scrub = () => runScrub(scrubParts(sealing));

  /** Imports an export, and seals three receipts after it. */
  async function importText(text: string): Promise<void> {
    const path = join(sealing.folder, "export");
    await writeFile(path, text);
    const store = openStore(sealing.database.urls.sequencer, "sequencer");
    const keys = [vectorKeys[0]!.publicKey];
    await importLedger(store, path, { threads: 1, keys }).finally(() => store.close());
    sealing.go();
    await sealing.seal(3);
    await sealing.pause();
  }

  it("finds nothing in a valid one of several eras", async () => {
    await importText(records.join("\n"));
    const { breaks, verified } = await scrub();
    assert.deepEqual([breaks, verified], [0, records.length + 3]);
  });

  for (const column of ["record", "signature"]) {
    it(`reports another ${column} in the row of a receipt that keeps its imported text`, async () => {
      const spaced = records.map((record) => JSON.stringify(JSON.parse(record), null, 1));
      await importText(`[${spaced.join(",")}]`);
      assert.equal((await scrub()).breaks, 0);
      const { rowCount } = await asSuperuser(sealing, (client) =>
        client.query(
          `UPDATE receipts SET ${column} = set_byte(${column}, 1, 255 - get_byte(${column}, 1))
           WHERE position = 30 AND original IS NOT NULL`,
        ));
      assert.equal(rowCount, 1);
      assert.equal((await scrub()).breaks, 1);
      const [found] = await listBreaks(sealing);
      assert.deepEqual([found!.position, found!.failed_check], [30, "columns"]);
    });
  }
});

/** Signs rows with a key. */
async function resign(client: pg.Client, where: string, key: KeyObject): Promise<void> {
  const { rows } = await client.query(`SELECT position, record FROM receipts WHERE ${where}`);
  for (const { position, record } of rows) {
    await client.query("UPDATE receipts SET signature = $1 WHERE position = $2", [
      sign(null, record, key),
      position,
    ]);
  }
}

/** Signs everything with a new key, and publishes it in place of the ledger's. */
async function replaceKey(client: pg.Client): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  await resign(client, "true", privateKey);
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  await client.query("UPDATE ledger_keys SET public_key = $1", [raw]);
}
