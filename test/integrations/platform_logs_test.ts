import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readLine, searchLogs } from "../../integrations/mod.ts";
import { testFolder } from "../_servers.ts";

const at = (second: number) => `2026-07-01T12:00:0${second}.000Z`;
const ours = (second: number, level: string, msg: string) =>
  JSON.stringify({ level, time: at(second), service: "x", msg });

describe("searchLogs()", () => {
  let folder: string;
  before(async () => {
    folder = await testFolder();
    const write = (name: string, lines: string[]) =>
      writeFile(join(folder, name), lines.join("\n") + "\n");
    await write("gateway.log", [ours(3, "info", "Listens"), ours(5, "error", "Lost the database")]);
    await write("gateway.1.log", [ours(1, "warn", "Stops")]);
    await write("postgres.log", [
      "2026-07-01 12:00:04.000 UTC [17] LOG:  database system is ready",
      "2026-07-01 12:00:06.000 UTC [17] FATAL:  the database system is shutting down",
    ]);
    await write("notes.txt", ["database"]);
  });

  it("finds words in all components, the newest line first", async () => {
    const { lines, searched, components } = await searchLogs(folder, {
      ...{ words: ["database"], limit: 10 },
    });
    assert.deepEqual(lines.map(({ component, level, at }) => [component, level, at]), [
      ["postgres", "fatal", at(6)],
      ["gateway", "error", at(5)],
      ["postgres", "info", at(4)],
    ]);
    assert.equal(searched, 5);
    assert.deepEqual(components, ["gateway", "postgres"]);
  });

  it("keeps to the level, the component, the time and the limit", async () => {
    const texts = async (search: object) =>
      (await searchLogs(folder, { words: [], limit: 10, ...search })).lines.map((line) => line.at);
    assert.deepEqual(await texts({ level: "error" }), [at(6), at(5)]);
    assert.deepEqual(await texts({ component: "gateway" }), [at(5), at(3), at(1)]);
    assert.deepEqual(await texts({ since: new Date(at(5)) }), [at(6), at(5)]);
    assert.deepEqual(await texts({ since: new Date(at(3)), until: new Date(at(5)) }), [
      ...[at(5), at(4), at(3)],
    ]);
    assert.deepEqual(await texts({ limit: 1 }), [at(6)]);
  });

  it("finds nothing where there are no logs", async () => {
    const found = await searchLogs(join(folder, "none"), { words: [], limit: 10 });
    assert.deepEqual(found, { lines: [], searched: 0, components: [] });
  });

  it("reads a line that is cut off as text", () => {
    const line = readLine("worker", '{"level":"error","time":');
    assert.deepEqual([line.level, line.at], ["info", null]);
  });
});
