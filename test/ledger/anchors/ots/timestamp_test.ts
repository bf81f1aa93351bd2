import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import {
  applyOp,
  bitcoinAttestation,
  listAttestations,
  mergeTimestamps,
  type Op,
  parseTimestamp,
  pendingAttestation,
  prependOps,
  pruneTimestamp,
  serializeTimestamp,
  SUBTREE_SIZE,
  type Timestamp,
  treePath,
  treeRoot,
} from "../../../../ledger/anchors/ots/mod.ts";

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));
const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash("sha256").update(bytes).digest());
const BITCOIN = "0588960d73d71901";

describe("operations", () => {
  const message = new TextEncoder().encode("abc");
  const wanted: [Op, string][] = [
    [{ kind: "sha1" }, "a9993e364706816aba3e25717850c26c9cd0d89d"],
    [{ kind: "ripemd160" }, "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"],
    [{ kind: "sha256" }, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [{ kind: "keccak256" }, "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45"],
    [{ kind: "append", arg: hex("00ff") }, "61626300ff"],
    [{ kind: "prepend", arg: hex("00ff") }, "00ff616263"],
    [{ kind: "reverse" }, "636261"],
    [{ kind: "hexlify" }, "363136323633"],
  ];
  for (const [op, result] of wanted) {
    it(`${op.kind} returns the published result`, () => {
      assert.equal(Buffer.from(applyOp(op, message)).toString("hex"), result);
    });
  }
});

describe("timestamps", () => {
  const pending = (uri: string): Timestamp => ({
    branches: [{ attestation: pendingAttestation(uri) }],
  });
  const salted = (salt: number, then: Timestamp) =>
    prependOps([{ kind: "append", arg: Uint8Array.of(salt) }, { kind: "sha256" }], then);

  it("mergeTimestamps() keeps every attestation once", () => {
    const a = salted(1, pending("https://a.example"));
    const b = salted(2, pending("https://b.example"));
    const both = mergeTimestamps(a, b, a);
    assert.equal(both.branches.length, 2);
    assert.deepEqual(both, mergeTimestamps(b, a));
    const digest = hex("11".repeat(32));
    assert.equal(listAttestations(both, digest).length, 2);
    const same = mergeTimestamps(salted(1, pending("https://c.example")), a);
    assert.equal(same.branches.length, 1);
    assert.equal(listAttestations(same, digest).length, 2);
  });

  it("pruneTimestamp() drops the others, with the operations that lead to them", () => {
    const all = mergeTimestamps(
      salted(1, pending("https://a.example")),
      salted(2, { branches: [{ attestation: bitcoinAttestation(5) }] }),
    );
    const only = pruneTimestamp(all, ({ kind }) => kind === "bitcoin");
    assert.deepEqual(only, salted(2, { branches: [{ attestation: bitcoinAttestation(5) }] }));
    assert.equal(pruneTimestamp(all, () => false), undefined);
  });

  it("serializeTimestamp() refuses a timestamp without attestations", () => {
    assert.throws(() => serializeTimestamp({ branches: [] }), { fault: "empty" });
  });
});

describe("the aggregation tree", () => {
  const leaves = (n: number) =>
    Array.from({ length: n }, (_, i) => sha256(new TextEncoder().encode(`leaf ${i}`)));

  for (const n of [1, 2, 3, 4, 5, 7, 8, 9, 31, 33]) {
    it(`leads from each of ${n} leaves to the root`, () => {
      const all = leaves(n);
      const root = treeRoot(all);
      all.forEach((leaf, i) => {
        const got = treePath(all, i).reduce<Uint8Array>((m, op) => applyOp(op, m), leaf);
        assert.deepEqual(got, root);
      });
    });
  }

  it("equals the tree over the roots of its subtrees", () => {
    for (const n of [SUBTREE_SIZE, SUBTREE_SIZE + 1, 2 * SUBTREE_SIZE, 3 * SUBTREE_SIZE + 700]) {
      const all = leaves(n);
      const roots: Uint8Array[] = [];
      for (let at = 0; at < n; at += SUBTREE_SIZE) {
        roots.push(treeRoot(all.slice(at, at + SUBTREE_SIZE)));
      }
      assert.deepEqual(treeRoot(roots), treeRoot(all));
    }
  });

  it("needs few of a proof's levels for a million leaves", () => {
    assert.ok(2 * Math.ceil(Math.log2(2 ** 20)) < 64);
  });
});

describe("ledger/anchors/ots", () => {
  it("runs in a browser: it imports and uses nothing of Node", () => {
    const folder = new URL("../../../../ledger/anchors/ots/", import.meta.url);
    for (const name of readdirSync(folder)) {
      const text = readFileSync(new URL(name, folder), "utf8");
      for (const [, from] of text.matchAll(/ from "([^"]+)"/g)) {
        assert.match(from!, /^(\.\/\w+\.ts|@noble\/hashes\/\w+\.js)$/, `${name} imports ${from}`);
      }
      assert.doesNotMatch(text, /\b(Buffer|process|require|__dirname)\b[.(]/, name);
    }
  });
});

describe("parseTimestamp()", () => {
  it("reads a response of a calendar, and checks operations against the length of the message", () => {
    const bytes = hex(`f0 01 aa 08 00 ${BITCOIN} 01 05`);
    assert.deepEqual(serializeTimestamp(parseTimestamp(bytes, 32)), bytes);
    assert.throws(() => parseTimestamp(bytes, 4096), { fault: "too_long" });
    assert.throws(() => parseTimestamp(bytes, 32, 255), { fault: "too_deep" });
  });
});
