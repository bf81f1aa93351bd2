import assert from "node:assert/strict";
import { compareLines, DIFFERS } from "../../../ledger/passkeys/mod.ts";

/** Returns the lines that are shown of each: the shared ones with its own in their places. */
function wholeOf({ shared, own }: ReturnType<typeof compareLines>, n: number): string[] {
  return [...shared.filter((line) => line !== DIFFERS), ...own[n]!].toSorted();
}

describe("the lines of several approvals", () => {
  const lines = (service: string, reaches: string[]) => [
    `approval    APR-${service}`,
    "because     It is time",
    ...reaches.map((one, n) => `${n === 0 ? "reaches     " : "            "}${one}`),
    "action      {",
    '              "command": "restart",',
    `              "service": "${service}"`,
    "            }",
  ];

  it("are shared where all have them, and else stand with each", () => {
    const all = [lines("a", ["x"]), lines("b", ["x"])];
    const compared = compareLines(all);
    assert.deepEqual(compared, {
      shared: [
        DIFFERS,
        "because     It is time",
        "reaches     x",
        "action      {",
        '              "command": "restart",',
        DIFFERS,
        "            }",
      ],
      own: [
        ["approval    APR-a", '              "service": "a"'],
        ["approval    APR-b", '              "service": "b"'],
      ],
    });
    for (const [n, one] of all.entries()) {
      assert.deepEqual(wholeOf(compared, n), one.toSorted());
    }
  });

  it("are all shown where a field has more lines in one, or is in one alone", () => {
    const all = [lines("a", ["x"]), lines("b", ["x", "y"]), lines("c", [])];
    const compared = compareLines(all);
    for (const [n, one] of all.entries()) {
      assert.deepEqual(wholeOf(compared, n), one.toSorted());
    }
    assert.ok(!compared.shared.includes("reaches     x"));
  });

  it("of one are all shared", () => {
    const one = lines("a", ["x"]);
    assert.deepEqual(compareLines([one]), { shared: one, own: [[]] });
  });
});
