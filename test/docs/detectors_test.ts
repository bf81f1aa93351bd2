import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { ROOT } from "../../config.ts";
import { detectorsFileSchema, readDetectorsFile } from "../../judgement/detection/mod.ts";
import { testFolder } from "../_run.ts";

const page = readFileSync(join(ROOT, "docs", "detection.md"), "utf8");

describe("docs/detection.md", () => {
  it("shows a file that the platform and its schema accept", async () => {
    const file = /```yaml\n([\s\S]*?)```/.exec(page)![1]!;
    const path = join(await testFolder(), "sealoop.detectors.yaml");
    await writeFile(path, file);
    assert.equal(readDetectorsFile(path).host_resources.disks[0]!.service, "orders-db");
    const accepts = new Ajv2020({ strict: false }).compile(detectorsFileSchema());
    assert.ok(accepts(parse(file)), JSON.stringify(accepts.errors));
    assert.equal(accepts({ logs: { windw: 1 } }), false);
  });
});

describe("docs/alerts.md", () => {
  it("shows rules that the platform accepts", async () => {
    const page = readFileSync(join(ROOT, "docs", "alerts.md"), "utf8");
    const path = join(await testFolder(), "sealoop.detectors.yaml");
    await writeFile(path, /```yaml\n([\s\S]*?)```/.exec(page)![1]!);
    assert.equal(readDetectorsFile(path).alerts.rules.length, 4);
  });
});
