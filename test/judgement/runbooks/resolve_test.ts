import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { NotApplicable, resolveRunbook } from "../../../judgement/runbooks/mod.ts";
import { testFolder } from "../../_run.ts";
import { shipped, writeOldFile } from "./_runbook.ts";

describe("resolveRunbook()", () => {
  const runbook = (name: string) => shipped.runbooks.find((one) => one.runbook === name)!;
  const resolve = (name: string, values: Record<string, string | string[]>, more: object = {}) =>
    resolveRunbook(runbook(name), {
      service: "svc",
      values,
      catalogue: shipped,
      isLocal: true,
      ...more,
    });
  const refusal = (...args: Parameters<typeof resolve>) => {
    try {
      resolve(...args);
    } catch (error) {
      return error instanceof NotApplicable ? error.code : String(error);
    }
    return "resolved";
  };

  it("fills in the values that the service gives", () => {
    const { steps: [, step] } = resolve("systemd-unit-restart", { unit: "billing.service" });
    assert.deepEqual(step!.restart, { unit: "billing.service" });
  });

  it("refuses values of another kind, with an option or with a way up in them", () => {
    assert.equal(refusal("systemd-unit-restart", {}), "parameter_unit");
    for (const unit of ["--force", "a b", "a;b", "$(id)", "../x", "", "a\nb"]) {
      assert.equal(refusal("systemd-unit-restart", { unit }), "parameter_unit", unit);
    }
    for (const path of ["relative", "/srv/../etc", "/srv/{unit}", "/a\0b"]) {
      assert.equal(refusal("stale-lock-files", { lock_folders: [path] }), "parameter_lock_folders");
    }
  });

  it("refuses to act for a service on another host", () => {
    const values = { unit: "billing.service" };
    assert.equal(refusal("systemd-unit-restart", values, { isLocal: false }), "other_host");
    assert.equal(refusal("restart-service", {}, { isLocal: false }), "resolved");
  });

  it("refuses to clean another disk than the one that is full", async () => {
    const folder = await testFolder();
    await writeOldFile(join(folder, "a.log.1"), 3);
    const disk = (path: string) => ({ disk: { path } });
    assert.equal(refusal("disk-clean-up-logs", { folders: [folder] }, disk("/proc")), "other_disk");
    const bounded = { disk: { path: "/srv/quota", maxBytes: 10 } };
    assert.equal(refusal("disk-clean-up-logs", { folders: [folder] }, bounded), "other_disk");
  });

  it("uses the folder whose bound is exceeded where the service names none", async () => {
    const folder = await testFolder();
    await writeOldFile(join(folder, "1.done"), 2, 4_000);
    const disk = { path: folder, maxBytes: 1_000 };
    assert.equal(refusal("service-spool-full", {}), "parameter_spool");
    assert.equal(refusal("service-spool-full", {}, { disk: { path: folder } }), "parameter_spool");
    const { steps: [move] } = resolve("service-spool-full", {}, { disk });
    assert.deepEqual(move!.clean!.folders, [folder]);
    const spool = [join(folder, "spool")];
    assert.equal(refusal("service-spool-full", { spool }, { disk }), "folder_missing");
  });

  it("refuses a command that makes room on another disk", async () => {
    const disk = { path: await testFolder(), maxBytes: 1_000 };
    for (const runbook of ["disk-full-journal", "log-rotation"]) {
      assert.equal(refusal(runbook, {}, { disk }), "other_disk");
      assert.equal(refusal(runbook, {}, { disk: { path: "/proc" } }), "other_disk");
    }
  });

  it("refuses where there is nothing to clean", async () => {
    const folders = [await testFolder()];
    assert.equal(refusal("disk-clean-up-package-caches", { folders }), "nothing_to_move");
    assert.equal(
      refusal("disk-clean-up-package-caches", { folders: ["/no/where"] }),
      "folder_missing",
    );
  });

  it("says what it moves, and what is there, where nothing is to be moved", async () => {
    const folder = await testFolder();
    for (const name of ["a.log", "b.log", "c.log", "d.dat"]) {
      await writeOldFile(join(folder, name), 3);
    }
    const disk = { path: folder, maxBytes: 1_000 };
    assert.throws(() => resolve("service-spool-full", {}, { disk }), {
      code: "nothing_to_move",
      message: "It moves only *.done, *.finished, *.processed, *.tmp, *.bak older than 1d; " +
        "there are 3 *.log, 1 *.dat",
    });
  });

  it("says how much more is to be moved than may be moved unasked", async () => {
    const folder = await testFolder();
    await mkdir(join(folder, "dumps"));
    for (let n = 0; n < 3; n++) await writeOldFile(join(folder, "dumps", `${n}.dump`), 3, 40_000);
    const database = runbook("database-disk-full");
    const steps = database.steps.map((step) => ({
      ...step,
      ...(step.clean
        ? { bounds: { within: "1m", files: 10, bytes: "1MB", ask_above: { bytes: "100kB" } } }
        : {}),
    }));
    const resolveWithin = (maxBytes: number) =>
      resolveRunbook({ ...database, steps }, {
        service: "db",
        values: { folders: [join(folder, "dumps")] },
        catalogue: shipped,
        isLocal: true,
        disk: { path: folder, maxBytes },
      });
    const little = resolveWithin(120_000); // one file is enough
    assert.deepEqual(little.exceeds, []);
    assert.equal(little.steps[0]!.bounds.bytes, "100kB");
    const much = resolveWithin(10_000); // all of them
    assert.deepEqual(much.exceeds, [
      "move-old-dumps: 120.0 kB, and only 100.0 kB may be moved unasked",
    ]);
    assert.equal(much.steps[0]!.bounds.bytes, "1MB");
  });
});
