import assert from "node:assert/strict";
import { NODE_PRIMITIVES } from "../../../ledger/crypto/mod.ts";
import {
  canonicalizeFields,
  canonicalizeText,
  findPlaceAfter,
  followSpan,
  joinFields,
} from "../../../ledger/rules/mod.ts";
import { verifyChain } from "../../../ledger/verify/mod.ts";
import { faultyChains, mixedChain, vectorKeys } from "../_chains.ts";

describe("verifyChain()", () => {
  it("accepts all three eras in one chain", async () => {
    assert.deepEqual(await verifyChain(mixedChain.records, vectorKeys), { total: 51, breaks: [] });
  });

  for (const { name, breaksAt, records } of faultyChains) {
    it(`reports ${name} at position ${breaksAt}`, async () => {
      const { breaks } = await verifyChain(records, vectorKeys);
      assert.equal(breaks[0]?.position, breaksAt);
    });
  }

  it("reports missing entries once, and verifies the others at the positions they claim", async () => {
    const chain = mixedChain.records.toSpliced(40, 1, mixedChain.records[40]!.replace("a", "b"));
    const left = chain.filter((_, n) => ![20, 21, 22, 30, 45].includes(n));
    const { total, breaks } = await verifyChain(left, vectorKeys);
    assert.equal(total, 46);
    assert.deepEqual(breaks.map(({ position }) => position), [20, 30, 40, 45]);
    assert.equal(breaks[0]!.reason, "Missing, with all up to 22");
    assert.equal(breaks[1]!.reason, "Missing");
    assert.match(breaks[2]!.reason, /canonical/);
  });

  it("reports once that an entry is out of order, or there twice", async () => {
    const { records } = mixedChain;
    const twice = await verifyChain(records.toSpliced(30, 0, records[25]!), vectorKeys);
    assert.deepEqual(twice.breaks, [
      { position: 25, reason: "It is there twice, or out of order" },
    ]);
    const late = records.toSpliced(25, 1).toSpliced(40, 0, records[25]!);
    assert.deepEqual((await verifyChain(late, vectorKeys)).breaks, [
      { position: 25, reason: "Missing" },
      { position: 25, reason: "It is there twice, or out of order" },
    ]);
  });

  it("reports a missing entry of an era without positions at the first position of era 3", async () => {
    const { breaks } = await verifyChain(mixedChain.records.toSpliced(3, 1), vectorKeys);
    assert.deepEqual(breaks, [
      { position: 3, reason: "prev_hash is not the hash of the entry before" },
      { position: 10, reason: "chain_position is 11, at position 10" },
    ]);
  });

  it("does not follow a position that is not signed", async () => {
    const { records } = mixedChain;
    const fields = new Map(canonicalizeFields(records[30]!)).set("chain_position", "45");
    const forged = records.with(30, joinFields(fields));
    const { breaks } = await verifyChain(forged, vectorKeys);
    assert.deepEqual(breaks.map(({ position }) => position), [30]);
  });
});

describe("followSpan()", () => {
  it("finds every one of 1,000 random mutations of receipts of era 3", () => {
    const seed = Number(process.env.SEED ?? Date.now() % 1e9);
    console.log(`      seed ${seed}`);
    const random = generator(seed);
    const from = mixedChain.records.findIndex((r) => r.includes('"schema_version":"3.0"'));
    for (let n = 0; n < 1000; n++) {
      const at = from + Math.floor(random() * (mixedChain.records.length - from));
      const records = [...mixedChain.records];
      const mutation = mutate(records, at, random);
      // The records before it are valid, and a break is at the place or right after it.
      const isFound = hasFault(records.slice(at - 1, at + 3), at - 1);
      assert.ok(isFound, `not found: ${mutation} at ${at}, seed ${seed}`);
    }
  });
});

/** Returns true where a record after the first one has a fault. @param position of the first one */
function hasFault([first, ...rest]: readonly string[], position: number): boolean {
  const place = findPlaceAfter(first!, position, vectorKeys, NODE_PRIMITIVES);
  const span = followSpan(place, vectorKeys, NODE_PRIMITIVES);
  for (const record of rest) span.add(record);
  return span.breaks.length > 0;
}

/** Returns a generator of numbers in [0, 1), the same for the same seed. @see mulberry32 */
function generator(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function mutate(records: string[], at: number, random: () => number): string {
  const fields = canonicalizeFields(records[at]!);
  const names = [...fields.keys()];
  const name = names[Math.floor(random() * names.length)]!;
  switch (Math.floor(random() * 4)) {
    case 0:
      fields.delete(name);
      records[at] = joinFields(fields);
      return `field ${name} removed`;
    case 1:
      fields.set(`x${at}`, "1");
      records[at] = joinFields(fields);
      return "field added";
    case 2: {
      if (at === records.length - 1) {
        fields.set("outcome", '"edited"');
        records[at] = joinFields(fields);
        return "outcome edited";
      }
      records.splice(at, 1);
      return "entry removed";
    }
    default: {
      const text = fields.get(name)!;
      const place = Math.floor(random() * text.length);
      const changed = text[place] === "7" ? "8" : "7";
      const edited = text.slice(0, place) + changed + text.slice(place + 1);
      fields.set(name, isOther(edited, text) ? edited : '"edited"');
      records[at] = joinFields(fields);
      return `field ${name} edited`;
    }
  }
}

/** Returns true for the JSON text of another value: the last digit of a number may leave it the same double. */
function isOther(edited: string, text: string): boolean {
  try {
    return canonicalizeText(edited) !== text;
  } catch {
    return false;
  }
}
