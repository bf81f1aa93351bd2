import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BadDetectorsFile, readDetectorsFile } from "../../../judgement/detection/mod.ts";
import { testFolder } from "../../_run.ts";

describe("readDetectorsFile()", () => {
  let path: string;
  before(async () => {
    path = join(await testFolder(), "sealoop.detectors.yaml");
  });

  it("has all defaults where the file is missing or empty", async () => {
    const nothing = readDetectorsFile(join(path, "nowhere"));
    await writeFile(path, "# nothing\n");
    assert.deepEqual(readDetectorsFile(path), nothing);
    for (const block of Object.values(nothing)) assert.equal(block.enabled, true);
    assert.equal(nothing.host_resources.full_percent, 95);
  });

  it("reads what is set, and has defaults for the rest", async () => {
    await writeFile(
      path,
      `host_resources:
  disks:
    - { path: /srv/orders, service: orders-db, full_percent: 80 }
logs: { enabled: false }
`,
    );
    const { host_resources, logs, certificates } = readDetectorsFile(path);
    assert.deepEqual(host_resources.disks, [
      { path: "/srv/orders", service: "orders-db", full_percent: 80 },
    ]);
    assert.equal(host_resources.filling_percent, 90);
    assert.equal(logs.enabled, false);
    assert.equal(certificates.enabled, true);
  });

  const refused: [name: string, text: string, line: number, says: RegExp][] = [
    ["an unknown block", "logs: {}\nlogz: {}\n", 2, /logz: unknown field; did you mean logs\?/],
    ["an unknown key", "logs:\n  window_seconds: 60\n  windw: 1\n", 3, /windw.*window_seconds/],
    [
      "an unknown key of a file",
      "logs:\n  files:\n    - path: /a\n      sevrice: x\n",
      4,
      /sevrice.*service/,
    ],
    ["a percentage over a hundred", "host_resources:\n  full_percent: 120\n", 2, /full_percent/],
    [
      "a path that is not absolute",
      "host_resources:\n  disks:\n    - path: srv\n",
      3,
      /absolute path/,
    ],
    ["a certificate of nothing", "certificates:\n  watch:\n    - name: a\n", 3, /either endpoint/],
    [
      "a rule of alerts that names two services",
      "alerts:\n  rules:\n    - { match: { a: b }, service: x, service_label: y }\n",
      3,
      /either service or service_label/,
    ],
    [
      "a rule that maps to nothing",
      "alerts:\n  rules:\n    - { match: { a: b } }\n",
      3,
      /Expected service, service_label, or ignore/,
    ],
    [
      "a rule that fits every alert",
      "alerts:\n  rules:\n    - { match: {}, service: x }\n",
      3,
      /a label at least/,
    ],
    [
      "a rule with two stars",
      "alerts:\n  rules:\n    - { match: { a: '*b*' }, service: x }\n",
      3,
      /one \* at most/,
    ],
    [
      "a disk without its path",
      "alerts:\n  rules:\n    - { match: { a: b }, host: db1, code: disk_full }\n",
      3,
      /name its path/,
    ],
    [
      "a rule that ignores what it maps",
      "alerts:\n  rules:\n    - { match: { a: b }, service: x, ignore: true }\n",
      3,
      /no service and no host/,
    ],
    ["a word for a number", "platform:\n  backlog: many\n", 2, /backlog/],
    [
      "a bound that can't end",
      "service_probes:\n  flapping: { begins: 0.1, ends: 0.2 }\n",
      2,
      /ends/,
    ],
    ["a text that is no YAML", "logs: [\n", 2, /./],
  ];
  for (const [name, text, line, says] of refused) {
    it(`refuses ${name}, with its line`, async () => {
      await writeFile(path, text);
      assert.throws(() => readDetectorsFile(path), (error) => {
        assert.ok(error instanceof BadDetectorsFile);
        assert.match(error.message, new RegExp(`line ${line}: `));
        assert.match(error.message, says);
        return true;
      });
    });
  }
});
