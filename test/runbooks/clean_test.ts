import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { link, mkdir, open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BadFolder, measureUsage, performStep, planClean, undoStep } from "../../runbooks/mod.ts";
import { testFolder } from "../_servers.ts";
import { newId, oldFile, step, surroundings } from "./_runbook.ts";

const NO_LIMIT = { files: Infinity, bytes: Infinity };

describe("a clean step", () => {
  let dataDir: string;
  let folder: string;
  beforeEach(async () => {
    dataDir = await testFolder();
    folder = await testFolder();
  });
  const cleaning = (more: object = {}, bounds: object = {}) =>
    step({
      clean: { folders: [folder], match: ["*.log"], older_than: "1d", ...more },
      bounds: { within: "10s", ...bounds },
      undo: { put_back: true },
    });
  const plan = (more: object = {}, limit = NO_LIMIT) =>
    planClean(cleaning(more).clean!, limit).files.map(({ path }) => path.slice(folder.length + 1));

  it("takes old files that fit, oldest first, also in folders below", async () => {
    await oldFile(join(folder, "a.log"), 2);
    await oldFile(join(folder, "deep", "b.log"), 9);
    await oldFile(join(folder, "young.log"), 0.5);
    await oldFile(join(folder, "other.txt"), 9);
    await oldFile(join(folder, "keep.log"), 9);
    assert.deepEqual(plan({ except: ["keep*"] }), ["deep/b.log", "a.log"]);
  });

  it("takes no more files and bytes than its bounds allow", async () => {
    for (const n of [1, 2, 3]) await oldFile(join(folder, `${n}.log`), 10 - n, 8_192);
    assert.deepEqual(plan({}, { files: 2, bytes: Infinity }), ["1.log", "2.log"]);
    assert.deepEqual(plan({}, { files: 9, bytes: 10_000 }), ["1.log"]);
  });

  it("leaves alone what a process holds open, what has two names, and what is a link", async () => {
    const held = await open(await oldFile(join(folder, "held.log"), 9));
    await oldFile(join(folder, "twice.log"), 9);
    await link(join(folder, "twice.log"), join(folder, "second"));
    await symlink(await oldFile(join(dataDir, "outside.log"), 9), join(folder, "link.log"));
    await symlink(dataDir, join(folder, "way-out"));
    try {
      assert.deepEqual(plan(), []);
    } finally {
      await held.close();
    }
    assert.deepEqual(plan(), ["held.log"]);
  });

  it("refuses folders of the system, links, and folders that are not there", async () => {
    const refusal = (path: string) => {
      try {
        planClean(cleaning({ folders: [path] }).clean!, NO_LIMIT);
      } catch (error) {
        return error instanceof BadFolder ? error.code : String(error);
      }
      return "planned";
    };
    await symlink("/var/log", join(folder, "linked"));
    for (
      const path of ["/", "/etc", "/etc/ssl", "/usr/share", "/var", "/proc/1", "/home", "/var/lib"]
    ) {
      assert.equal(refusal(path), "folder_protected", path);
    }
    assert.equal(refusal(join(folder, "..", "..", "etc")), "folder_protected");
    assert.equal(refusal(join(folder, "linked")), "folder_is_link");
    assert.equal(refusal(join(folder, "missing")), "folder_missing");
  });

  it("moves aside, and puts back as it was", async () => {
    const paths = [
      await oldFile(join(folder, "a.log"), 2),
      await oldFile(join(folder, "b.log"), 3),
    ];
    const before = paths.map((path) => statSync(path));
    const [id, parts] = [newId(), surroundings(dataDir)];
    const happened = await performStep(cleaning(), id, parts);
    assert.deepEqual([happened.state, happened.ok, happened.counts?.files], ["done", true, 2]);
    assert.ok(paths.every((path) => !existsSync(path)));
    const undone = await undoStep(cleaning(), id, newId(), parts);
    assert.deepEqual([undone.state, undone.ok, undone.code], ["done", true, "put_back"]);
    paths.forEach((path, i) => {
      const { mtimeMs, mode, uid, size } = statSync(path);
      const { mtimeMs: wasAt, mode: was, uid: whose, size: length } = before[i]!;
      assert.deepEqual([mtimeMs, mode, uid, size], [wasAt, was, whose, length]);
    });
    assert.equal((await undoStep(cleaning(), id, newId(), parts)).code, "put_back");
  });

  it("goes on after a crash where it was, and takes nothing that came later", async () => {
    for (const n of [1, 2, 3]) await oldFile(join(folder, `${n}.log`), 5 - n);
    const [id, parts] = [newId(), surroundings(dataDir)];
    await performStep(cleaning(), id, parts);
    const manifest = JSON.parse(readFileSync(join(dataDir, "effects", id, "aside.json"), "utf8"));
    const [first, , third] = manifest.files as { path: string; to: string }[];
    await rename(third!.to, third!.path); // as if it had been killed before the last one
    await oldFile(join(folder, "late.log"), 9);
    const happened = await performStep(cleaning(), id, parts);
    assert.equal(happened.counts?.files, 3);
    assert.ok(existsSync(first!.to) && existsSync(third!.to));
    assert.ok(existsSync(join(folder, "late.log")));
  });

  it("never writes over what has taken a file's place meanwhile", async () => {
    const path = await oldFile(join(folder, "a.log"), 2);
    const [id, parts] = [newId(), surroundings(dataDir)];
    await performStep(cleaning(), id, parts);
    await writeFile(path, "new");
    const undone = await undoStep(cleaning(), id, newId(), parts);
    assert.deepEqual([undone.ok, undone.counts], [false, { files: 0, left: 1 }]);
    assert.equal(readFileSync(path, "utf8"), "new");
  });

  it("takes nothing by way of a folder that was made a link after it was planned", async () => {
    await oldFile(join(folder, "sub", "a.log"), 2);
    const [id, parts] = [newId(), surroundings(dataDir)];
    await performStep(cleaning(), id, parts);
    await undoStep(cleaning(), id, newId(), parts);
    const elsewhere = await testFolder();
    const treasure = await oldFile(join(elsewhere, "a.log"), 2);
    await rename(join(folder, "sub"), join(folder, "was"));
    await symlink(elsewhere, join(folder, "sub"));
    const happened = await performStep(cleaning(), id, parts);
    assert.deepEqual([happened.state, happened.code], ["not_done", "nothing_could_be_moved"]);
    assert.ok(existsSync(treasure));
  });

  it("refuses to use a folder for what it moves that somebody else has prepared", async () => {
    await oldFile(join(folder, "a.log"), 2);
    await symlink(await testFolder(), join(folder, ".sealoop-aside"));
    const happened = await performStep(cleaning(), newId(), surroundings(dataDir));
    assert.deepEqual([happened.state, happened.code], ["not_done", "aside_not_ours"]);
    assert.ok(existsSync(join(folder, "a.log")));
  });

  it("can't be undone any more once it was purged, and says so", async () => {
    await oldFile(join(folder, "a.log"), 2);
    const id = newId();
    const parts = surroundings(dataDir, { effectOf: () => id });
    await performStep(cleaning(), id, parts);
    const purge = step({ purge: { step: "a-step" } });
    assert.equal((await performStep(purge, newId(), parts)).code, "purged");
    assert.deepEqual(readdirSync(folder), []);
    const undone = await undoStep(cleaning(), id, newId(), parts);
    assert.deepEqual([undone.state, undone.code], ["not_done", "purged"]);
  });

  it("keeps a folder within its own bound, and what it takes where it can be put back from", async () => {
    for (const n of [1, 2, 3, 4]) await oldFile(join(folder, `${n}.log`), 9 - n, 10_000);
    const quota = { path: folder, bytes: 40_000 };
    const [id, parts] = [newId(), surroundings(dataDir)];
    const within = cleaning({ until_below: 60, quota });
    const happened = await performStep(within, id, parts);
    assert.deepEqual([happened.code, happened.counts?.files], ["moved_elsewhere", 2]);
    assert.deepEqual(readdirSync(folder), ["3.log", "4.log"]);
    await undoStep(within, id, newId(), parts);
    assert.deepEqual(readdirSync(folder), ["1.log", "2.log", "3.log", "4.log"]);
  });

  describe("on a file system of its own that is full", function () {
    let disk: string;
    before(async function () {
      disk = join(await testFolder(), "disk");
      mkdirSync(disk);
      try {
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,nr_inodes=200", "tmpfs", disk]);
      } catch {
        this.skip(); // only who may mount can see this
      }
    });
    after(() => {
      try {
        execFileSync("umount", [disk], { stdio: "ignore" });
      } catch {
        // It was never mounted.
      }
    });
    afterEach(async () => {
      for (const name of readdirSync(disk)) await rm(join(disk, name), { recursive: true });
    });

    it("makes room by moving as much as is needed to another one, and can put it back", async () => {
      for (const n of [1, 2, 3]) await oldFile(join(disk, "dumps", `${n}.log`), 9 - n, 2 ** 20);
      const data = join(disk, "data");
      await mkdir(data);
      await fill(join(data, "table"));
      assert.equal(Math.round(measureUsage(disk).bytes.percent), 100);
      const [id, parts] = [newId(), surroundings(dataDir)];
      const work = {
        ...cleaning({ folders: [join(disk, "dumps")], until_below: 80 }),
        verify: { look: { disk, below: 80 }, within: "1s" },
      };
      const happened = await performStep(work, id, parts);
      assert.deepEqual([happened.code, happened.counts?.files], ["moved_elsewhere", 1]);
      assert.ok(measureUsage(disk).bytes.percent < 80);
      const undone = await undoStep(work, id, newId(), parts);
      assert.deepEqual([undone.ok, undone.counts?.files], [true, 1]);
      assert.equal(readdirSync(join(disk, "dumps")).length, 3);
      assert.ok(!existsSync(join(dataDir, "aside")));
    });

    it("frees inodes where it is those that are used up", async () => {
      const sessions = join(disk, "sessions");
      for (let n = 0; n < 150; n++) await oldFile(join(sessions, `sess_${n}`), 3, 1);
      const work = step({
        clean: {
          ...{ folders: [sessions], match: ["sess_*"], older_than: "1d" },
          ...{ until_below: 50, kind: "inodes" },
        },
      });
      assert.ok(measureUsage(disk).inodes.percent > 70);
      await performStep(work, newId(), surroundings(dataDir));
      assert.ok(measureUsage(disk).inodes.percent < 50);
    });
  });
});

async function fill(path: string): Promise<void> {
  const file = await open(path, "w");
  try {
    while (true) await file.write(Buffer.alloc(65_536, "x"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    await file.close();
  }
}
