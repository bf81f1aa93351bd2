import assert from "node:assert/strict";
import { NODE_PRIMITIVES } from "../../../../ledger/crypto/mod.ts";
import {
  checkFile,
  checkRange,
  type CheckSummary,
  createTally,
  NOBLE,
  planChunks,
} from "../../../../ledger/page/checks/mod.ts";
import type { Break, Primitives } from "../../../../ledger/rules/mod.ts";
import { verifyChain } from "../../../../ledger/verify/mod.ts";
import { faultyChains, mixedChain, vectorKeys } from "../../_chains.ts";
import { sized } from "../../../_size.ts";

/** Checks a chain as the page does: in chunks, in any order, each with the record before it. */
function check(
  records: readonly string[],
  { size, primitives = NODE_PRIMITIVES, total = records.length }: {
    size: number;
    primitives?: Primitives;
    total?: number;
  },
): CheckSummary {
  const tally = createTally();
  tally.setHead(total, hashOf(records.at(-1)));
  for (const range of planChunks(0, total, size).reverse()) {
    const given = records.slice(Math.max(0, range.from - 1), range.to);
    tally.add(checkRange(given, range, vectorKeys, primitives));
  }
  return tally.summary();
}

/** Reads the hash in a record; "" if it cannot be read. */
function hashOf(record: string | undefined): string {
  try {
    return JSON.parse(record!).hash_sha256;
  } catch {
    return "";
  }
}
const { records } = mixedChain;

/** Chains that are changed at random. */
const CHANGED = sized(500);

describe("checkRange()", () => {
  for (const size of [1, 2, 7, 50, 1000]) {
    it(`reports a chain of all eras as intact, in chunks of ${size}`, () => {
      const { state, checked, breaks, eras, rows } = check(records, { size, primitives: NOBLE });
      assert.deepEqual([state, checked, breaks], ["intact", 51, []]);
      assert.deepEqual(eras, { 1: 5, 2: 6, 3: 40 });
      assert.deepEqual(rows.map(({ position }) => position), range(50, 31));
      assert.deepEqual(rows.map(({ hash }) => hash), records.slice(31).map(hashOf).reverse());
    });
  }

  for (const { name, breaksAt, records } of faultyChains) {
    for (const size of [3, 1000]) {
      it(`reports ${name} at position ${breaksAt}, in chunks of ${size}`, () => {
        const { state, breaks } = check(records, { size, primitives: NOBLE });
        assert.equal(state, "broken");
        assert.equal(breaks[0]?.position, breaksAt);
      });
    }
  }

  it("finds breaks where the command finds them, and each missing position", async () => {
    const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000_007);
    console.log(`      seed ${seed}`);
    const random = createRandom(seed);
    const chains = [
      ...faultyChains.map(({ records }) => records),
      records.toSpliced(3, 1), // of an era without positions
      records.with(30, "{"),
      records.with(30, records[30]!.replace('"chain_position":30', '"chain_position":45')),
      ...Array.from({ length: CHANGED }, () => mutate(records, random)),
    ];
    for (const [n, chain] of chains.entries()) {
      const { breaks } = checkRange(chain, { from: 0, to: 200 }, vectorKeys, NODE_PRIMITIVES);
      const verdict = await verifyChain(chain, vectorKeys);
      assert.deepEqual(
        joinMissing(breaks).slice(0, -1), // the last is what is missing up to 200
        verdict.breaks.map(({ position }) => position),
        `seed ${seed}, chain ${n}`,
      );
    }
  });

  it(`reports none of ${CHANGED} randomly changed chains as intact`, () => {
    const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000_007);
    console.log(`      seed ${seed}`);
    const random = createRandom(seed);
    for (let n = 0; n < CHANGED; n++) {
      const changed = mutate(records, random);
      if (records.every((record, at) => record === changed[at])) continue; // only something after the chain was changed
      const size = 1 + random(60);
      const { state } = check(changed, { size, total: records.length });
      assert.notEqual(state, "intact", `seed ${seed}, mutation ${n}, chunks of ${size}`);
    }
  });

  it("reports missing receipts, and checks the others at the positions that they claim", () => {
    const left = records.filter((_, n) => ![20, 21, 40].includes(n));
    const { state, breaks } = check(left, { size: 1000, total: 51 });
    assert.equal(state, "broken");
    assert.deepEqual(breaks.map(({ position }) => position), [20, 21, 40]);
  });

  it("reports what is missing or repeated in a file", () => {
    const first = (records: readonly string[]) =>
      checkFile(records.join("\n"), vectorKeys, NODE_PRIMITIVES).breaks[0];
    assert.deepEqual(first(records.toSpliced(40, 1)), {
      position: 40,
      reason: "The file does not have it",
    });
    assert.deepEqual(first(records.toSpliced(41, 0, records[40]!)), {
      position: 40,
      reason: "The file has it twice, or out of order",
    });
  });

  it("adds to the first break how the source contradicts its records", () => {
    const contradictions = ["It says one thing", "and another"];
    const breaksOf = (given: readonly string[]) =>
      checkRange(given, { from: 0, to: 51, contradictions }, vectorKeys, NODE_PRIMITIVES).breaks;
    const reason = contradictions.join("; ");
    assert.deepEqual(breaksOf(records), [{ position: 0, reason }]);
    assert.deepEqual(breaksOf(records.toSpliced(40, 1)), [
      { position: 40, reason: `The server did not return it; ${reason}` },
    ]);
  });

  it("reports a page of another count as broken, and not only where it is", () => {
    const page = `{"from":0,"count":51,"total":51,"receipts":[${records.toSpliced(40, 1)}]}`;
    const { breaks } = checkFile(page, vectorKeys, NODE_PRIMITIVES);
    assert.deepEqual(breaks, [{
      position: 40,
      reason: "The file does not have it; It says that it has 51 receipts, and has 50",
    }]);
  });

  it("does not report a chain as intact if the record before a chunk was withheld", () => {
    const tally = createTally();
    tally.setHead(51, hashOf(records.at(-1)));
    tally.add(checkRange(records.slice(0, 30), { from: 0, to: 30 }, vectorKeys, NODE_PRIMITIVES));
    tally.add(checkRange(records.slice(30), { from: 30, to: 51 }, vectorKeys, NODE_PRIMITIVES));
    assert.equal(tally.summary().state, "broken");
  });

  it("reports chunks of two different chains", () => {
    const other = records.with(29, records[29]!.replace(hashOf(records[29]), "0".repeat(64)));
    const tally = createTally();
    tally.setHead(51, hashOf(records.at(-1)));
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

  it("reports a chain as intact only if all of it was checked, up to the newest hash", () => {
    const tally = createTally();
    const state = () => tally.summary().state;
    assert.equal(state(), "nothing");
    tally.setHead(51, head);
    assert.equal(state(), "nothing");
    tally.add(chunk(30, 51));
    assert.equal(state(), "part");
    tally.add(chunk(0, 29));
    assert.equal(state(), "part");
    tally.add(chunk(29, 30));
    assert.equal(state(), "intact");
    tally.setHead(52, "0".repeat(64));
    assert.equal(state(), "part");
  });

  it("reports another newest hash than the server's", () => {
    const tally = createTally();
    tally.setHead(51, "0".repeat(64));
    tally.add(chunk(0, 51));
    const { state, breaks } = tally.summary();
    assert.deepEqual([state, breaks[0]!.position], ["broken", 50]);
  });

  it("reports a chain that became shorter, or is shorter than known before", () => {
    const shrunk = createTally();
    shrunk.setHead(51, head);
    shrunk.setHead(50, hashOf(records[49]));
    assert.equal(shrunk.summary().state, "broken");
    const known = createTally();
    known.setHead(51, head);
    known.addKnownEnd(60, "0".repeat(64), "the last visit");
    assert.deepEqual(known.summary().breaks.map(({ position }) => position), [51]);
  });

  it("reports a changed past", () => {
    const tally = createTally();
    tally.setHead(51, head);
    tally.addKnownEnd(20, "0".repeat(64), "the last visit");
    for (const { from, to } of planChunks(0, 51, 50, [20])) tally.add(chunk(from, to));
    const { state, breaks } = tally.summary();
    assert.deepEqual([state, breaks.map(({ position }) => position)], ["broken", [19]]);
  });
});

const range = (from: number, to: number) =>
  Array.from({ length: from - to + 1 }, (_, n) => from - n);

/** Returns the positions of breaks; of missing ones in a row only the first. */
function joinMissing(breaks: readonly Break[]): number[] {
  const isMissing = (found: Break | undefined) => found?.reason === "The server did not return it";
  return breaks
    .filter((found, n) => {
      const before = breaks[n - 1];
      return !isMissing(found) || !isMissing(before) || before!.position !== found.position - 1;
    })
    .map(({ position }) => position);
}

/** Changes a character of a record, or removes, swaps, repeats or replaces records. */
function mutate(chain: readonly string[], random: (below: number) => number): string[] {
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
      const place = chooseCharacter(record, random);
      const character = String.fromCharCode(33 + random(90));
      return chain.with(at, record.slice(0, place) + character + record.slice(place + 1));
    }
  }
}

/**
 * Chooses a character that can be checked: in era 1 only the hash, by the link to it; in era 2 everything but the
 * receiver's attestation; in era 3 everything.
 */
function chooseCharacter(record: string, random: (below: number) => number): number {
  if (!record.includes("schema_version")) {
    return record.indexOf(JSON.parse(record).hash_sha256) + random(64);
  }
  const [open] = /"receiver_attestation": ?\{[^}]*\}/.exec(record) ?? [];
  const from = open ? record.indexOf(open) : Infinity;
  let place = random(record.length);
  while (place >= from && place < from + open!.length) place = random(record.length);
  return place;
}

/** Creates a Mulberry32 generator of whole numbers from 0 to `below`. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = state + 0x6d2b79f5 | 0;
    let t = Math.imul(state ^ state >>> 15, 1 | state);
    t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t;
    return Math.floor(((t ^ t >>> 14) >>> 0) / 2 ** 32 * below);
  };
}
