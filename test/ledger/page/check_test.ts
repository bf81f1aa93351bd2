import assert from "node:assert/strict";
import { NODE_PRIMITIVES } from "../../../ledger/crypto/mod.ts";
import { NOBLE } from "../../../ledger/page/browser/primitives.ts";
import { checkRange } from "../../../ledger/page/check.ts";
import { reportOf } from "../../../ledger/page/file.ts";
import { createTally, planned, type Summary } from "../../../ledger/page/tally.ts";
import type { Primitives } from "../../../ledger/rules/mod.ts";
import { faultyChains, mixedChain, vectorKeys } from "../_chains.ts";

/** Checks a chain as a page does: in chunks, in some order, each fetched with the record before it. */
function check(
  records: readonly string[],
  { size, primitives = NODE_PRIMITIVES, total = records.length }: {
    size: number;
    primitives?: Primitives;
    total?: number;
  },
): Summary {
  const tally = createTally();
  tally.head(total, hashOf(records.at(-1)));
  for (const range of planned(0, total, size).reverse()) {
    const given = records.slice(Math.max(0, range.from - 1), range.to);
    tally.add(checkRange(given, range, vectorKeys, primitives));
  }
  return tally.summary();
}

/** What a record says its hash is; nothing where it can't be read. */
function hashOf(record: string | undefined): string {
  try {
    return JSON.parse(record!).hash_sha256;
  } catch {
    return "";
  }
}
const { records } = mixedChain;

describe("the page's check", () => {
  for (const size of [1, 2, 7, 50, 1000]) {
    it(`finds a chain of all eras intact, ${size} receipts at a time`, () => {
      const { state, checked, breaks, eras, rows } = check(records, { size, primitives: NOBLE });
      assert.deepEqual([state, checked, breaks], ["intact", 51, []]);
      assert.deepEqual(eras, { 1: 5, 2: 6, 3: 40 });
      assert.deepEqual(rows.map(({ position }) => position), range(50, 31));
      assert.deepEqual(rows.map(({ hash }) => hash), records.slice(31).map(hashOf).reverse());
    });
  }

  for (const { name, breaksAt, records } of faultyChains) {
    for (const size of [3, 1000]) {
      it(`finds ${name} at position ${breaksAt}, ${size} receipts at a time`, () => {
        const { state, breaks } = check(records, { size, primitives: NOBLE });
        assert.equal(state, "broken");
        assert.equal(breaks[0]?.position, breaksAt);
      });
    }
  }

  it("calls none of 200 chains intact in which something was changed at random", () => {
    const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000_007);
    console.log(`      seed ${seed}`);
    const random = generator(seed);
    for (let n = 0; n < 200; n++) {
      const changed = mutated(records, random);
      if (records.every((record, at) => record === changed[at])) continue; // what is after them is not claimed
      const size = 1 + random(60);
      const { state } = check(changed, { size, total: records.length });
      assert.notEqual(state, "intact", `seed ${seed}, mutation ${n}, chunks of ${size}`);
    }
  });

  it("names those that are missing, and holds the others to what they say", () => {
    const left = records.filter((_, n) => ![20, 21, 40].includes(n));
    const { state, breaks } = check(left, { size: 1000, total: 51 });
    assert.equal(state, "broken");
    assert.deepEqual(breaks.map(({ position }) => position), [20, 21, 40]);
  });

  it("says of a file what the file lacks, or has twice", () => {
    const first = (records: readonly string[]) =>
      reportOf(records.join("\n"), vectorKeys, NODE_PRIMITIVES).breaks[0];
    assert.deepEqual(first(records.toSpliced(40, 1)), {
      position: 40,
      reason: "The file lacks it",
    });
    assert.deepEqual(first(records.toSpliced(41, 0, records[40]!)), {
      position: 40,
      reason: "The file has it twice, or out of order",
    });
  });

  it("does not let a link go unchecked where only the record before is kept back", () => {
    const tally = createTally();
    tally.head(51, hashOf(records.at(-1)));
    tally.add(checkRange(records.slice(0, 30), { from: 0, to: 30 }, vectorKeys, NODE_PRIMITIVES));
    tally.add(checkRange(records.slice(30), { from: 30, to: 51 }, vectorKeys, NODE_PRIMITIVES));
    assert.equal(tally.summary().state, "broken");
  });

  it("does not let two chunks be of two different chains", () => {
    const other = records.with(29, records[29]!.replace(hashOf(records[29]), "0".repeat(64)));
    const tally = createTally();
    tally.head(51, hashOf(records.at(-1)));
    tally.add(checkRange(other.slice(0, 30), { from: 0, to: 30 }, [], NODE_PRIMITIVES));
    tally.add(checkRange(records.slice(29), { from: 30, to: 51 }, vectorKeys, NODE_PRIMITIVES));
    const { state, breaks } = tally.summary();
    assert.equal(state, "broken");
    assert.match(
      breaks.find(({ position }) => position === 29)!.reason,
      /in the record before #30/,
    );
  });
});

describe("createTally()", () => {
  const chunk = (from: number, to: number) =>
    checkRange(records.slice(Math.max(0, from - 1), to), { from, to }, vectorKeys, NODE_PRIMITIVES);
  const head = hashOf(records.at(-1));

  it("says intact only of the whole chain, up to the hash that is called the newest", () => {
    const tally = createTally();
    const state = () => tally.summary().state;
    assert.equal(state(), "nothing");
    tally.head(51, head);
    assert.equal(state(), "nothing");
    tally.add(chunk(30, 51));
    assert.equal(state(), "part");
    tally.add(chunk(0, 29));
    assert.equal(state(), "part");
    tally.add(chunk(29, 30));
    assert.equal(state(), "intact");
    tally.head(52, "0".repeat(64));
    assert.equal(state(), "part");
  });

  it("never says that a chain is intact whose newest hash is another than the server says", () => {
    const tally = createTally();
    tally.head(51, "0".repeat(64));
    tally.add(chunk(0, 51));
    const { state, breaks } = tally.summary();
    assert.deepEqual([state, breaks[0]!.position], ["broken", 50]);
  });

  it("reports that the chain has become shorter, or is shorter than it was known to be", () => {
    const shrunk = createTally();
    shrunk.head(51, head);
    shrunk.head(50, hashOf(records[49]));
    assert.equal(shrunk.summary().state, "broken");
    const known = createTally();
    known.head(51, head);
    known.known(60, "0".repeat(64), "what was seen before");
    assert.deepEqual(known.summary().breaks.map(({ position }) => position), [51]);
  });

  it("reports a past that is another than it was", () => {
    const tally = createTally();
    tally.head(51, head);
    tally.known(20, "0".repeat(64), "what was seen before");
    for (const { from, to } of planned(0, 51, 50, [20])) tally.add(chunk(from, to));
    const { state, breaks } = tally.summary();
    assert.deepEqual([state, breaks.map(({ position }) => position)], ["broken", [19]]);
  });
});

const range = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, n) => from - n);

/** One change to a chain: a character of a record, or which records there are, in which order. */
function mutated(chain: readonly string[], random: (below: number) => number): string[] {
  const at = random(chain.length);
  const other = random(chain.length);
  switch (random(5)) {
    case 0:
      return chain.filter((_, n) => n !== at);
    case 1:
      return chain.with(at, chain[other]!).with(other, chain[at]!);
    case 2:
      return chain.with(at, chain[other]!);
    case 3:
      return chain.toSpliced(at, 0, chain[other]!);
    default: {
      const record = chain[at]!;
      const place = hashed(record, random);
      const character = String.fromCharCode(33 + random(90));
      return chain.with(at, record.slice(0, place) + character + record.slice(place + 1));
    }
  }
}

/**
 * A place that somebody can check: of a record of era 1 only the hash, by the link to it; of era 2 all but what the
 * receiver said of it later; of era 3 all.
 */
function hashed(record: string, random: (below: number) => number): number {
  if (!record.includes("schema_version")) {
    return record.indexOf(JSON.parse(record).hash_sha256) + random(64);
  }
  const [open] = /"receiver_attestation": ?\{[^}]*\}/.exec(record) ?? [];
  const from = open ? record.indexOf(open) : Infinity;
  let place = random(record.length);
  while (place >= from && place < from + open!.length) place = random(record.length);
  return place;
}

/** Mulberry32: @returns whole numbers from 0 to below */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = state + 0x6d2b79f5 | 0;
    let t = Math.imul(state ^ state >>> 15, 1 | state);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return Math.floor(((t ^ t >>> 14) >>> 0) / 2 ** 32 * below);
  };
}
