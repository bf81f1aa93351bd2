import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { link, mkdir, open, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  BadFolder,
  measureUsage,
  performStep,
  planClean,
  undoStep,
} from "../../../judgement/runbooks/mod.ts";
import { testFolder } from "../../_run.ts";
import { createContext, newId, step, writeOldFile } from "./_runbook.ts";

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
      bounds: { within: "60s", ...bounds },
      undo: { put_back: true },
    });
  const planned = (more: object = {}, limit = NO_LIMIT) =>
    planClean(cleaning(more).clean!, limit).files.map(({ path }) => path.slice(folder.length + 1));

  it("plans old files that match, oldest first, also in subfolders", async () => {
    await writeOldFile(join(folder, "a.log"), 2);
    await writeOldFile(join(folder, "deep", "b.log"), 9);
    await writeOldFile(join(folder, "young.log"), 0.5);
    await writeOldFile(join(folder, "other.txt"), 9);
    await writeOldFile(join(folder, "keep.log"), 9);
    assert.deepEqual(planned({ except: ["keep*"] }), ["deep/b.log", "a.log"]);
  });

  it("plans no more files and bytes than its bounds allow", async () => {
    for (const n of [1, 2, 3]) await writeOldFile(join(folder, `${n}.log`), 10 - n, 8_192);
    assert.deepEqual(planned({}, { files: 2, bytes: Infinity }), ["1.log", "2.log"]);
    assert.deepEqual(planned({}, { files: 9, bytes: 10_000 }), ["1.log"]);
  });

  it("skips open files, files with two names, and links", async () => {
    const held = await open(await writeOldFile(join(folder, "held.log"), 9));
    await writeOldFile(join(folder, "twice.log"), 9);
    await link(join(folder, "twice.log"), join(folder, "second"));
    await symlink(await writeOldFile(join(dataDir, "outside.log"), 9), join(folder, "link.log"));
    await symlink(dataDir, join(folder, "way-out"));
    try {
      assert.deepEqual(planned(), []);
    } finally {
      await held.close();
    }
    assert.deepEqual(planned(), ["held.log"]);
  });

  it("refuses folders of the system, links, and missing folders", async () => {
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

  it("moves files aside, and puts them back as they were", async () => {
    const paths = [
      await writeOldFile(join(folder, "a.log"), 2),
      await writeOldFile(join(folder, "b.log"), 3),
    ];
    const before = paths.map((path) => statSync(path));
    const id = newId();
    const context = createContext(dataDir);
    const outcome = await performStep(cleaning(), id, context);
    assert.deepEqual([outcome.state, outcome.ok, outcome.counts?.files], ["done", true, 2]);
    assert.ok(paths.every((path) => !existsSync(path)));
    const undone = await undoStep(cleaning(), id, newId(), context);
    assert.deepEqual([undone.state, undone.ok, undone.code], ["done", true, "put_back"]);
    paths.forEach((path, i) => {
      const { mtimeMs, mode, uid, size } = statSync(path);
      const { mtimeMs: wasAt, mode: was, uid: whose, size: length } = before[i]!;
      assert.deepEqual([mtimeMs, mode, uid, size], [wasAt, was, whose, length]);
    });
    assert.equal((await undoStep(cleaning(), id, newId(), context)).code, "put_back");
  });

  it("goes on after a crash where it was, and moves no later files", async () => {
    for (const n of [1, 2, 3]) await writeOldFile(join(folder, `${n}.log`), 5 - n);
    const id = newId();
    const context = createContext(dataDir);
    await performStep(cleaning(), id, context);
    const manifest = JSON.parse(readFileSync(join(dataDir, "effects", id, "aside.json"), "utf8"));
    const [first, , third] = manifest.files as { path: string; to: string }[];
    await rename(third!.to, third!.path); // as if it had been killed before the last one
    await writeOldFile(join(folder, "late.log"), 9);
    const outcome = await performStep(cleaning(), id, context);
    assert.equal(outcome.counts?.files, 3);
    assert.ok(existsSync(first!.to) && existsSync(third!.to));
    assert.ok(existsSync(join(folder, "late.log")));
  });

  it("never replaces a file that has taken the place of one", async () => {
    const path = await writeOldFile(join(folder, "a.log"), 2);
    const id = newId();
    const context = createContext(dataDir);
    await performStep(cleaning(), id, context);
    await writeFile(path, "new");
    const undone = await undoStep(cleaning(), id, newId(), context);
    assert.deepEqual([undone.ok, undone.counts], [false, { files: 0, left: 1 }]);
    assert.equal(readFileSync(path, "utf8"), "new");
  });

  it("moves nothing out of a folder that became a link after it was planned", async () => {
    await writeOldFile(join(folder, "sub", "a.log"), 2);
    const id = newId();
    const context = createContext(dataDir);
    await performStep(cleaning(), id, context);
    await undoStep(cleaning(), id, newId(), context);
    const elsewhere = await testFolder();
    const treasure = await writeOldFile(join(elsewhere, "a.log"), 2);
    await rename(join(folder, "sub"), join(folder, "was"));
    await symlink(elsewhere, join(folder, "sub"));
    const outcome = await performStep(cleaning(), id, context);
    assert.deepEqual([outcome.state, outcome.code], ["not_done", "nothing_could_be_moved"]);
    assert.ok(existsSync(treasure));
  });

  it("refuses to move files into a folder that somebody else has prepared", async () => {
    await writeOldFile(join(folder, "a.log"), 2);
    await symlink(await testFolder(), join(folder, ".sealoop-aside"));
    const outcome = await performStep(cleaning(), newId(), createContext(dataDir));
    assert.deepEqual([outcome.state, outcome.code], ["not_done", "aside_not_ours"]);
    assert.ok(existsSync(join(folder, "a.log")));
  });

  it("can't be undone once it was purged", async () => {
    await writeOldFile(join(folder, "a.log"), 2);
    const id = newId();
    const context = createContext(dataDir, { effectOf: () => id });
    await performStep(cleaning(), id, context);
    const purge = step({ purge: { step: "a-step" } });
    assert.equal((await performStep(purge, newId(), context)).code, "purged");
    assert.deepEqual(readdirSync(folder), []);
    const undone = await undoStep(cleaning(), id, newId(), context);
    assert.deepEqual([undone.state, undone.code], ["not_done", "purged"]);
  });

  it("keeps a folder within its own bound, and moves its files where they can be put back from", async () => {
    for (const n of [1, 2, 3, 4]) await writeOldFile(join(folder, `${n}.log`), 9 - n, 10_000);
    const quota = { path: folder, bytes: 40_000 };
    const id = newId();
    const context = createContext(dataDir);
    const within = cleaning({ until_below: 60, quota });
    const outcome = await performStep(within, id, context);
    assert.deepEqual([outcome.code, outcome.counts?.files], ["moved_elsewhere", 2]);
    assert.deepEqual(readdirSync(folder), ["3.log", "4.log"]);
    await undoStep(within, id, newId(), context);
    assert.deepEqual(readdirSync(folder), ["1.log", "2.log", "3.log", "4.log"]);
  });

  describe("on a full file system", function () {
    let disk: string;
    before(async function () {
      disk = join(await testFolder(), "disk");
      mkdirSync(disk);
      try {
        execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m,nr_inodes=200", "tmpfs", disk]);
      } catch {
        this.skip(); // needs the right to mount
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

    it("makes room by moving as much as needed to another one, and can put it back", async () => {
      for (const n of [1, 2, 3]) {
        await writeOldFile(join(disk, "dumps", `${n}.log`), 9 - n, 2 ** 20);
      }
      const data = join(disk, "data");
      await mkdir(data);
      await fill(join(data, "table"));
      assert.equal(Math.round(measureUsage(disk).bytes.percent), 100);
      const id = newId();
      const context = createContext(dataDir);
      const work = {
        ...cleaning({ folders: [join(disk, "dumps")], until_below: 80 }),
        verify: { look: { disk, below: 80 }, within: "1s" },
      };
      const outcome = await performStep(work, id, context);
      assert.deepEqual([outcome.code, outcome.counts?.files], ["moved_elsewhere", 1]);
      assert.ok(measureUsage(disk).bytes.percent < 80);
      const undone = await undoStep(work, id, newId(), context);
      assert.deepEqual([undone.ok, undone.counts?.files], [true, 1]);
      assert.equal(readdirSync(join(disk, "dumps")).length, 3);
      assert.ok(!existsSync(join(dataDir, "aside")));
    });

    it("frees inodes where those are used up", async () => {
      const sessions = join(disk, "sessions");
      for (let n = 0; n < 150; n++) await writeOldFile(join(sessions, `sess_${n}`), 3, 1);
      const work = step({
        clean: {
          folders: [sessions],
          match: ["sess_*"],
          older_than: "1d",
          until_below: 50,
          kind: "inodes",
        },
      });
      assert.ok(measureUsage(disk).inodes.percent > 70);
      await performStep(work, newId(), createContext(dataDir));
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
