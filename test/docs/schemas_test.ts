import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { ROOT } from "../../config.ts";
import { SCHEMAS } from "../../processes/mod.ts";

describe("the schema of the services file", () => {
  const accepts = new Ajv2020({ strict: false, formats: { uri: true } }).compile(SCHEMAS.services!);

  it("accepts the file that docs/cmdb.md shows", () => {
    const page = readFileSync(join(ROOT, "docs", "cmdb.md"), "utf8");
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
