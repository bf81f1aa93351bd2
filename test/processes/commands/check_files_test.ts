import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programPath } from "../../../config.ts";
import { SETTINGS_FILES } from "../../../contract/domain/mod.ts";
import { testFolder } from "../../_run.ts";

describe("npm run check-files", () => {
  let data: string;
  beforeEach(async () => {
    data = await testFolder();
  });

  function check(env: Record<string, string> = {}) {
    const program = programPath("processes/commands/check_files.ts");
    const { status, stdout } = spawnSync(process.execPath, [program], {
      env: { PATH: process.env.PATH, SEALOOP_DATA: data, ...env },
      encoding: "utf8",
    });
    return { status, lines: stdout.trim().split("\n") };
  }

  it("needs no file, and has a line for each", () => {
    const { status, lines } = check();
    assert.equal(status, 0);
    assert.equal(lines.length, Object.keys(SETTINGS_FILES).length + 1);
    assert.ok(
      lines.slice(1).every((line) => /^none {6}\/\S+, which need not be there$/.test(line)),
    );
  });

  it("names place, mistake and what would be right of every file that a process would refuse", () => {
    mkdirSync(join(data, "runbooks"));
    mkdirSync(join(data, "scripts"));
    const wrong: Readonly<Record<string, readonly [text: string, says: RegExp]>> = {
      "sealoop.services.yaml": [
        "services:\n  - name: shop\n    chekc: {}\n",
        /:3:5: services\.0\.chekc: unknown field; did you mean check\?$/,
      ],
      "sealoop.detectors.yaml": ["logz: {}\n", /:1:1: logz: unknown field; did you mean logs\?$/],
      "runbooks/mine.yaml": ["runbook: mine\n", /:1:1: version: missing; expected string$/],
      "scripts/mine.yaml": [
        "script: mine\nargs: [x]\n",
        /:2:1: args: unknown field; did you mean argv\?$/,
      ],
      "sealoop.governance.yaml": [
        "rules:\n  - { name: own, than: deny }\n",
        /:2:18: rule own: than: There is no such field; did you mean then\?$/,
      ],
      "sealoop.policy.yaml": [
        "freezes:\n  - { from: now, to: 2099-01-01T00:00:00Z, reason: x }\n",
        /:2:13: freezes\.0\.from: Invalid ISO datetime$/,
      ],
      "sealoop.shield.yaml": [
        "without: [nothing]\n",
        /:1:\d+: there is no shipped policy nothing$/,
      ],
      "sealoop.models.yaml": [
        "budget: {}\n",
        /:1:1: budget: unknown field; did you mean budgets\?$/,
      ],
      "sealoop.comms.yaml": [
        "platform: { channels: {}, rules: [{ name: a, tell: [desk] }] }\n",
        /:1:53: there is no channel desk; there are none$/,
      ],
      "sealoop.peers.yaml": [
        "acme: [{ id: A, name: A, url: x }]\n",
        /:1:14: acme\.0\.id: Expected a small letter/,
      ],
      "sealoop.mail.yaml": ["sequences: {}\n", /:1:12: sequences: .*expected array/],
      "sealoop.pipelines.yaml": ["pipelines: [\n", /:2:1: Flow sequence/],
    };
    for (const [file, [text]] of Object.entries(wrong)) writeFileSync(join(data, file), text);
    const { status, lines } = check();
    assert.equal(status, 1);
    for (const [file, [, says]] of Object.entries(wrong)) {
      const own = lines.filter((line) => line.startsWith(`refused   ${join(data, file)}:`));
      assert.ok(
        own.some((line) => says.test(line)),
        `${file}: ${own.join("\n") || lines.join("\n")}`,
      );
    }
  });

  it("refuses a setting that is none, and warns of a rule that matches nothing", () => {
    const refused = check({ SEALOOP_GATEWAY_POTR: "1" });
    assert.equal(refused.status, 1);
    assert.match(refused.lines.join("\n"), /SEALOOP_GATEWAY_POTR is not a setting; did you mean /);
    writeFileSync(
      join(data, "sealoop.governance.yaml"),
      "rules:\n  - { name: own, when: { tools: [itsm_run_tset] }, then: deny }\n",
    );
    const { status, lines } = check();
    assert.equal(status, 0);
    assert.match(lines.at(-1)!, /^warning .*line 2: rule own: .*did you mean itsm_run_test/);
  });
});
