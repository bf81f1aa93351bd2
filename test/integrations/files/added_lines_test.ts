import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  appendFile,
  copyFile,
  mkdir,
  rename,
  symlink,
  truncate,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { type FilePlace, readAddedLines } from "../../../integrations/files/mod.ts";
import { testFolder } from "../../_run.ts";

const names = JSON.parse(
  readFileSync(new URL("../../vectors/log-rotation-names.json", import.meta.url), "utf8"),
) as { current: string; renamed_to: string }[];

describe("readAddedLines()", () => {
  /** Creates a log that was read once, and has lines since, beside another log. */
  async function createLog(name: string) {
    // Archives beside a log's folder are looked through, too, and other tests have logs like this one.
    const folder = join(await testFolder(), "logs");
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `one\ntwo\n${"pad".repeat(100)}\n`);
    const { place } = await readAddedLines(path, undefined);
    await appendFile(path, "three\nfour\n");
    await utimes(path, 1_700_000_000, 1_700_000_000);
    await writeFile(join(dirname(path), "other.log"), "of another program\n");
    return { folder, path, place };
  }

  for (const { current, renamed_to } of names) {
    it(`reads the rest of ${current} where it was renamed to ${renamed_to}`, async () => {
      const { folder, path, place } = await createLog(current);
      const renamed = join(folder, renamed_to);
      await mkdir(dirname(renamed), { recursive: true });
      await rename(path, renamed);
      await writeFile(path, "five\n");
      const { lines, missed } = await readAddedLines(path, place);
      assert.deepEqual({ lines, missed }, { lines: ["three", "four", "five"], missed: false });
    });
  }

  for (const form of ["app.log.N", "app-N.log", "app.2026-11-2N.log", "2026-11-2N/app.log"]) {
    it(`reads all of a log that was rotated twice since, as ${form}`, async () => {
      const { folder, path, place } = await createLog("app.log");
      for (const [n, next] of [["1", "five"], ["2", "six"]] as const) {
        const renamed = join(folder, form.replace("N", n));
        await mkdir(dirname(renamed), { recursive: true });
        await rename(path, renamed);
        await writeFile(path, `${next}\n`);
        await utimes(path, 1_700_000_000 + Number(n), 1_700_000_000 + Number(n));
      }
      const { lines, missed } = await readAddedLines(path, place);
      const expected = ["three", "four", "five", "six"];
      assert.deepEqual({ lines, missed }, { lines: expected, missed: false });
    });
  }

  it("reads the rest of a copy of any name that has the log's in its own", async () => {
    const { folder, path, place } = await createLog("app.log");
    await mkdir(join(folder, "archive"));
    await copyFile(path, join(folder, "archive", "app-20261126.log"));
    await truncate(path);
    await appendFile(path, "five\n");
    const { lines, missed } = await readAddedLines(path, place);
    assert.deepEqual({ lines, missed }, { lines: ["three", "four", "five"], missed: false });
  });

  it("reads the rest of the file to which a link with the log's name led before", async () => {
    const { folder, path, place } = await createLog("pods/app-25.log");
    const link = join(folder, "app.log");
    await writeFile(join(folder, "pods", "app-26.log"), "five\n");
    await symlink(join(folder, "pods", "app-26.log"), link);
    const { lines, missed } = await readAddedLines(link, place);
    assert.deepEqual({ lines, missed }, { lines: ["three", "four", "five"], missed: false });
    await unlink(path);
  });

  it("tells that lines were missed where no file has them", async () => {
    const { path, place } = await createLog("app.log");
    await unlink(path);
    await writeFile(path, "five\n");
    const { lines, missed } = await readAddedLines(path, place);
    assert.deepEqual({ lines, missed }, { lines: ["five"], missed: true });
  });

  it("returns every line once and in order, however the log is rotated and in whatever pieces it is read", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    let state = seed % 2147483647 || 1;
    const pick = (n: number) => Math.floor((state = state * 48271 % 2147483647) / 2147483647 * n);
    for (let round = 0; round < 40; round++) {
      const folder = join(await testFolder(), "logs");
      await mkdir(folder);
      const path = join(folder, "app.log");
      await writeFile(path, "");
      let { place }: { place: FilePlace } = await readAddedLines(path, undefined);
      const written: string[] = [];
      const seen: string[] = [];
      let rotations = 0;
      let seconds = 0;
      // Rotations are minutes apart. Here they are closer together than the clock of the file system can tell.
      const touch = (name: string) => utimes(name, 1_700_000_000, 1_700_000_000 + ++seconds);
      const read = async (most: number) => {
        const added = await readAddedLines(path, place, most);
        assert.equal(added.missed, false, `seed ${seed}, round ${round}`);
        seen.push(...added.lines);
        place = added.place;
        return added.lines.length;
      };
      const write = async () => {
        const lines = Array.from(
          { length: 1 + pick(20) },
          (_, i) => `line ${written.length + i} of the log`,
        );
        written.push(...lines);
        await appendFile(path, lines.map((line) => `${line}\n`).join(""));
        await touch(path);
      };
      const renumber = async () => { // as logrotate does: the newest has the lowest number
        for (let i = rotations; i > 0; i--) await rename(`${path}.${i}`, `${path}.${i + 1}`);
        rotations++;
      };
      for (let step = 0; step < 30; step++) {
        const what = pick(10);
        if (what < 5) await write();
        else if (what < 8) await read(100 + pick(300));
        else if (what === 8) {
          await write(); // an empty log is not rotated
          await renumber();
          await rename(path, `${path}.1`);
          await writeFile(path, "");
          await write();
        } else {
          await write();
          while (await read(100_000) > 0); // the copy of a file that was never read can't be recognized
          await write();
          await renumber();
          await copyFile(path, `${path}.1`);
          await touch(`${path}.1`);
          await truncate(path);
          await touch(path);
        }
      }
      while (await read(200 + pick(300)) > 0);
      assert.deepEqual(seen, written, `seed ${seed}, round ${round}`);
    }
  });
});
