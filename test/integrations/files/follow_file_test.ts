import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FollowedFile, followFile } from "../../../integrations/files/mod.ts";
import { createLog } from "../../../web/mod.ts";
import { testFolder } from "../../_run.ts";

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

  async function follow(logFirstError = false): Promise<FollowedFile> {
    const log = createLog("test", "info", {
      write: (line) => void logged.push(JSON.parse(line).reason),
    });
    return followed = await followFile({
      path,
      name: "file",
      log,
      logFirstError,
      apply(exists) {
        applied.push(exists);
        return failure ? Promise.reject(failure) : Promise.resolve();
      },
    });
  }

  it("applies the file at the start, and again after each change", async () => {
    const { refresh } = await follow();
    assert.deepEqual(applied, [false]);
    await writeFile(path, "a");
    await refresh();
    await refresh();
    assert.deepEqual(applied, [false, true]);
    await rm(path);
    await refresh();
    assert.deepEqual(applied, [false, true, false]);
  });

  it("sees a change by itself within a few seconds", async function () {
    this.timeout(10_000);
    await follow();
    await writeFile(path, "a");
    const deadline = Date.now() + 8_000;
    while (applied.length < 2 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.deepEqual(applied, [false, true]);
  });

  it("logs why a changed file is refused, and applies the next version", async () => {
    const { refresh } = await follow();
    failure = new Error("line 3: unknown field");
    await writeFile(path, "wrong");
    await refresh();
    await refresh();
    assert.deepEqual(logged, ["line 3: unknown field"]);
    assert.equal(applied.length, 2, "a refused version is applied once");
    failure = undefined;
    await writeFile(path, "right again");
    await refresh();
    assert.equal(applied.length, 3);
  });

  it("applies the same version again while the database is away", async () => {
    const { refresh } = await follow();
    failure = Object.assign(new Error("no database"), { code: "ECONNREFUSED" });
    await writeFile(path, "a");
    await refresh();
    failure = undefined;
    await refresh();
    assert.deepEqual(applied, [false, true, true]);
  });

  it("rejects with the first error, or only logs it", async () => {
    failure = new Error("line 1: wrong");
    await assert.rejects(follow(), failure);
    assert.deepEqual(logged, []);
    await follow(true);
    assert.deepEqual(logged, ["line 1: wrong"]);
  });
});
