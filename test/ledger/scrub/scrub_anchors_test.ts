import assert from "node:assert/strict";
import { advanceAnchor, getHead } from "../../../ledger/mod.ts";
import { checkAnchors, checkAnchorTotals } from "../../../ledger/scrub/mod.ts";
import { eventually } from "../../_time.ts";
import { type AnchorSetup, startAnchoring } from "../anchors/_setup.ts";
import { listBreaks, runScrub, scrubParts, tamper } from "./_scrub.ts";

/** Receipts of the first batch, which is confirmed: more than a subtree has. The second batch is pending. */
const FIRST = 1_030;
const SECOND = 5;

/** Changes by a superuser, and the break each must cause. `B` is the first position of the second batch. */
const FAULTS: Readonly<Record<string, { sql: string; at: number | "B"; reason: RegExp }>> = {
  "another root": {
    sql: "UPDATE anchors SET root = sha256('x') WHERE first = B",
    at: "B",
    reason: /has a root that is not that of its receipts/,
  },
  "another root with matching subtree roots": {
    sql: "UPDATE anchors SET subroots = sha256('x'), root = sha256('x') WHERE first = B",
    at: "B",
    reason: /Receipts \d+ to \d+ are not those that were anchored/,
  },
  "another subtree root": {
    sql: "UPDATE anchors SET subroots = substr(subroots, 1, 32) || sha256('x') WHERE first = 0",
    at: 1024,
    reason: /Receipts 1024 to \d+ are not those that were anchored/,
  },
  "a receipt moved out of its batch": {
    sql: "UPDATE anchors SET last = last - 1 WHERE first = B",
    at: "B",
    reason: /are not those that were anchored/,
  },
  "a removed batch": {
    sql: "DELETE FROM anchors WHERE first = 0",
    at: 0,
    reason: /It is in no anchored batch, but later receipts are/,
  },
  "another block": {
    sql: "UPDATE anchors SET block_hash = repeat('0', 64), block_height = 7 WHERE first = 0",
    at: 0,
    reason: /was sealed with other values of block_hash, block_height/,
  },
  "another header": {
    sql:
      "UPDATE anchors SET block_header = set_byte(block_header, 40, get_byte(block_header, 40) # 1) WHERE first = 0",
    at: 0,
    reason: /has the header of another block/,
  },
  "a proof of other bytes": {
    sql: "UPDATE anchors SET proof = (SELECT proof FROM anchors WHERE first = B) WHERE first = 0",
    at: 0,
    reason: /has a proof that does not lead to its block/,
  },
  "a proof that cannot be read": {
    sql: "UPDATE anchors SET proof = '\\x00ff' WHERE first = B",
    at: "B",
    reason: /./,
  },
  "a confirmation that was revoked": {
    sql: `UPDATE anchors SET state = 'pending', block_height = NULL, block_header = NULL,
      block_hash = NULL, block_time = NULL WHERE first = 0`,
    at: 0,
    reason: /was sealed as confirmed/,
  },
  "a forged confirmation": {
    sql:
      `UPDATE anchors SET state = 'confirmed', (block_height, block_header, block_hash, block_time) =
      (SELECT block_height, block_header, block_hash, block_time FROM anchors WHERE first = 0) WHERE first = B`,
    at: "B",
    reason: /is confirmed, but no receipt says so/,
  },
  "other totals": {
    sql: "UPDATE anchor_head SET anchored_receipts = anchored_receipts + 1",
    at: 0,
    reason: /totals of the anchors are not those of the batches/,
  },
};

describe("the scrub of anchors", () => {
  let setup: AnchorSetup;
  let second: number;
  before(async () => {
    setup = await startAnchoring();
    const { ledger, parts, calendars: [calendar], chain } = setup;
    await setup.openBatch(FIRST);
    await advanceAnchor(parts, 0);
    calendar.commit(chain);
    chain.bury(5);
    assert.equal((await advanceAnchor(parts, 0)).state, "confirmed");
    await eventually(async () => (await getHead(ledger.app)).size > FIRST || undefined);
    second = await setup.openBatch(SECOND);
    assert.equal((await advanceAnchor(parts, second)).state, "pending");
    await ledger.pause();
    await tamper(
      ledger,
      "CREATE TABLE old_anchors AS TABLE anchors; CREATE TABLE old_head AS TABLE anchor_head",
    );
  });
  after(() => setup?.stop());

  const scrub = async () => {
    await runScrub(scrubParts(setup.ledger));
    return await listBreaks(setup.ledger);
  };
  const change = (sql: string) => tamper(setup.ledger, sql.replaceAll(/= B\b/g, `= ${second}`));
  const restore = () =>
    tamper(
      setup.ledger,
      `DELETE FROM anchors; INSERT INTO anchors SELECT * FROM old_anchors;
      DELETE FROM anchor_head; INSERT INTO anchor_head SELECT * FROM old_head`,
    );

  it("reports and seals that a batch was changed, and that it has healed", async () => {
    const db = setup.ledger.app.asPlatform();
    assert.deepEqual(await scrub(), []);
    await change(FAULTS["another root"]!.sql);
    const [found, ...more] = await scrub();
    assert.deepEqual([found!.position, found!.failed_check, more], [second, "anchor", []]);
    const queued = await db.query("SELECT payload FROM seal_outbox");
    const { category, details } = JSON.parse(queued.at(-1)!.payload);
    assert.equal(category, "ledger_break");
    assert.deepEqual(details, { check: "anchor", pass: 2, position: second });
    await restore();
    assert.deepEqual(await scrub(), []);
  });

  for (const [name, { sql, at, reason }] of Object.entries(FAULTS)) {
    it(`finds ${name}, whatever parts the chain is verified in`, async () => {
      await change(sql);
      const store = setup.ledger.app;
      const { size } = await getHead(store);
      const ranges = [{ from: 0, to: 600 }, { from: 600, to: 1_025 }, { from: 1_025, to: size }];
      const found = await checkAnchorTotals(store);
      for (const range of ranges) found.push(...await checkAnchors(store, range, new Set()));
      await restore();
      const position = at === "B" ? second : at;
      assert.ok(
        found.some((one) => one.position === position && reason.test(one.reason)),
        JSON.stringify(found),
      );
    });
  }

  it("reports a truncated end that only the anchors know of", async () => {
    const size = second + SECOND - 2;
    await change(
      `DELETE FROM ledger_scrub; DELETE FROM receipts WHERE position >= ${size};
      UPDATE ledger_head SET size = ${size},
        hash = (SELECT hash FROM receipts WHERE position = ${size - 1})`,
    );
    const found = (await scrub()).find(({ position }) => position === size);
    assert.match(found!.reason, /^Missing, with all after/);
  });
});
