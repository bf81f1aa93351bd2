import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import {
  BadRunbook,
  loadRunbooks,
  matchRunbooks,
  NotApplicable,
  resolveRunbook,
  type RunbookIncident,
} from "../../runbooks/mod.ts";
import { testFolder } from "../_servers.ts";
import { oldFile, shipped } from "./_runbook.ts";

const SHIPPED = join(ROOT, "runbooks");

describe("the runbooks that ship", () => {
  it("are at least 25", () => {
    assert.ok(shipped.runbooks.length >= 25);
  });

  it("say of each step what it must never do, and how it is undone or why not", () => {
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
  const original = readFileSync(join(SHIPPED, "restart-service.yaml"), "utf8");
  const write = (name: string, text: string) => writeFile(join(own, name), text);
  const refusal = () => {
    try {
      loadRunbooks(SHIPPED, own);
    } catch (error) {
      assert.ok(error instanceof BadRunbook, String(error));
      return error.message.replaceAll(own, "own");
    }
    return "loaded";
  };

  it("takes one of the user's in place of ours of the same name", async () => {
    await write("restart-service.yaml", original.replace("version: 1.0.0", "version: 2.0.0"));
    const { runbooks } = loadRunbooks(SHIPPED, own);
    const [mine] = runbooks.filter(({ runbook }) => runbook === "restart-service");
    assert.deepEqual([mine!.version, mine!.origin], ["2.0.0", "user"]);
    assert.equal(runbooks.length, shipped.runbooks.length);
    const ours = shipped.runbooks.find(({ runbook }) => runbook === "restart-service")!;
    assert.notEqual(mine!.sha256, ours.sha256);
  });

  it("needs no folder of the user's", async () => {
    await rm(own, { recursive: true });
    assert.equal(loadRunbooks(SHIPPED, own).runbooks.length, shipped.runbooks.length);
  });

  it("names file and line of what is wrong", async () => {
    await write("restart-service.yaml", original.replace("restart: service", "reboot: now"));
    assert.match(
      refusal(),
      /^Cannot use the runbook file own\/restart-service\.yaml:\n {2}line \d+: .*unknown field reboot/,
    );
    await write("restart-service.yaml", original.replace("version: 1.0.0", "version: one"));
    assert.match(refusal(), /line 3: version: Expected a version like 1\.0\.0/);
  });

  it("refuses two kinds of act in a step, unknown parameters, and undoing what can't be", async () => {
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
    assert.match(refusal(), /only what a clean step has moved can be put back/);
  });

  it("refuses a shell, or anything else that runs what it is told, on the allow-list", async () => {
    for (const program of ["sh", "/bin/bash", "env", "python3", "xargs", "sudo", "find", "node"]) {
      await write(
        "commands.yaml",
        `commands:\n  - { name: any, about: Runs anything., argv: [${program}] }\n`,
      );
      assert.match(refusal(), /runs whatever it is given/, program);
    }
  });

  it("adds the user's commands to ours, and changes the hash of the list", async () => {
    await write(
      "commands.yaml",
      "commands:\n  - { name: fix, about: Mends it., argv: [/opt/fix] }\n",
    );
    const { commands, commands_sha256 } = loadRunbooks(SHIPPED, own);
    assert.equal(commands.length, shipped.commands.length + 1);
    assert.notEqual(commands_sha256, shipped.commands_sha256);
  });
});

describe("fittingRunbooks()", () => {
  const names = (
    incident: Partial<RunbookIncident["service"]> & Partial<RunbookIncident["finding"]> & {
      category?: string;
      named?: string;
      text?: string;
      gives?: string[];
      boundedFolder?: boolean;
    },
  ) => {
    const { name = "svc", type = "web", restart = null, check = null, ...rest } = incident;
    const { check: _, code = "refused", category = null, text = "", ...more } = { ...rest, check };
    const kind = typeof check === "string" ? check : "http";
    return matchRunbooks(shipped.runbooks, {
      service: { name, type, restart, check: check ?? {} },
      finding: { check: kind, code },
      ...{ category, text, ...more },
    }).map(({ runbook }) => runbook);
  };

  it("restarts a service that lists how, whatever the engine says", () => {
    assert.ok(names({ restart: {}, code: "status_500" }).includes("restart-service"));
    assert.ok(names({ restart: {}, category: "security" }).includes("restart-service"));
    assert.ok(!names({}).includes("restart-service"));
  });

  it("prefers what asks for the code of the finding, and then for the type of the service", () => {
    assert.equal(
      names({ check: "host", code: "disk_full", type: "database" })[0],
      "database-disk-full",
    );
    assert.equal(names({ check: "host", code: "disk_full" })[0], "disk-clean-up-package-caches");
    assert.equal(names({ check: "host", code: "inodes_full" })[0], "inode-exhaustion");
    assert.equal(names({ code: "enotfound", restart: {} })[0], "dns-cache-flush");
  });

  it("prefers what a service or the finding gives the parameters for to what is for any host", () => {
    const full = { check: "host", code: "disk_full" };
    assert.equal(names({ ...full, gives: ["spool"] })[0], "service-spool-full");
    assert.equal(names({ ...full, boundedFolder: true })[0], "service-spool-full");
    assert.equal(
      names({ ...full, type: "database", gives: ["folders"], boundedFolder: true })[0],
      "database-disk-full",
    );
    assert.notEqual(names({ ...full, gives: ["folders"] })[0], "service-spool-full");
    assert.equal(names({ restart: {}, gives: ["lock_folders"] })[0], names({ restart: {} })[0]);
  });

  it("prefers the one that the service names to all others", () => {
    const named = "application-cache-clear";
    assert.equal(names({ restart: {}, code: "refused", named })[0], named);
  });

  it("goes by the words of a report, and by its category as it has nothing better", () => {
    const report = { check: "report", code: "reported", text: "The OOM killer took billing" };
    assert.equal(names({ ...report, restart: {}, category: "compute" })[0], "out-of-memory-kill");
    assert.equal(names({ ...report, restart: {}, category: "dns" })[0], "restart-service");
    assert.deepEqual(names(report), []);
  });

  it("finds nothing for what nobody has written a runbook for", () => {
    assert.deepEqual(names({ check: "certificate", code: "wrong_name", category: "other" }), []);
    assert.deepEqual(names({ check: "log", code: "unheard_of" }), []);
  });
});

describe("resolve()", () => {
  const runbook = (name: string) => shipped.runbooks.find((one) => one.runbook === name)!;
  const ready = (name: string, values: Record<string, string | string[]>, more: object = {}) =>
    resolveRunbook(runbook(name), {
      ...{ service: "svc", values, catalogue: shipped, here: true },
      ...more,
    });
  const refusal = (...args: Parameters<typeof ready>) => {
    try {
      ready(...args);
    } catch (error) {
      return error instanceof NotApplicable ? error.code : String(error);
    }
    return "ready";
  };

  it("fills in what the service gives", () => {
    const { steps: [, step] } = ready("systemd-unit-restart", { unit: "billing.service" });
    assert.deepEqual(step!.restart, { unit: "billing.service" });
  });

  it("refuses values that are no such thing, and can't smuggle in an option or a way up", () => {
    assert.equal(refusal("systemd-unit-restart", {}), "parameter_unit");
    for (const unit of ["--force", "a b", "a;b", "$(id)", "../x", "", "a\nb"]) {
      assert.equal(refusal("systemd-unit-restart", { unit }), "parameter_unit", unit);
    }
    for (const path of ["relative", "/srv/../etc", "/srv/{unit}", "/a\0b"]) {
      assert.equal(refusal("stale-lock-files", { lock_folders: [path] }), "parameter_lock_folders");
    }
  });

  it("refuses to act for a service that is on another host", () => {
    const values = { unit: "billing.service" };
    assert.equal(refusal("systemd-unit-restart", values, { here: false }), "other_host");
    assert.equal(refusal("restart-service", {}, { here: false }), "ready");
  });

  it("refuses to clean another disk than the one that is full", async () => {
    const folder = await testFolder();
    await oldFile(join(folder, "a.log.1"), 3);
    const disk = (path: string) => ({ disk: { path } });
    assert.equal(refusal("disk-clean-up-logs", { folders: [folder] }, disk("/proc")), "other_disk");
    const bounded = { disk: { path: "/srv/quota", maxBytes: 10 } };
    assert.equal(refusal("disk-clean-up-logs", { folders: [folder] }, bounded), "other_disk");
  });

  it("takes the folder whose own bound is passed for one that the service doesn't name", async () => {
    const folder = await testFolder();
    await oldFile(join(folder, "1.done"), 2, 4_000);
    const disk = { path: folder, maxBytes: 1_000 };
    assert.equal(refusal("service-spool-full", {}), "parameter_spool");
    assert.equal(refusal("service-spool-full", {}, { disk: { path: folder } }), "parameter_spool");
    const { steps: [move] } = ready("service-spool-full", {}, { disk });
    assert.deepEqual(move!.clean!.folders, [folder]);
    const spool = [join(folder, "spool")];
    assert.equal(refusal("service-spool-full", { spool }, { disk }), "folder_missing");
  });

  it("refuses a command that makes room elsewhere than where it is short", async () => {
    const disk = { path: await testFolder(), maxBytes: 1_000 };
    for (const runbook of ["disk-full-journal", "log-rotation"]) {
      assert.equal(refusal(runbook, {}, { disk }), "other_disk");
      assert.equal(refusal(runbook, {}, { disk: { path: "/proc" } }), "other_disk");
    }
  });

  it("says that there is nothing to clean", async () => {
    const folders = [await testFolder()];
    assert.equal(refusal("disk-clean-up-package-caches", { folders }), "nothing_to_move");
    assert.equal(
      refusal("disk-clean-up-package-caches", { folders: ["/no/where"] }),
      "folder_missing",
    );
  });

  it("asks first where more is to be moved than may be unasked, and says how much", async () => {
    const folder = await testFolder();
    await mkdir(join(folder, "dumps"));
    for (let n = 0; n < 3; n++) await oldFile(join(folder, "dumps", `${n}.dump`), 3, 40_000);
    const database = runbook("database-disk-full");
    const steps = database.steps.map((step) => ({
      ...step,
      ...(step.clean
        ? { bounds: { within: "1m", files: 10, bytes: "1MB", ask_above: { bytes: "100kB" } } }
        : {}),
    }));
    const within = (maxBytes: number) =>
      resolveRunbook({ ...database, steps }, {
        ...{ service: "db", values: { folders: [join(folder, "dumps")] } },
        ...{ catalogue: shipped, here: true, disk: { path: folder, maxBytes } },
      });
    const little = within(120_000); // one file will do
    assert.deepEqual(little.exceeds, []);
    assert.equal(little.steps[0]!.bounds.bytes, "100kB");
    const much = within(10_000); // all of them
    assert.deepEqual(much.exceeds, [
      "move-old-dumps: 120.0 kB, and only 100.0 kB may be moved unasked",
    ]);
    assert.equal(much.steps[0]!.bounds.bytes, "1MB");
  });
});
