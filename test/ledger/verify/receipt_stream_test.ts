import assert from "node:assert/strict";
import { createReceiptSplitter } from "../../../ledger/rules/mod.ts";

interface Split {
  readonly receipts: readonly string[];
  readonly envelope: object;
}

/** Splits a text in chunks of so many bytes. */
function split(text: string, size = 1 << 20): Split {
  const bytes = Buffer.from(text);
  const splitter = createReceiptSplitter();
  const receipts: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const receipt of splitter.push(bytes.subarray(at, at + size))) {
      const raw = bytes.subarray(receipt.start, receipt.end).toString();
      assert.deepEqual(JSON.parse(raw), JSON.parse(textOf(receipt.bytes)));
      receipts.push(textOf(receipt.bytes));
    }
  }
  return { receipts, envelope: splitter.end().fields };
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** Receipts with contents that look like the structure around them. */
const HARD = [
  { id: 'a"b\\', text: '\\"receipts":[{}]', nested: { receipts: [{ a: [] }, []] } },
  { "receipts ": "]}", escaped: '"\\\\"', empty: {}, list: [1, [2], { n: null }] },
  { receipt: [], 'x,"receipts': [{}], "é€😀": " \t\n ", n: 1 },
];
const hard = HARD.map((value) => JSON.stringify(value));
const SPELLED = [..."receipts"].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join("");
const pretty = (value: unknown) => JSON.stringify(value, null, "\r\n\t ");

describe("createReceiptSplitter()", () => {
  const page = `{"total":3,"deep":{"receipts":[1]},"receipts":[${
    hard.join(",")
  }],"x":{"y":[]},"z":1}`;
  const forms: Readonly<Record<string, readonly [text: string, envelope: object]>> = {
    "one a line": [hard.join("\n"), {}],
    "one a line, with blank lines": [`\n${hard.join("\r\n \n")}\n\n`, {}],
    "an array": [`[${hard.join(",")}]`, {}],
    "an indented array": [pretty(HARD), {}],
    "a page": [page, { total: 3, deep: { receipts: [1] }, x: { y: [] }, z: 1 }],
    "a page that names them in escapes": [page.replace(/receipts(?=":\[\{"id)/, SPELLED), {
      total: 3,
      deep: { receipts: [1] },
      x: { y: [] },
      z: 1,
    }],
    "an indented page": [pretty({ keys: [{ a: 1 }], receipts: HARD, total: 3 }), {
      keys: [{ a: 1 }],
      total: 3,
    }],
  };
  for (const [form, [text, envelope]] of Object.entries(forms)) {
    it(`finds the receipts of ${form}, wherever it is cut`, () => {
      const whole = split(text);
      assert.deepEqual(whole, { receipts: hard, envelope });
      for (let size = 1; size < 40; size++) assert.deepEqual(split(text, size), whole, `${size}`);
    });
  }

  for (
    const text of [
      "1",
      '"x"',
      "[1]",
      "[[]]",
      '["x"]',
      "nonsense",
      "[}",
      "]",
      "}",
      "[]]",
      '[{}]"x"',
      "[{}]{}",
      "[{}][{}]",
      '{"receipts":[1]}',
      '{"receipts":[{}}',
      '{"a":b,"receipts":[]}',
      "[{}] x",
      "[{}{}]",
      "[{},]",
      "[,{}]",
      "{}{}",
      "{},{}",
      "{} {}",
      '{\n"a":1}\n{}',
      '{}\n{\n"a":1}',
      '{}\n{"receipts":[{}]}',
      '{}\n{"total":1,"receipts":[]}',
      '{}\n{"\\u0072eceipts":[{}]}',
      '{"a":1 2}',
      '{"a":tr ue}',
      '{"receipts":[{}]}\n{"receipts":[{}]}',
      '{"receipts":[{}],"receipts":[{}]}',
      '{"receipts":[{}],"\\u0072eceipts":[{}]}',
      '{"receipts":[{}],"x":{"a":1,"a":2}}',
      '{"total":2,"receipts":[{}],"total":1}',
      '{"receipts":[{}],"total":"1"}',
      '{"receipts":[{}],"total":1.5}',
      '{"receipts":[{}],"from":-1}',
      '{"receipts":[{}],"x":1e400}',
      '{"receipts":[{}],"x":"\\ud800"}',
      '{"receipts":[{}],"x":"\\u0000"}',
      `{"receipts":[{}],"x":${"[".repeat(70)}${"]".repeat(70)}}`,
      '{"receipts":[{}]}\0',
      "\ufeff[{}]",
    ]
  ) {
    it(`refuses ${text}`, () => {
      assert.throws(() => split(text), { name: "BadReceiptFile" });
      assert.throws(() => split(text, 1), { name: "BadReceiptFile" });
    });
  }

  for (const text of ["", " ", "[", '[{"a":1}', '{"receipts":[{}]', '{"a":"', '{"a":"\\']) {
    it(`reports that "${text}" ends too early`, () => {
      assert.throws(() => split(text), /It is empty|It ends in the middle/);
    });
  }

  it("reports how many receipts a page says to have, where it has others", () => {
    const splitter = createReceiptSplitter();
    splitter.push(Buffer.from('{"receipts":[{}],"count":2}'));
    assert.equal(splitter.end().contradiction, "It says that it has 2 receipts, and has 1");
  });

  it("refuses a value that is too large before it has read it all", () => {
    const splitter = createReceiptSplitter();
    const mebibyte = Buffer.alloc(1 << 20, "x");
    splitter.push(Buffer.from('{"a":"'));
    assert.throws(() => {
      for (let n = 0; n < 9; n++) splitter.push(mebibyte);
    }, /value at byte 0 is larger/);
  });
});
