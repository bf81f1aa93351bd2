import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cache } from "../../../judgement/engine/mod.ts";

describe("cache()", () => {
  let folder: string;
  let source: string;
  let cacheFolder: string;
  let times: number;
  const make = () => ({
    n: ++times,
    of: readFileSync(source, "utf8"),
    table: Int16Array.of(7, -7),
  });
  const open = () => cache([join(folder, "sources")], make, cacheFolder);
  const files = () => readdirSync(cacheFolder).map((name) => join(cacheFolder, name));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sealoop-cache-"));
    mkdirSync(join(folder, "sources"));
    source = join(folder, "sources", "a.txt");
    cacheFolder = join(folder, "cache");
    writeFileSync(source, "first");
    times = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("makes the value once, and reads it from then on", () => {
    const value = open();
    assert.deepEqual(open(), value);
    assert.equal(times, 1);
    assert.equal(files().length, 1);
  });

  it("makes the value anew when a source changes, is added or removed, and finds the former one again", () => {
    open();
    writeFileSync(source, "other");
    assert.equal(open().of, "other");
    writeFileSync(join(folder, "sources", "b.txt"), "");
    open();
    assert.equal(times, 3);
    rmSync(join(folder, "sources", "b.txt"));
    writeFileSync(source, "first");
    assert.equal(open().of, "first");
    assert.equal(times, 3);
  });

  it("makes the value anew when the file is cut short, changed or empty", () => {
    open();
    const [path] = files();
    const whole = readFileSync(path!);
    const changed = Buffer.from(whole);
    changed[whole.length - 3]! ^= 1;
    for (const damage of [() => truncateSync(path!, 40), () => writeFileSync(path!, changed)]) {
      damage();
      const before = times;
      assert.equal(open().of, "first");
      assert.equal(times, before + 1);
      assert.deepEqual(open().table, Int16Array.of(7, -7));
      assert.equal(times, before + 1);
    }
    writeFileSync(path!, "");
    assert.equal(open().of, "first");
  });

  it("works where the folder cannot be written", () => {
    writeFileSync(cacheFolder, "a file where a folder should be");
    assert.equal(open().of, "first");
    assert.equal(open().n, 2);
  });

  it("removes old files of former sources", () => {
    for (let n = 0; n < 8; n++) {
      writeFileSync(source, String(n));
      open();
    }
    assert.ok(files().length <= 4);
  });
});
