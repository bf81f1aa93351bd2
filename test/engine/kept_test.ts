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
import { keptOrMade } from "../../engine/kept.ts";

describe("keptOrMade()", () => {
  let folder: string;
  let source: string;
  let cache: string;
  let times: number;
  const make = () => ({
    n: ++times,
    of: readFileSync(source, "utf8"),
    table: Int16Array.of(7, -7),
  });
  const open = () => keptOrMade([join(folder, "sources")], make, cache);
  const kept = () => readdirSync(cache).map((name) => join(cache, name));

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "sealoop-kept-"));
    mkdirSync(join(folder, "sources"));
    source = join(folder, "sources", "a.txt");
    cache = join(folder, "cache");
    writeFileSync(source, "first");
    times = 0;
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("makes it once, and reads the same from then on", () => {
    const made = open();
    assert.deepEqual(open(), made);
    assert.equal(times, 1);
    assert.equal(kept().length, 1);
  });

  it("makes it anew when a source changes, appears or goes, and finds the former again", () => {
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

  it("makes it anew when the file is cut short, changed or empty", () => {
    open();
    const [path] = kept();
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

  it("works where nothing can be kept", () => {
    writeFileSync(cache, "a file where a folder should be");
    assert.equal(open().of, "first");
    assert.equal(open().n, 2);
  });

  it("does not let files of former sources pile up", () => {
    for (let n = 0; n < 8; n++) {
      writeFileSync(source, String(n));
      open();
    }
    assert.ok(kept().length <= 4);
  });
});
