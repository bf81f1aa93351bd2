import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { levelOf } from "../../../judgement/detection/mod.ts";
import { measureCpuMs } from "../../_time.ts";

const vectors = JSON.parse(
  readFileSync(new URL("../../vectors/log-levels.json", import.meta.url), "utf8"),
) as { line: string; level: string }[];

describe("levelOf()", () => {
  it("returns the level that a line gives, whatever its form", () => {
    const wrong = vectors.filter(({ line, level }) => levelOf(line) !== level);
    assert.deepEqual(wrong, []);
  });

  it("takes a level in a message for less than the one beside it, but for more than the transport's", () => {
    assert.equal(levelOf('{"level":"info","msg":"level=error was asked for"}'), "info");
    assert.equal(levelOf('{"PRIORITY":"6","MESSAGE":"level=error msg=late"}'), "error");
    assert.equal(levelOf("<14>ERROR late"), "error");
  });

  it("reads structured lines that are cut", () => {
    assert.equal(levelOf('{"level":"error","msg":"late","detail":"xxxx'), "error");
    assert.equal(levelOf('{"level":30,"msg":"an error of the peer","detail":"xxxx'), "info");
  });

  it("reads lines of any text in little time", async () => {
    const lines = [
      ...["1 ", "[1] ", "a=", "x: ", "=", 'a="', "no ", "A.", "\t", "[", '{"a":', '{"log":'],
    ].map((part) => part.repeat(20_000));
    lines.push(`{"a":"${"\\".repeat(60_000)}`, `${'{"log":'.repeat(8_000)}1${"}".repeat(8_000)}`);
    lines.push(`{"level":"a${"_".repeat(60_000)}x"}`);
    const used = await measureCpuMs(() => lines.forEach((line) => levelOf(line)));
    assert.ok(used < 2_000, `${used} ms`);
  });
});
