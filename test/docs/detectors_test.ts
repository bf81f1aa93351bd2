import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { detectorsFileSchema, readDetectorsFile } from "../../detection/mod.ts";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { page, pageWithDetectors } from "../../docs/detectors.ts";
import { testFolder } from "../_servers.ts";

/** The formatter sets columns, so only what is between the bars counts. */
const words = (text: string) => text.split(/[\s|-]+/).join(" ");

describe("docs/detection.md", () => {
  it("lists every setting as the schema has it; else run: npx tsx docs/detectors.ts", () => {
    assert.equal(words(page()), words(pageWithDetectors(page())));
  });

  it("shows a file that can be used, and that its schema accepts", async () => {
    const file = /```yaml\n([\s\S]*?)```/.exec(page())![1]!;
    const path = join(await testFolder(), "sealoop.detectors.yaml");
    await writeFile(path, file);
    assert.equal(readDetectorsFile(path).host_resources.disks[0]!.service, "orders-db");
    const accepts = new Ajv2020({ strict: false }).compile(detectorsFileSchema());
    assert.ok(accepts(parse(file)), JSON.stringify(accepts.errors));
    assert.equal(accepts({ logs: { windw: 1 } }), false);
  });
});
