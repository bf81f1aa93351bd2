import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { writtenSchema } from "../../docs/schemas.ts";
import { SCHEMAS } from "../../processes/_schemas.ts";

describe("docs/schemas", () => {
  for (const [name, schema] of Object.entries(SCHEMAS)) {
    it(`${name}.json is as it is checked; else run: npx tsx docs/schemas.ts`, () => {
      assert.deepEqual(writtenSchema(name), JSON.parse(JSON.stringify(schema)));
    });
  }
});

describe("the schema of the services file", () => {
  const accepts = new Ajv2020({ strict: false, formats: { uri: true } }).compile(SCHEMAS.services!);

  it("accepts the file that docs/cmdb.md shows", () => {
    const page = readFileSync(new URL("../../docs/cmdb.md", import.meta.url), "utf8");
    const file = /```yaml\n([\s\S]*?)```/.exec(page)![1]!;
    assert.ok(accepts(parse(file)), JSON.stringify(accepts.errors));
  });

  for (
    const wrong of [
      { services: [{ name: "a/b" }] },
      { services: [{ name: "a", depends_on: [{ service: "b", kind: "likes" }] }] },
      { services: [{ name: "a", ports: [70000] }] },
      { services: [{ name: "a", check: { ping: "b" } }] },
      { services: [{ name: "a", chekc: {} }] },
      { sevices: [] },
    ]
  ) {
    it(`refuses ${JSON.stringify(wrong)}`, () => {
      assert.equal(accepts(wrong), false);
    });
  }
});
