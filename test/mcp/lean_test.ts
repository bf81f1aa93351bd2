/** An agent's memory is short: the list of tools and each result are as small as they can be. */
import assert from "node:assert/strict";
import type { Platform } from "../../calls/mod.ts";
import {
  bindTools,
  findTool,
  MAX_RESULT,
  nameTools,
  ownTools,
  shape,
  takeView,
} from "../../mcp/mod.ts";
import { operations } from "../../operations/mod.ts";

const MAX_LIST = 45_000;
const MAX_DESCRIPTION = 450;
const BRIEF = { verbose: false };
const tools = ownTools(bindTools<Platform>(operations));

describe("the list of tools", () => {
  const listed = [...tools.values()].map(({ description }) => description);

  it("takes at most 45 KB", () => {
    const length = JSON.stringify({ tools: listed }).length;
    assert.ok(length <= MAX_LIST, `${length} characters`);
  });

  it("describes each tool in a few sentences", () => {
    const long = listed.filter(({ description }) => description.length > MAX_DESCRIPTION);
    assert.deepEqual(long.map(({ name, description }) => [name, description.length]), []);
  });

  it("says of tools that are alike when to use which", () => {
    const texts = listed.map(({ description }) => description);
    const same = listed.filter(({ description }, n) => texts.indexOf(description) !== n);
    assert.deepEqual(same.map(({ name }) => name), []);
  });

  it("has names without dots where they are asked for, which calls take as well", () => {
    const plain = [...nameTools(tools, "plain").values()].map(({ description }) =>
      description.name
    );
    assert.equal(plain.length, tools.size);
    assert.ok(plain.every((name) => /^[a-z0-9_]{1,64}$/.test(name)));
    assert.equal(findTool(tools, "ledger_verify_chain")?.name, "ledger.verify_chain");
    assert.equal(findTool(tools, "ledger.verify_chain")?.name, "ledger.verify_chain");
    assert.throws(() => nameTools(tools, "dotted"), /Expected plain/);
  });
});

describe("a result for an agent", () => {
  for (const { operation, description: { name } } of tools.values()) {
    it(`of ${name} has sentences, or the fields in lines, and is short`, () => {
      const { text, value } = shape(operation, operation.example.output, BRIEF);
      assert.ok(text.length > 0);
      assert.doesNotMatch(text, /undefined|\[object|NaN|\bnull\b/);
      assert.ok(text.length + JSON.stringify(value).length <= MAX_RESULT, `${text.length}`);
      assert.notEqual(text, JSON.stringify(operation.example.output));
    });
  }

  const many = {
    items: Array.from(
      { length: 200 },
      (_, n) => ({ id: n, title: `Title of item ${n}`, no: null }),
    ),
    note: "x".repeat(3_000),
    total: 200,
  };
  const plain = { presentation: {} };

  it("is cut at whole items, and says how many are missing and how to get them", () => {
    const { text, value } = shape(plain, many, BRIEF) as { text: string; value: typeof many };
    assert.ok(text.length + JSON.stringify(value).length <= MAX_RESULT);
    assert.deepEqual(
      value.items,
      many.items.slice(0, value.items.length).map(({ id, title }) => ({
        id,
        title,
      })),
    );
    assert.equal(value.total, 200);
    assert.match(text, new RegExp(`${200 - value.items.length} items of /items`));
    assert.match(text, /characters of \/note/);
    assert.match(text, /verbose: true/);
  });

  it("is whole where the caller asks for all", () => {
    const { text, value } = shape(plain, many, { verbose: true });
    assert.deepEqual(value, many);
    assert.match(text, /Title of item 199/);
  });

  it("has the fields that the caller asks for, of the whole or of the items of its lists", () => {
    const { view } = takeView(operations[0]!.input, { fields: "title, total" }) as never as {
      view: { verbose: boolean; fields: string[] };
    };
    const { value } = shape(plain, { ...many, items: many.items.slice(0, 2) }, view);
    assert.deepEqual(value, {
      items: [{ title: "Title of item 0" }, { title: "Title of item 1" }],
      total: 200,
    });
    const { text } = shape(plain, { total: 1 }, { ...BRIEF, fields: ["totla"] });
    assert.match(text, /no field totla here; there are total/);
  });

  it("stays short whatever its form", () => {
    const deep = (depth: number): unknown =>
      depth === 0 ? "x".repeat(500) : { a: deep(depth - 1), b: [deep(depth - 1), 1, null] };
    const fields = (count: number, of: unknown) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, of]));
    const forms = {
      deep: deep(6),
      texts: fields(60, "y".repeat(200)),
      numbers: fields(20_000, 1),
      lists: fields(20_000, [1, 2]),
      text: "z".repeat(9_000),
      nested: [[[["q".repeat(9_000)]]]],
    };
    for (const [form, value] of Object.entries(forms)) {
      const shaped = shape(plain, value, BRIEF);
      const length = shaped.text.length + JSON.stringify(shaped.value).length;
      assert.ok(length <= MAX_RESULT, `${form}: ${length}`);
    }
  });

  it("of a view that means nothing is refused with what would be right", () => {
    const { input } = operations[0]!;
    assert.deepEqual(takeView(input, { verbose: "yes" }), {
      wrong: "verbose has to be true or false",
    });
    assert.deepEqual(takeView(input, { fields: [1] }), {
      wrong: "fields has to be a list of names of fields",
    });
    assert.deepEqual(takeView(input, { verbose: "", fields: null, x: 1 }), {
      view: BRIEF,
      input: { x: 1 },
    });
  });
});
