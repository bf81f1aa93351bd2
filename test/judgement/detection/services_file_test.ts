import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BadServicesFile, readServicesFile } from "../../../judgement/detection/mod.ts";
import { testFolder } from "../../_run.ts";

describe("readServicesFile()", () => {
  let path: string;
  before(async () => {
    path = join(await testFolder(), "sealoop.services.yaml");
  });

  it("has no services where there is no file", () => {
    assert.deepEqual(readServicesFile(join(path, "nowhere")), []);
  });
  it("reads a name alone, and every field", async () => {
    await writeFile(
      path,
      `services:
  - name: database
  - name: billing
    type: web
    host: app1
    owner: ada
    depends_on: [database, { service: postgresql, kind: stores_in }]
    ports: [9001, { port: 9002, program: node }]
    runbook: restart-billing
    check: { http: http://127.0.0.1:9000/health }
    restart: { process: { command: [node, billing.js], cwd: /tmp, env: { PORT: "9000" } } }
    on_stop: stop
  - name: mail
    check: { tcp: "127.0.0.1:25" }
    restart: { command: [systemctl, restart, postfix] }
`,
    );
    const services = readServicesFile(path, ["postgresql"]);
    assert.deepEqual(services[0], {
      name: "database",
      tenant: "platform",
      type: "service",
      host: "localhost",
      depends_on: [],
      ports: [],
    });
    assert.deepEqual(services[1]!.depends_on, [
      { service: "database", kind: "depends_on" },
      { service: "postgresql", kind: "stores_in" },
    ]);
    assert.deepEqual(services[1]!.ports, [
      { port: 9001, program: null },
      { port: 9002, program: "node" },
    ]);
    assert.equal(services[1]!.runbook, "restart-billing");
    assert.equal(services[1]!.on_stop, "stop");
    assert.deepEqual(services[2]!.restart, { command: ["systemctl", "restart", "postfix"] });
  });

  const refused: [name: string, text: string, line: number, says: RegExp][] = [
    ["a tab for indentation", "services:\n\t- name: a\n", 2, /Tabs/],
    [
      "an on_stop of a service that it runs no process of",
      "services:\n  - name: a\n    restart: { command: [x] }\n    on_stop: stop\n",
      4,
      /on_stop is for processes that sealoop runs/,
    ],
    ["another on_stop", "services:\n  - name: a\n    on_stop: kill\n", 3, /expected keep or stop/],
    ["a map in place of a list", "services:\n  name: a\n", 2, /array/],
    ["a service without a name", "services:\n  - name: a\n  - type: web\n", 3, /name: /],
    ["a name with a slash", "services:\n  - name: a\n  - name: a/b\n", 3, /letters, digits/],
    [
      "an unknown list",
      "# mine\nsevices: []\n",
      2,
      /^ +line 2: sevices: unknown field; did you mean services\?$/m,
    ],
    [
      "an unknown field",
      "services:\n  - name: a\n    chekc: 1\n",
      3,
      /services\.0\.chekc: unknown field; did you mean check\?/,
    ],
    [
      "an unknown field whose value begins later",
      "services:\n  - name: a\n    chekc:\n      http: http://a\n    ownr: x\n",
      3,
      /^ +line 5: services\.0\.ownr: unknown field/m,
    ],
    [
      "an unknown field of a process",
      "services:\n  - name: a\n    restart:\n      process:\n        command: [a]\n        dir: b\n",
      6,
      /restart\.process\.dir: unknown field/,
    ],
    [
      "a mistake deep in a process",
      "services:\n  - name: a\n    restart:\n      process:\n        command: [a]\n        env:\n          A: 1\n",
      7,
      /restart\.process\.env\.A: .*string/,
    ],
    [
      "an unknown kind of check",
      "services:\n  - name: a\n    check: { ping: host }\n",
      3,
      /\{http: url\}/,
    ],
    [
      "a text that is no URL",
      "services:\n  - name: a\n    check:\n      http: localhost:80\n",
      4,
      /http/,
    ],
    [
      "a TCP address without a port",
      "services:\n  - name: a\n    check:\n      tcp: localhost\n",
      4,
      /host:port/,
    ],
    [
      "a TCP address with a port out of range",
      "services:\n  - name: a\n    check:\n      tcp: localhost:70000\n",
      4,
      /1 to 65535/,
    ],
    [
      "a command that is a shell line",
      "services:\n  - name: a\n    restart:\n      command: systemctl restart a\n",
      4,
      /\[argv\]|array/,
    ],
    [
      "a dependency that does not exist",
      "services:\n  - name: a\n    depends_on:\n      - a\n      - b\n",
      5,
      /no service named b/,
    ],
    [
      "a service that depends on itself",
      "services:\n  - name: a\n    depends_on: [a]\n",
      3,
      /itself/,
    ],
    [
      "an unknown kind of edge",
      "services:\n  - name: a\n  - name: b\n    depends_on:\n      - { service: a, kind: likes }\n",
      5,
      /kind depends_on, runs_on/,
    ],
    [
      "a port out of range",
      "services:\n  - name: a\n    ports: [80,\n      70000]\n",
      4,
      /65535/,
    ],
    [
      "a duplicate name",
      "services:\n  - name: a\n  - name: b\n  - name: a\n",
      4,
      /another service named a/,
    ],
    [
      "a name of the platform's own",
      "services:\n  - name: gateway\n",
      2,
      /another service named gateway/,
    ],
  ];
  for (const [name, text, line, says] of refused) {
    it(`refuses ${name}, with its line`, async () => {
      await writeFile(path, text);
      assert.throws(() => readServicesFile(path, ["gateway"]), (error) => {
        assert.ok(error instanceof BadServicesFile);
        assert.match(error.message, new RegExp(`line ${line}: .*`));
        assert.match(error.message, says);
        return true;
      });
    });
  }

  describe("where there are several places", () => {
    const OF_N1 = {
      listedBy: "n1",
      host: "localhost",
      place: null,
      check: { http: "http://127.0.0.1:9000/" },
      restart: null,
    };
    /** Reads an entry of the file of n2. @param other fields of the entry of the same name in the file of n1 */
    const read = async (entry: string, other: Partial<typeof OF_N1> | object = {}) => {
      await writeFile(path, `services:\n  - { name: shop, ${entry} }\n`);
      const listedElsewhere = new Map([["platform\nshop", { ...OF_N1, ...other }]]);
      return readServicesFile(path, [], { own: "n2", places: ["n1", "n2"], listedElsewhere });
    };
    const LOCAL = "check: { http: http://127.0.0.1:9000/ }";

    it("refuses a service of another place that means the machine it is looked at from", async () => {
      const means = [
        LOCAL,
        'check: { tcp: "localhost:9000" }',
        "check: { command: [curl, http://localhost:9000/] }",
        "check: { http: http://shop.example.net/ }, restart: { process: { command: [shop] } }",
      ];
      for (const one of means) {
        await assert.rejects(read(one), (error: Error) => {
          assert.match(error.message, /line 2: .*the file of the place n1 lists shop as well/);
          return error instanceof BadServicesFile;
        }, one);
      }
      await assert.rejects(read(`place: any, ${LOCAL}`), /expected the name of its place/);
    });

    it("refuses one that the file of another place lists otherwise, which stays in force", async () => {
      const entry = "place: n2, restart: { command: [systemctl, restart, shop] }";
      const restart = { command: ["systemctl", "restart", "shop"] };
      await read(entry, { place: "n2", check: null, restart });
      for (const other of [{ place: "n1" }, { host: "n1" }, { restart: null }]) {
        await assert.rejects(
          read(entry, { place: "n2", check: null, restart, ...other }),
          /line 2: .*the file of the place n1 lists shop otherwise, and that stays in force; leave it out/,
        );
      }
    });

    it("takes one whose place is named, and one that means the same from everywhere", async () => {
      for (const place of ["n1", "n2"]) {
        assert.equal((await read(`place: ${place}, ${LOCAL}`, { place }))[0]!.place, place);
      }
      assert.equal((await read(`host: n1, ${LOCAL}`, { host: "n1" }))[0]!.host, "n1");
      const check = { http: "http://shop.example.net/" };
      await read("check: { http: http://shop.example.net/ }", { check });
      await read("place: any, check: { http: http://shop.example.net/ }", { check, place: "any" });
      await assert.rejects(read("place: N2"), /lowercase/);
    });
  });
});
