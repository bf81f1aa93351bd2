import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  buildConsistencyProof,
  buildInclusionProof,
  computeEdgeRoot,
  computeRootAt,
  type Edge,
  formatTilePath,
  growEdge,
  parseTilePath,
  readEdge,
  type ReadHashes,
  type Tile,
  TILE_WIDTH,
} from "../../../ledger/log/mod.ts";
import {
  computeInclusionRoot,
  computeRoot,
  type Hash,
  hashLeaf,
  isConsistent,
} from "../../../ledger/rules/mod.ts";
import { sized } from "../../_size.ts";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");
const leaves = (count: number) =>
  Array.from({ length: count }, (_, n) => hashLeaf(Buffer.from(`leaf ${n}`), sha256));

/** Computes a root by the definition: the largest power of two below n splits. @see RFC 6962 §2.1 */
function defineRoot(hashes: readonly Hash[]): Hash {
  if (hashes.length === 1) return hashes[0]!;
  let k = 1;
  while (k * 2 < hashes.length) k *= 2;
  return sha256(
    Buffer.concat([Buffer.of(1), defineRoot(hashes.slice(0, k)), defineRoot(hashes.slice(k))]),
  );
}

const STEP = 300 / sized(300);

/** Lists numbers from one on to another, exclusive: both ends, and each tenth between them in the daily run. */
function listSome(from: number, to: number): number[] {
  const all = Array.from({ length: to - from }, (_, n) => from + n);
  return all.filter((_, n) => n % STEP === 0 || n === all.length - 1);
}

/** Grows a tree by so many leaves at a time. @returns its tiles, its edge, and the reader of both */
function growTree(all: readonly Hash[], step: number) {
  const edge: Edge = [];
  const tiles: Tile[] = [];
  for (let n = 0; n < all.length; n += step) {
    tiles.push(...growEdge(edge, n, all.slice(n, n + step), sha256));
  }
  const read: ReadHashes = (level, from, to) => {
    const n = Math.floor(from / TILE_WIDTH);
    assert.ok(to <= (n + 1) * TILE_WIDTH && from < to, "a read within one tile");
    const row = tiles.find((tile) => tile.level === level && tile.n === n)?.hashes ?? edge[level]!;
    assert.ok(row.length >= to - n * TILE_WIDTH, "a read of hashes that are there");
    return Promise.resolve(row.slice(from - n * TILE_WIDTH, to - n * TILE_WIDTH));
  };
  return { edge, tiles, read };
}

/** Known answers: the trees of RFC 6962's reference implementation. @see certificate-transparency merkletree tests */
const INPUTS = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const ROOTS = [
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

describe("a Merkle tree", () => {
  ROOTS.forEach((root, n) => {
    it(`of ${n + 1} known leaves has the published root`, () => {
      const known = INPUTS.slice(0, n + 1).map((input) =>
        hashLeaf(Buffer.from(input, "hex"), sha256)
      );
      assert.equal(hex(computeRoot(known, sha256)), root);
    });
  });

  it("has the defined root at every size, however it grew", () => {
    for (const size of [1, 2, 3, 255, 256, 257, 511, 512, 513, 1000]) {
      const all = leaves(size);
      for (const step of [1, 7, 256, 1000]) {
        assert.equal(
          hex(computeEdgeRoot(growTree(all, step).edge, sha256)),
          hex(defineRoot(all)),
          `${size} by ${step}`,
        );
      }
    }
  });

  it("gives the root and the edge of every smaller size", async () => {
    const all = leaves(70_000);
    const { read } = growTree(all, 1000);
    for (const size of [1, 2, 255, 256, 257, 65_535, 65_536, 65_537, 66_000, 70_000]) {
      const expected = hex(defineRoot(all.slice(0, size)));
      assert.equal(hex(await computeRootAt(size, read, sha256)), expected, `root at ${size}`);
      assert.equal(
        hex(computeEdgeRoot(await readEdge(size, read), sha256)),
        expected,
        `edge at ${size}`,
      );
    }
  });

  it("proves that every leaf is in it, and nothing else", async () => {
    const all = leaves(300);
    const { read } = growTree(all, 300);
    for (const size of [1, 2, 3, 7, 8, 255, 256, 257, 300]) {
      const root = hex(defineRoot(all.slice(0, size)));
      for (const index of listSome(0, size)) {
        const proof = await buildInclusionProof(index, size, read, sha256);
        const inclusion = { leafHash: all[index]!, index, size, proof };
        assert.equal(hex(computeInclusionRoot(inclusion, sha256)), root);
        const other = all[(index + 1) % 300]!;
        assert.notEqual(hex(computeInclusionRoot({ ...inclusion, leafHash: other }, sha256)), root);
        if (size > 1) {
          const elsewhere = { ...inclusion, index: (index + 1) % size };
          assert.notEqual(hex(computeInclusionRoot(elsewhere, sha256)), root);
          const shorter = { ...inclusion, proof: proof.slice(1) };
          assert.notEqual(hex(computeInclusionRoot(shorter, sha256)), root);
        }
      }
    }
  });

  it("proves that it begins with each smaller tree, and with no other", async () => {
    const all = leaves(300);
    const { read } = growTree(all, 300);
    const roots = all.map((_, n) => defineRoot(all.slice(0, n + 1)));
    for (const newSize of [1, 2, 5, 8, 255, 256, 257, 300]) {
      for (const oldSize of listSome(1, newSize + 1)) {
        const proof = await buildConsistencyProof(oldSize, newSize, read, sha256);
        const claim = {
          oldSize,
          oldRoot: roots[oldSize - 1]!,
          newSize,
          newRoot: roots[newSize - 1]!,
          proof,
        };
        assert.equal(isConsistent(claim, sha256), true, `${oldSize} to ${newSize}`);
        assert.equal(
          isConsistent({ ...claim, oldRoot: all[0]!, oldSize: Math.max(2, oldSize) }, sha256),
          false,
        );
        if (oldSize < newSize) {
          assert.equal(isConsistent({ ...claim, proof: proof.slice(1) }, sha256), false);
          assert.equal(isConsistent({ ...claim, newRoot: all[1]! }, sha256), false);
        }
      }
    }
  });
});

describe("formatTilePath()", () => {
  for (
    const [n, width, path] of [
      [0, 256, "000"],
      [999, 256, "999"],
      [1234067, 256, "x001/x234/067"],
      [5, 17, "005.p/17"],
    ] as const
  ) {
    it(`formats ${n} of width ${width} as ${path}, which is parsed back`, () => {
      assert.equal(formatTilePath(n, width), path);
      assert.deepEqual(parseTilePath(path), { n, width });
    });
  }
  for (
    const path of [
      "",
      "1",
      "0001",
      "x000/001",
      "001.p/256",
      "001.p/0",
      "001.p/01",
      "x001/67",
      "../000",
      "001/",
    ]
  ) {
    it(`refuses ${JSON.stringify(path)}`, () => assert.equal(parseTilePath(path), undefined));
  }
});
