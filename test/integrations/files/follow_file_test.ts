import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { type FollowedFile, followFile } from "../../../integrations/files/mod.ts";
import { createLog } from "../../../runtime/web/mod.ts";
import { testFolder } from "../../_run.ts";
import { eventually } from "../../_time.ts";

describe("followFile()", () => {
  let path: string;
  let applied: boolean[];
  let logged: string[];
  let failure: Error | undefined;
  let followed: FollowedFile | undefined;

  beforeEach(async () => {
    path = join(await testFolder(), "some.yaml");
    [applied, logged, failure] = [[], [], undefined];
  });
  afterEach(() => followed?.stop());

  async function follow(): Promise<FollowedFile> {
    const log = createLog("test", "info", {
      write: (line) => void logged.push(JSON.parse(line).reason),
    });
    return followed = await followFile({
      path,
      name: "file",
      log,
      apply(exists) {
        applied.push(exists);
        return failure ? Promise.reject(failure) : Promise.resolve();
      },
    });
  }

  it("applies the file at the start, and again after each change", async () => {
    const { refresh } = await follow();
    assert.deepEqual(applied, [false]);
    writeFileSync(path, "a");
    await refresh();
    await refresh();
    assert.deepEqual(applied, [false, true]);
    await rm(path);
    await refresh();
    assert.deepEqual(applied, [false, true, false]);
  });

  it("sees a change by itself within a few seconds", async () => {
    await follow();
    writeFileSync(path, "a");
    await eventually(() => Promise.resolve(applied.length > 1));
    assert.deepEqual(applied, [false, true]);
  });

  it("logs why a changed file is refused, and applies the next version", async () => {
    const { refresh } = await follow();
    failure = new Error("line 3: unknown field");
    writeFileSync(path, "wrong");
    await refresh();
    await refresh();
    assert.deepEqual(logged, ["line 3: unknown field"]);
    assert.equal(applied.length, 2, "a refused version is applied once");
    failure = undefined;
    writeFileSync(path, "right again");
    await refresh();
    assert.equal(applied.length, 3);
  });

  it("applies the same version again while the database is away", async () => {
    const { refresh } = await follow();
    failure = Object.assign(new Error("no database"), { code: "ECONNREFUSED" });
    writeFileSync(path, "a");
    await refresh();
    failure = undefined;
    await refresh();
    assert.deepEqual(applied, [false, true, true]);
  });

  it("logs the first error as well, and goes on", async () => {
    failure = new Error("line 1: wrong");
    await follow();
    assert.deepEqual(logged, ["line 1: wrong"]);
  });

  it("sees the change of a file in a folder", async () => {
    mkdirSync(path);
    writeFileSync(join(path, "one.yaml"), "a");
    const { refresh } = await follow();
    writeFileSync(join(path, "one.yaml"), "other");
    await refresh();
    assert.deepEqual(applied, [true, true]);
  });
});
