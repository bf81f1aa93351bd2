import assert from "node:assert/strict";
import { appendFile, copyFile, rename, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type FilePlace, readAddedLines } from "../../../integrations/files/mod.ts";
import { testFolder } from "../../_run.ts";

describe("readAddedLines()", () => {
  it("returns every line once and in order, however the log is rotated and in whatever pieces it is read", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    let state = seed % 2147483647 || 1;
    const pick = (n: number) => Math.floor((state = state * 48271 % 2147483647) / 2147483647 * n);
    for (let round = 0; round < 40; round++) {
      const folder = await testFolder();
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
