import assert from "node:assert/strict";
import { createReceiptSplitter } from "../../../ledger/verify/mod.ts";

interface Split {
  readonly receipts: readonly string[];
  readonly envelopes: readonly object[];
}

/** Splits a text in chunks of so many bytes. */
function split(text: string, size = 1 << 20): Split {
  const bytes = Buffer.from(text);
  const envelopes: object[] = [];
  const splitter = createReceiptSplitter((fields) => envelopes.push(fields));
  const receipts: string[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    for (const receipt of splitter.push(bytes.subarray(at, at + size))) {
      const raw = bytes.subarray(receipt.start, receipt.end).toString();
      assert.deepEqual(JSON.parse(raw), JSON.parse(receipt.bytes.toString()));
      receipts.push(receipt.bytes.toString());
    }
  }
  splitter.end();
  return { receipts, envelopes };
}

/** Receipts with contents that look like the structure around them. */
const HARD = [
  { id: 'a"b\\', text: '\\"receipts":[{}]', nested: { receipts: [{ a: [] }, []] } },
  { "receipts ": "]}", escaped: '"\\\\"', empty: {}, list: [1, [2], { n: null }] },
  { receipt: [], 'x,"receipts': [{}], "é€😀": " \t\n ", n: 1 },
];
const hard = HARD.map((value) => JSON.stringify(value));
const pretty = (value: unknown) => JSON.stringify(value, null, "\r\n\t ");

describe("createReceiptSplitter()", () => {
  const forms: Readonly<Record<string, readonly [text: string, envelopes: readonly object[]]>> = {
    "one a line": [hard.join("\n"), []],
    "an array": [`[${hard.join(",")}]`, []],
    "an indented array": [pretty(HARD), []],
    "a page": [`{"total":3,"deep":{"receipts":[1]},"receipts":[${hard.join(",")}],"x":{"y":[]}}`, [
      { total: 3, deep: { receipts: [1] } },
    ]],
    "an indented page": [pretty({ keys: [{ a: 1 }], receipts: HARD }), [
      { keys: [{ a: 1 }] },
    ]],
    "pages one after another": [
      `${pretty({ n: 1, receipts: HARD.slice(0, 2) })}\n${
        pretty({ n: 2, receipts: HARD.slice(2) })
      }`,
      [{ n: 1 }, { n: 2 }],
    ],
  };
  for (const [form, [text, envelopes]] of Object.entries(forms)) {
    it(`finds the receipts of ${form}, wherever it is cut`, () => {
      const whole = split(text);
      assert.deepEqual(whole, { receipts: hard, envelopes });
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

  it("refuses a value that is too large before it has read it all", () => {
    const splitter = createReceiptSplitter();
    const mebibyte = Buffer.alloc(1 << 20, "x");
    splitter.push(Buffer.from('{"a":"'));
    assert.throws(() => {
      for (let n = 0; n < 9; n++) splitter.push(mebibyte);
    }, /value at byte 0 is larger/);
  });
});
