import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../config.ts";
import {
  findCycles,
  type Import,
  isFaceOf,
  isProduct,
  readImports,
  roomOf,
  ROOMS,
} from "../scripts/imports/mod.ts";

/** Rooms that every room may import. */
const EVERYWHERE = ["contract"];
/** Rooms of which only types may be imported, by the rooms that do. */
const TYPES_ONLY: Readonly<Record<string, string>> = { workflows: "activities" };

/** Rooms in which ids and names of callers, workflows and strangers are at hand. */
const HEAR_FROM_OUTSIDE = ["activities", "api", "calls", "mcp", "operations", "workflows"];

describe("imports", () => {
  const imports = readImports();
  const product = imports.filter(({ from }) => isProduct(from));
  const show = (wrong: readonly Import[]) => wrong.map(({ from, to }) => `${from} imports ${to}`);

  it("form no cycle, types and dynamic imports included", () => {
    assert.deepEqual(findCycles(product).map((cycle) => cycle.join(" → ")), []);
  });

  it("form no cycle between rooms", () => {
    const between = product.map(({ from, to, isType }) => ({
      from: roomOf(from),
      to: roomOf(to),
      isType,
    })).filter(({ from, to }) => from !== to);
    assert.deepEqual(findCycles(between).map((cycle) => cycle.join(" → ")), []);
  });

  for (const [room, allowed] of Object.entries(ROOMS)) {
    it(`of ${room} point to nothing but ${[...EVERYWHERE, ...allowed].join(", ")}`, () => {
      const wrong = product.filter(({ from, to }) =>
        roomOf(from) === room && roomOf(to) !== room &&
        ![...EVERYWHERE, ...allowed].includes(roomOf(to))
      );
      assert.deepEqual(show(wrong), []);
    });
  }

  it("point from every room of the product to a room that has rules", () => {
    const rooms = new Set(product.map(({ from }) => roomOf(from)));
    const known = [...Object.keys(ROOMS), "main.ts"];
    assert.deepEqual([...rooms].filter((room) => !known.includes(room)), []);
  });

  for (const [room, target] of Object.entries(TYPES_ONLY)) {
    it(`of ${room} take only types from ${target}`, () => {
      const wrong = product.filter(({ from, to, isType }) =>
        roomOf(from) === room && roomOf(to) === target && !isType
      );
      assert.deepEqual(show(wrong), []);
    });
  }

  it("of other folders' files pass through the folder's mod.ts, those of tests as well", () => {
    assert.deepEqual(show(imports.filter((one) => !isFaceOf(one) && !isWithinTest(one))), []);
  });

  it("of workflows are made by tests alone", () => {
    const wrong = product.filter(({ from, to }) =>
      roomOf(to) === "workflows" && roomOf(from) !== "workflows"
    );
    assert.deepEqual(show(wrong), []);
  });
});

describe("the sources", () => {
  it("use createTimeoutSignal() and not AbortSignal.timeout(), whose timer can be garbage-collected", () => {
    const files = new Set(readImports().map(({ from }) => from).filter(isProduct));
    const onNode = [...files].filter((path) => !path.includes("/browser/"));
    const wrong = onNode.filter((path) =>
      readFileSync(join(ROOT, path), "utf8").includes("AbortSignal.timeout(")
    );
    assert.deepEqual(wrong, []);
  });

  it("that hear from outside join paths of constants alone, and anything else by pathBelow()", () => {
    const files = new Set(readImports().map(({ from }) => from));
    const wrong = [...files].filter((path) => HEAR_FROM_OUTSIDE.includes(roomOf(path))).flatMap(
      (path) => listJoins(readFileSync(join(ROOT, path), "utf8")).map((call) => `${path}: ${call}`),
    );
    assert.deepEqual(wrong, []);
  });
});

/** Lists the calls of `join()` and `resolve()` of paths that have a part, after the first, that is no constant. */
function listJoins(source: string): string[] {
  if (!/\b(join|resolve)\b[^;]* from "node:path"/.test(source)) return [];
  const calls = [...source.matchAll(/(?<![.\w])(?:join|resolve)\(((?:[^()]|\([^()]*\))*)\)/g)];
  const isConstant = (part: string) => /^\s*("[^"]*"|[A-Z_]*)\s*$/.test(part);
  const wrong = calls.filter(([, parts]) => !parts!.split(",").slice(1).every(isConstant));
  return wrong.map(([call]) => call);
}

/** Tests share helpers, which need no faces, and every run of them begins with the build. */
function isWithinTest({ from, to }: Import): boolean {
  if (from === "test/_run.ts" && to === "scripts/build.mjs") return true;
  return /^(test|bench|evals)\//.test(from) && to.startsWith("test/") ||
    from.startsWith("bench/") && to.startsWith("bench/");
}
