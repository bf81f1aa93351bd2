import assert from "node:assert/strict";
import { NODE_PRIMITIVES, verifyChain, verifyInParallel } from "../../../ledger/mod.ts";
import { checkFile, checkRange, createTally, NOBLE } from "../../../ledger/page/checks/mod.ts";
import { collectKeys, type TrustedKey, verifyRecord } from "../../../ledger/rules/mod.ts";
import { falseActs, placed, withoutFilm } from "../hostile/_places.ts";

describe("acts of places", () => {
  let keys: readonly TrustedKey[] = [];
  before(() => {
    for (const record of placed) keys = collectKeys(keys, record);
  });

  /** Verifies in several threads, each of which sees single receipts. */
  async function breaksInParallel(records: readonly string[]) {
    async function* batches() {
      for (const record of records) yield [Buffer.from(record)];
    }
    return (await verifyInParallel(batches(), keys, { threads: 3 })).firstBreaks;
  }

  for (
    const [name, records] of [
      ["their places have signed them, and are enrolled before", placed],
      ["nothing was made, of which no place says anything", withoutFilm],
    ] as const
  ) {
    it(`hold where ${name}`, async () => {
      assert.deepEqual((await verifyChain(records, keys)).breaks, []);
      assert.deepEqual(await breaksInParallel(records), []);
      assert.deepEqual(checkFile(records.join("\n"), keys, NOBLE).breaks, []);
    });
  }

  for (const [name, reason, records] of falseActs()) {
    it(`don't hold: ${name}`, async () => {
      const { breaks } = await verifyChain(records, keys);
      assert.match(breaks[0]?.reason ?? "", new RegExp(reason));
      assert.deepEqual(await breaksInParallel(records), breaks);
      const text = records.join("\n");
      assert.deepEqual(checkFile(text, keys, NOBLE).breaks, breaks);
    });
  }

  it("are compared with enrolments once all receipts before are checked, in any order", () => {
    const [, , unknown] = falseActs().find(([name]) => /no receipt enrols/.test(name))!;
    for (const [records, count] of [[placed, 0], [unknown, 1]] as const) {
      const tally = createTally();
      const add = (from: number, to: number) => {
        const before = records.slice(Math.max(0, from - 1), to);
        tally.add(checkRange(before, { from, to }, keys, NOBLE));
      };
      tally.setHead(records.length, JSON.parse(records.at(-1)!).hash_sha256);
      add(4, records.length);
      assert.deepEqual(tally.summary().breaks, []); // nobody knows yet
      add(2, 4);
      assert.deepEqual(tally.summary().breaks, []);
      add(0, 2);
      assert.equal(tally.summary().breaks.length, count);
    }
  });

  it("leave the checks of the receipt itself as they are", () => {
    const [, , records] = falseActs()[0]!;
    const at = records.findIndex((record, n) => record !== placed[n]);
    const place = { position: at, previousHash: JSON.parse(records[at]!).prev_hash };
    const { verdict } = verifyRecord(records[at]!, place, keys, NODE_PRIMITIVES);
    assert.equal(verdict.verified, false);
    assert.deepEqual(new Set(Object.values(verdict.checks)), new Set(["pass"]));
  });
});
