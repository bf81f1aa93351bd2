import assert from "node:assert/strict";
import pg from "pg";
import { loadConfig } from "../../../config.ts";
import {
  advanceAnchor,
  beginScrub,
  endScrub,
  getHead,
  readLogSettings,
  scrubPart,
  type ScrubParts,
} from "../../../ledger/mod.ts";
import { anchorBreaks, totalsBreaks } from "../../../ledger/scrub/_scrub_anchors.ts";
import { eventually } from "../../workflows/_story.ts";
import { type AnchorSetup, startAnchoring } from "../anchors/_setup.ts";

/** Receipts of the first batch: one part of 1,024, and some. It is confirmed; the second one is pending. */
const FIRST = 1_030;
const SECOND = 5;

/** What a superuser does, and where it must be found. `B` stands for the first position of the second batch. */
const FAULTS: Readonly<Record<string, { tamper: string; at: number | "B"; reason: RegExp }>> = {
  "another root": {
    tamper: "UPDATE anchors SET root = sha256('x') WHERE first = B",
    ...{ at: "B", reason: /has a root that is not that of its receipts/ },
  },
  "another root with parts that give it": {
    tamper: "UPDATE anchors SET subroots = sha256('x'), root = sha256('x') WHERE first = B",
    ...{ at: "B", reason: /Receipts \d+ to \d+ are not those that were anchored/ },
  },
  "another root of one part": {
    tamper: "UPDATE anchors SET subroots = substr(subroots, 1, 32) || sha256('x') WHERE first = 0",
    ...{ at: 1024, reason: /Receipts 1024 to \d+ are not those that were anchored/ },
  },
  "a receipt that is moved out of its batch": {
    tamper: "UPDATE anchors SET last = last - 1 WHERE first = B",
    ...{ at: "B", reason: /are not those that were anchored/ },
  },
  "a removed batch": {
    tamper: "DELETE FROM anchors WHERE first = 0",
    ...{ at: 0, reason: /It is in no anchored batch, and later receipts are/ },
  },
  "another block": {
    tamper: "UPDATE anchors SET block_hash = repeat('0', 64), block_height = 7 WHERE first = 0",
    ...{ at: 0, reason: /was sealed with other values of block_hash, block_height/ },
  },
  "another header": {
    tamper:
      "UPDATE anchors SET block_header = set_byte(block_header, 40, get_byte(block_header, 40) # 1) WHERE first = 0",
    ...{ at: 0, reason: /has the header of another block/ },
  },
  "a proof of something else": {
    tamper:
      "UPDATE anchors SET proof = (SELECT proof FROM anchors WHERE first = B) WHERE first = 0",
    ...{ at: 0, reason: /has a proof that does not lead to its block/ },
  },
  "a proof that is none": {
    tamper: "UPDATE anchors SET proof = '\\x00ff' WHERE first = B",
    ...{ at: "B", reason: /./ },
  },
  "a confirmation that is taken back": {
    tamper: `UPDATE anchors SET state = 'pending', block_height = NULL, block_header = NULL,
      block_hash = NULL, block_time = NULL WHERE first = 0`,
    ...{ at: 0, reason: /was sealed as confirmed/ },
  },
  "a confirmation that never was": {
    tamper:
      `UPDATE anchors SET state = 'confirmed', (block_height, block_header, block_hash, block_time) =
      (SELECT block_height, block_header, block_hash, block_time FROM anchors WHERE first = 0) WHERE first = B`,
    ...{ at: "B", reason: /is confirmed, and no receipt says so/ },
  },
  "other totals": {
    tamper: "UPDATE anchor_head SET anchored_receipts = anchored_receipts + 1",
    ...{ at: 0, reason: /totals of what is anchored are not those of the batches/ },
  },
};

describe("the scrub of what is anchored in Bitcoin", () => {
  let bench: AnchorSetup;
  let superuser: pg.Client;
  let second: number;
  before(async () => {
    bench = await startAnchoring();
    const { ledger, parts, calendars: [calendar], chain } = bench;
    await bench.openBatch(FIRST);
    await advanceAnchor(parts, 0);
    calendar.commit(chain);
    chain.bury(5);
    assert.equal((await advanceAnchor(parts, 0)).state, "confirmed");
    await eventually(async () => (await getHead(ledger.app)).size > FIRST || undefined);
    second = await bench.openBatch(SECOND);
    assert.equal((await advanceAnchor(parts, second)).state, "pending");
    await ledger.pause();
    superuser = new pg.Client({ connectionString: ledger.database.superuserUrl });
    await superuser.connect();
    await superuser.query(`SET session_replication_role = replica;
      CREATE TABLE kept AS TABLE anchors; CREATE TABLE kept_head AS TABLE anchor_head`);
  });
  after(async () => {
    await superuser?.end();
    await bench?.stop();
  });

  async function scrub(): Promise<{ position: number; check: string; reason: string }[]> {
    const parts: ScrubParts = {
      store: bench.ledger.app,
      log: readLogSettings(loadConfig({ SEALOOP_DATA: bench.ledger.folder })),
      onBreak: () => {},
      onError: () => {},
    };
    let at = await beginScrub(parts, null);
    while (at.place.position < at.size) at = await scrubPart(parts, at);
    await endScrub(parts, at);
    const rows = await bench.ledger.app.asPlatform()("ledger_breaks").whereNull("healed_at")
      .orderBy("position");
    return rows.map(({ position, failed_check: check, reason }) => ({
      ...{ position: Number(position), check, reason },
    }));
  }

  const tamper = (sql: string) => superuser.query(sql.replaceAll(/= B\b/g, `= ${second}`));
  const mend = () =>
    superuser.query(`DELETE FROM anchors; INSERT INTO anchors SELECT * FROM kept;
      DELETE FROM anchor_head; INSERT INTO anchor_head SELECT * FROM kept_head`);

  it("says where a batch is not what it was, seals it, and says that it has healed", async () => {
    assert.deepEqual(await scrub(), []);
    await tamper(FAULTS["another root"]!.tamper);
    const [found, ...more] = await scrub();
    assert.deepEqual([found!.position, found!.check, more], [second, "anchor", []]);
    const queued = await superuser.query("SELECT payload FROM seal_outbox");
    const { category, details } = JSON.parse(queued.rows.at(-1).payload);
    assert.deepEqual([category, details], [
      ...["ledger_break", { check: "anchor", pass: 2, position: second }],
    ]);
    await mend();
    assert.deepEqual(await scrub(), []);
  });

  for (const [name, { tamper: sql, at, reason }] of Object.entries(FAULTS)) {
    it(`finds ${name}`, async () => {
      await tamper(sql);
      const store = bench.ledger.app;
      const { size } = await getHead(store);
      const parts = [{ from: 0, to: 600 }, { from: 600, to: 1_025 }, { from: 1_025, to: size }];
      const found = await totalsBreaks(store);
      for (const part of parts) found.push(...await anchorBreaks(store, part, new Set()));
      await mend();
      const position = at === "B" ? second : at;
      assert.ok(
        found.some((one) => one.position === position && reason.test(one.reason)),
        JSON.stringify(found),
      );
    });
  }

  it("knows by the anchors that an end was cut off, where nothing else does", async () => {
    const cut = second + SECOND - 2;
    await superuser.query(`DELETE FROM ledger_scrub; CREATE TABLE kept_end AS
      SELECT * FROM receipts WHERE position >= ${cut}; DELETE FROM receipts WHERE position >= ${cut};
      UPDATE ledger_head SET size = ${cut}, hash = (SELECT hash FROM receipts WHERE position = ${
      cut - 1
    })`);
    const found = await scrub();
    assert.match(
      found.find(({ position }) => position === cut)!.reason,
      /^Missing, with all after/,
    );
  });
});
