import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BadRunbook, loadRunbooks, SHIPPED_RUNBOOKS } from "../../../judgement/runbooks/mod.ts";
import { testFolder } from "../../_run.ts";
import { shipped } from "./_runbook.ts";

describe("the shipped runbooks", () => {
  it("are at least 25", () => {
    assert.ok(shipped.runbooks.length >= 25);
  });

  it("say of each step what it must never do, and how it is undone or why it is not", () => {
    for (const { runbook, steps } of shipped.runbooks) {
      for (const { step, never, undo } of steps) {
        assert.ok(never.length > 0, `${runbook}/${step}`);
        assert.equal(Object.keys(undo).length, 1, `${runbook}/${step}`);
      }
    }
  });
});

describe("loadRunbooks()", () => {
  let own: string;
  beforeEach(async () => {
    own = await testFolder();
  });
  const original = readFileSync(join(SHIPPED_RUNBOOKS, "restart-service.yaml"), "utf8");
  const write = (name: string, text: string) => writeFile(join(own, name), text);
  const refusal = () => {
    try {
      loadRunbooks(SHIPPED_RUNBOOKS, own);
    } catch (error) {
      assert.ok(error instanceof BadRunbook, String(error));
      return error.message.replaceAll(own, "own");
    }
    return "loaded";
  };

  it("replaces a shipped runbook by one of the user's of the same name", async () => {
    await write("restart-service.yaml", original.replace("version: 1.0.0", "version: 2.0.0"));
    const { runbooks } = loadRunbooks(SHIPPED_RUNBOOKS, own);
    const [mine] = runbooks.filter(({ runbook }) => runbook === "restart-service");
    assert.deepEqual([mine!.version, mine!.origin], ["2.0.0", "user"]);
    assert.equal(runbooks.length, shipped.runbooks.length);
    const original_ = shipped.runbooks.find(({ runbook }) => runbook === "restart-service")!;
    assert.notEqual(mine!.sha256, original_.sha256);
  });

  it("needs no folder of the user", async () => {
    await rm(own, { recursive: true });
    assert.equal(loadRunbooks(SHIPPED_RUNBOOKS, own).runbooks.length, shipped.runbooks.length);
  });

  it("names file and line of a mistake", async () => {
    await write("restart-service.yaml", original.replace("restart: service", "reboot: now"));
    assert.match(
      refusal(),
      /^Cannot use own\/restart-service\.yaml:\n {2}line \d+: steps\.0\.reboot: unknown field/,
    );
    await write("restart-service.yaml", original.replace("version: 1.0.0", "version: one"));
    assert.match(refusal(), /line 3: version: Expected a version like 1\.0\.0/);
  });

  it("refuses two kinds of act in a step, unknown parameters, and an opposite that a step can't have", async () => {
    await write(
      "restart-service.yaml",
      original.replace("restart: service", "restart: service\n    wait: { at_least: 1s }"),
    );
    assert.match(refusal(), /must have exactly one kind of act/);
    await write(
      "restart-service.yaml",
      original.replace("restart: service", "restart: { unit: '{unit}' }"),
    );
    assert.match(refusal(), /there is no parameter \{unit\}/);
    await write("restart-service.yaml", original.replace(/undo: .*/, "undo: { put_back: true }"));
    assert.match(refusal(), /only files that a clean step has moved can be put back/);
  });

  it("refuses shells and other programs that run what they are given on the allow-list", async () => {
    for (const program of ["sh", "/bin/bash", "env", "python3", "xargs", "sudo", "find", "node"]) {
      await write(
        "commands.yaml",
        `commands:\n  - { name: any, about: Runs anything., argv: [${program}] }\n`,
      );
      assert.match(refusal(), /runs whatever it is given/, program);
    }
  });

  it("adds the user's commands to the shipped ones, and changes the hash of the list", async () => {
    await write(
      "commands.yaml",
      "commands:\n  - { name: fix, about: Mends it., argv: [/opt/fix] }\n",
    );
    const { commands, commands_sha256 } = loadRunbooks(SHIPPED_RUNBOOKS, own);
    assert.equal(commands.length, shipped.commands.length + 1);
    assert.notEqual(commands_sha256, shipped.commands_sha256);
  });
});
