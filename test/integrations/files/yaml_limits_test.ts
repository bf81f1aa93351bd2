import assert from "node:assert/strict";
import { z } from "zod";
import { readYaml } from "../../../integrations/files/mod.ts";

const row = (name: string, of: string) => `${name}: &${name} [${`${of}, `.repeat(9)}${of}]\n`;

describe("readYaml()", () => {
  const BOMBS: Readonly<Record<string, readonly [text: string, mistake: RegExp]>> = {
    "aliases of aliases": [
      row("a", "x") +
      Array.from("bcdefghijklm", (name, n) => row(name, `*${"abcdefghijkl"[n]}`)).join(""),
      /more than 100 aliases/,
    ],
    "brackets that are never closed": ["[".repeat(100_000), /more than 50 open brackets/],
    "maps that are never closed": ["{".repeat(100_000), /more than 50 open brackets/],
    "keys of keys": ["? ".repeat(50_000), /more than 10 blocks that begin in one line/],
    "lists of lists": ["- ".repeat(50_000), /more than 10 blocks that begin in one line/],
    "blocks within blocks": [
      Array.from({ length: 500 }, (_, n) => `${" ".repeat(n)}a:\n`).join(""),
      /more than 50 levels/,
    ],
    "more keys in brackets than can be compared": [
      `{${Array.from({ length: 50_000 }, (_, n) => `k${n}: 1`).join(", ")}}`,
      /more than 10000 entries/,
    ],
    "more keys than can be compared": [
      Array.from({ length: 100_000 }, (_, n) => `k${n}: 1\n`).join(""),
      /more than 20000 lines|more than 1048576 characters/,
    ],
  };
  for (const [about, [text, mistake]] of Object.entries(BOMBS)) {
    it(`tells of ${about} before it parses them`, () => {
      const read = readYaml(text, z.unknown());
      assert.ok("mistakes" in read);
      assert.match(read.mistakes[0]!.text, mistake);
    });
  }

  it("reads lists, brackets and an alias, as runbooks have them", () => {
    const text = "a: &a [1, [2, {b: 3}]]\nc: *a\nd:\n  - - x\n    - y\n  - z: '**bold** 2 * 3'\n";
    const read = readYaml(text, z.unknown());
    assert.deepEqual("value" in read && (read.value as { d: unknown }).d, [
      ["x", "y"],
      { z: "**bold** 2 * 3" },
    ]);
  });
});
