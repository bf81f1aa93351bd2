import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { loadConfig } from "../../../config.ts";
import {
  beginScrub,
  type ChainSnapshot,
  endScrub,
  exportReceipts,
  getPublishedCheckpoint,
  importLedger,
  readLogSettings,
  scrubPart,
  type ScrubParts,
} from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";
import { eventually } from "../../workflows/_story.ts";
import { mixedChain, vectorKeys } from "../_chains.ts";
import { startSealing, type TestSealing } from "../_ledger.ts";

/** Receipts: a full tile of the Merkle log, and some. */
const COUNT = 300;

/** What a superuser does, and where and how it must be found. */
interface Fault {
  readonly name: string;
  tamper(on: pg.Client): Promise<unknown>;
  readonly at: number;
  readonly check: string;
  readonly reason: RegExp;
  /** How many breaks there are by it; default: 1. */
  readonly breaks?: number;
}

const sql = (text: string) => (on: pg.Client) => on.query(text);

const FAULTS: readonly Fault[] = [
  {
    name: "an edited record",
    tamper: sql(`UPDATE receipts SET record = convert_to(replace(convert_from(record, 'UTF8'),
      '"outcome":"ok"', '"outcome":"no"'), 'UTF8') WHERE position = 100`),
    ...{ at: 100, check: "hash", reason: /hash is not that of the canonical bytes/ },
  },
  {
    name: "an edited record with its hash made anew",
    tamper: sql(`UPDATE receipts SET record = r, hash = sha256(r) FROM (
        SELECT convert_to(replace(convert_from(record, 'UTF8'), '"ok"', '"no"'), 'UTF8') AS r
        FROM receipts WHERE position = 100) AS edited WHERE position = 100`),
    ...{ at: 100, check: "signature", reason: /signature does not verify/, breaks: 2 },
  },
  {
    name: "a record that is no JSON",
    tamper: sql(`UPDATE receipts SET record = '\\x00ff7b' WHERE position = 100`),
    ...{ at: 100, check: "hash", reason: /./, breaks: 2 },
  },
  {
    name: "a removed row",
    tamper: sql("DELETE FROM receipts WHERE position = 100"),
    ...{ at: 100, check: "missing", reason: /^Missing$/, breaks: 2 },
  },
  {
    name: "a removed beginning",
    tamper: sql("DELETE FROM receipts WHERE position < 100"),
    ...{ at: 0, check: "missing", reason: /^Missing, with all up to 99$/, breaks: 2 },
  },
  {
    name: "two rows swapped",
    tamper: sql(`UPDATE receipts SET position = 1000 WHERE position = 100;
      UPDATE receipts SET position = 100 WHERE position = 200;
      UPDATE receipts SET position = 200 WHERE position = 1000`),
    ...{ at: 100, check: "link", reason: /prev_hash.*|chain_position is 200/, breaks: 4 },
  },
  {
    name: "a receipt signed by another key",
    tamper: (on) => resign(on, "position = 100", generateKeyPairSync("ed25519").privateKey),
    ...{ at: 100, check: "signature", reason: /signature does not verify/ },
  },
  {
    name: "another id in the row's column",
    tamper: sql("UPDATE receipts SET id = 'another' WHERE position = 100"),
    ...{ at: 100, check: "columns", reason: /column id says other/ },
  },
  {
    name: "another category in the row's column",
    tamper: sql("UPDATE receipts SET category = 'another' WHERE position = 100"),
    ...{ at: 100, check: "columns", reason: /column category says other/ },
  },
  {
    name: "another hash in the row's column",
    tamper: sql("UPDATE receipts SET hash = sha256('x') WHERE position = 100"),
    ...{ at: 100, check: "hash", reason: /hash is not that/, breaks: 2 },
  },
  {
    name: "another era in the row's column",
    tamper: sql("UPDATE receipts SET era = 1 WHERE position = 100"),
    ...{ at: 100, check: "hash", reason: /./, breaks: 2 },
  },
  {
    name: "a head that says less",
    tamper: sql(`UPDATE ledger_head SET size = 299`),
    ...{ at: 298, check: "head", reason: /head is not the hash/, breaks: 2 },
  },
  {
    name: "a head with another hash",
    tamper: sql("UPDATE ledger_head SET hash = sha256('x')"),
    ...{ at: 299, check: "head", reason: /head is not the hash/ },
  },
  {
    name: "an end that is cut off",
    tamper: sql(`DELETE FROM receipts WHERE position >= 250; UPDATE ledger_head SET size = 250,
      hash = (SELECT hash FROM receipts WHERE position = 249)`),
    ...{ at: 250, check: "missing", reason: /with all after it/ },
  },
  {
    name: "an entry of the Merkle log that is another",
    tamper: sql(
      `UPDATE log_tiles SET hashes = set_byte(hashes, 100 * 32, 255 - get_byte(hashes, 3200))
      WHERE level = 0`,
    ),
    ...{ at: 100, check: "log", reason: /Merkle log has another/ },
  },
];

describe("the scrub", () => {
  let sealing: TestSealing;
  let troubles: string[] = [];
  beforeEach(async () => {
    troubles = [];
    sealing = await startSealing();
    await sealing.seal(COUNT);
    await eventually(async () =>
      (await getPublishedCheckpoint(sealing.app))?.size === COUNT ? true : undefined
    );
    await sealing.pause();
  });
  afterEach(() => sealing.stop());

  const parts = (): ScrubParts => ({
    store: sealing.app,
    log: readLogSettings(loadConfig({ SEALOOP_DATA: sealing.folder })),
    onBreak: () => {},
    onError: (error) => troubles.push(String(error)),
  });

  async function scrub(known: ChainSnapshot | null = null) {
    let at = await beginScrub(parts(), known);
    while (at.place.position < at.size) at = await scrubPart(parts(), at);
    return await endScrub(parts(), at);
  }
  async function asSuperuser(work: (on: pg.Client) => Promise<unknown>): Promise<void> {
    const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
    await client.connect();
    try {
      await client.query("SET session_replication_role = replica");
      await work(client);
    } finally {
      await client.end();
    }
  }
  const openBreaks = () =>
    sealing.app.asPlatform()("ledger_breaks").whereNull("healed_at").orderBy("position");

  /** Receipts of breaks, once there are as many. */
  async function sealedBreaks(count: number) {
    sealing.go();
    return await eventually(async () => {
      const sealed = (await exportReceipts(sealing.app, { from: 0, to: 10_000 }))
        .filter(({ category }) => category === "ledger_break").map(({ text }) => JSON.parse(text));
      return sealed.length >= count ? sealed : undefined;
    });
  }

  it("finds nothing in a chain that holds, and says so", async () => {
    const { breaks, verified, known } = await scrub();
    assert.deepEqual([breaks, verified, known.size], [0, COUNT, COUNT]);
    assert.equal((await scrub(known)).breaks, 0);
    const row = await sealing.app.asPlatform()("ledger_scrub").first();
    assert.deepEqual([row.pass, row.verified_through, row.verified_hash.toString("hex")], [
      ...["2", String(COUNT - 1), known.hash],
    ]);
    assert.ok(row.finished_at);
  });

  it("follows the chain that grows while a pass goes on", async () => {
    await scrub();
    const at = await beginScrub(parts(), null);
    sealing.go();
    await sealing.seal(7);
    await sealing.pause();
    await asSuperuser(sql("UPDATE receipts SET category = 'another' WHERE position = 303"));
    const { place, found } = await scrubPart(parts(), at);
    assert.deepEqual([at.size, place.position, found], [COUNT, COUNT, 1]);
    const { verified_through } = await sealing.app.asPlatform()("ledger_scrub").first();
    assert.equal(Number(verified_through), COUNT + 6);
    const [{ position }] = await openBreaks();
    assert.equal(Number(position), 303);
  });

  for (const { name, tamper, at, check, reason, breaks = 1 } of FAULTS) {
    it(`reports ${name} within one pass, with position and reason, and seals it`, async () => {
      await asSuperuser(tamper);
      const result = await scrub();
      const found = await openBreaks();
      const [first] = found;
      assert.deepEqual([Number(first.position), first.failed_check], [at, check]);
      assert.match(first.reason, reason);
      assert.deepEqual([result.breaks, found.length], [breaks, breaks]);
      const queued = await sealing.app.asPlatform()("seal_requests").count("id as n").first();
      assert.equal(Number(queued!.n), COUNT + breaks);
      await scrub();
      assert.equal((await openBreaks()).length, breaks);
      const again = await sealing.app.asPlatform()("seal_requests").count("id as n").first();
      assert.equal(again!.n, queued!.n, "what is known already is not sealed again");
    });
  }

  it("makes a break a receipt, which says where and in what respect", async () => {
    await asSuperuser(sql("UPDATE receipts SET category = 'another' WHERE position = 100"));
    const [broken] = await exportReceipts(sealing.app, { from: 100, to: 101 });
    await scrub();
    const [{ category, actor, subject, action, outcome, details }] = await sealedBreaks(1);
    assert.deepEqual({ category, actor, subject, action, outcome, details }, {
      ...{ category: "ledger_break", actor: "ledger-scrub", subject: broken!.id },
      ...{
        action: "scrub",
        outcome: "broken",
        details: { pass: 1, position: 100, check: "columns" },
      },
    });
  });

  it("says when a break has healed, seals that too, and reports it anew when it comes back", async () => {
    const edit = (category: string) =>
      asSuperuser(sql(`UPDATE receipts SET category = '${category}' WHERE position = 100`));
    await edit("another");
    await scrub();
    await edit("test");
    assert.equal((await scrub()).breaks, 0);
    assert.deepEqual(await openBreaks(), []);
    await edit("another");
    assert.equal((await scrub()).breaks, 1);
    const outcomes = (await sealedBreaks(3)).map(({ outcome }) => outcome);
    assert.deepEqual(outcomes, ["broken", "healed", "broken"]);
  });

  it("finds that all was signed anew by a key that is published in place of ours", async () => {
    const { known } = await scrub();
    await asSuperuser((on) => replaceKey(on));
    const { breaks } = await scrub(known);
    const [first] = await openBreaks();
    assert.deepEqual([Number(first.position), first.failed_check], [0, "keys"]);
    assert.ok(breaks > 1, "the Merkle log has other receipts too");
  });

  it("finds that by the Merkle log too, where no pass was before", async () => {
    await asSuperuser((on) => replaceKey(on));
    await scrub();
    const found = await openBreaks();
    assert.deepEqual(found.map(({ failed_check }) => failed_check), Array(256).fill("log"));
  });

  it("finds by the signed checkpoint that the Merkle log was made anew as well", async () => {
    await asSuperuser((on) => replaceKey(on));
    await asSuperuser(sql("DELETE FROM log_tiles"));
    await scrub();
    const [first, ...more] = await openBreaks();
    assert.deepEqual([Number(first.position), first.failed_check], [COUNT - 1, "log"]);
    assert.match(first.reason, /The first 300 receipts are not those of the signed checkpoint/);
    assert.deepEqual(more, []);
  });

  it("does not forget an end that was cut off when the chain has grown over it", async () => {
    const { known } = await scrub();
    await asSuperuser(sql(`DELETE FROM receipts WHERE position >= 250; UPDATE ledger_head SET
      size = 250, hash = (SELECT hash FROM receipts WHERE position = 249);
      DELETE FROM ledger_scrub`));
    sealing.go();
    await sealing.seal(60);
    await sealing.pause();
    for (let pass = 1; pass <= 2; pass++) {
      const result = await scrub(known);
      assert.ok(result.breaks > 0);
      assert.equal(result.known.hash, known.hash);
      const reasons = (await openBreaks()).map((
        { position, reason },
      ) => [Number(position), reason]);
      assert.ok(
        reasons.some(([at, reason]) => at === 299 && /the last pass knew/.test(reason)),
        JSON.stringify(reasons),
      );
    }
  });

  it("keeps what it finds in a chain that is broken everywhere within bounds", async () => {
    await asSuperuser((on) => resign(on, "true", generateKeyPairSync("ed25519").privateKey));
    const { breaks } = await scrub();
    assert.equal(breaks, COUNT);
    assert.equal((await openBreaks()).length, COUNT);
  });

  it("goes on when somebody has removed what it wrote", async () => {
    const name = (id: string) =>
      asSuperuser(sql(`UPDATE receipts SET id = '${id}' WHERE position = 100;
        DELETE FROM ledger_breaks; DELETE FROM ledger_scrub`));
    for (const id of ["one", "another"]) {
      await name(id);
      assert.equal((await scrub()).breaks, 1);
    }
    assert.deepEqual((await sealedBreaks(2)).map(({ subject }) => subject), ["one", "another"]);
  });

  it("goes on where the kept checkpoint is not the log's, and says so", async () => {
    const path = join(sealing.folder, "checkpoint");
    await writeFile(path, (await readFile(path, "utf8")).replace("300", "999"));
    assert.equal((await scrub()).breaks, 0);
    assert.match(troubles.join(), /not signed by the log's key/);
  });

  it("stores and seals whatever a superuser has written as an id", async () => {
    const id = `\u0007<script>\u202e${"x".repeat(1000)}`;
    await asSuperuser((on) => on.query("UPDATE receipts SET id = $1 WHERE position = 7", [id]));
    await scrub();
    const [{ subject, details }] = await sealedBreaks(1);
    assert.deepEqual([subject, details.position], ["position-7", 7]);
  });
});

describe("the scrub of a ledger that was taken over", () => {
  let sealing: TestSealing;
  beforeEach(async () => {
    sealing = await startSealing();
    await sealing.pause();
  });
  afterEach(() => sealing.stop());

  async function takeOver(text: string): Promise<void> {
    const path = join(sealing.folder, "export");
    await writeFile(path, text);
    const store = openStore(sealing.database.urls.sequencer, "sequencer");
    const keys = [vectorKeys[0]!.publicKey];
    await importLedger(store, path, { threads: 1, keys }).finally(() => store.close());
    sealing.go();
    await sealing.seal(3);
    await sealing.pause();
  }
  async function scrub() {
    const parts: ScrubParts = {
      store: sealing.app,
      log: readLogSettings(loadConfig({ SEALOOP_DATA: sealing.folder })),
      onBreak: () => {},
      onError: () => {},
    };
    let at = await beginScrub(parts, null);
    while (at.place.position < at.size) at = await scrubPart(parts, at);
    return await endScrub(parts, at);
  }
  const { records } = mixedChain;

  it("finds nothing in one that holds, of whatever eras and however printed", async () => {
    await takeOver(records.join("\n"));
    const { breaks, verified } = await scrub();
    assert.deepEqual([breaks, verified], [0, records.length + 3]);
  });

  for (const column of ["record", "signature"]) {
    it(`finds another ${column} behind a receipt that is printed as it was imported`, async () => {
      const spaced = records.map((record) => JSON.stringify(JSON.parse(record), null, 1));
      await takeOver(`[${spaced.join(",")}]`);
      assert.equal((await scrub()).breaks, 0);
      const client = new pg.Client({ connectionString: sealing.database.superuserUrl });
      await client.connect();
      const { rowCount } = await client.query(`SET session_replication_role = replica`)
        .then(() =>
          client.query(
            `UPDATE receipts SET ${column} = set_byte(${column}, 1, 255 - get_byte(${column}, 1))
            WHERE position = 30 AND original IS NOT NULL`,
          )
        ).finally(() => client.end());
      assert.equal(rowCount, 1);
      assert.equal((await scrub()).breaks, 1);
      const [found] = await sealing.app.asPlatform()("ledger_breaks");
      assert.deepEqual([Number(found.position), found.failed_check], [30, "columns"]);
    });
  }
});

/** Signs rows anew. */
async function resign(on: pg.Client, where: string, key: KeyObject): Promise<void> {
  const { rows } = await on.query(`SELECT position, record FROM receipts WHERE ${where}`);
  for (const { position, record } of rows) {
    await on.query("UPDATE receipts SET signature = $1 WHERE position = $2", [
      sign(null, record, key),
      position,
    ]);
  }
}

/** Signs everything anew, and publishes that key in place of the ledger's. */
async function replaceKey(on: pg.Client): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  await resign(on, "true", privateKey);
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url");
  await on.query("UPDATE ledger_keys SET public_key = $1", [raw]);
}
