import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { searchLogs } from "../../../integrations/host/mod.ts";
import { testFolder } from "../../_run.ts";

const at = (second: number) => `2026-07-01T12:00:0${second}.000Z`;
const jsonLine = (second: number, level: string, msg: string) =>
  JSON.stringify({ level, time: at(second), service: "x", msg });

describe("searchLogs()", () => {
  let folder: string;
  before(async () => {
    folder = await testFolder();
    const write = (name: string, lines: string[]) =>
      writeFile(join(folder, name), lines.join("\n") + "\n");
    await write("gateway.log", [
      jsonLine(3, "info", "Listens"),
      jsonLine(5, "error", "Lost the database"),
    ]);
    await write("gateway.1.log", [jsonLine(1, "warn", "Stops")]);
    await write("postgres.log", [
      "2026-07-01 12:00:04.000 UTC [17] LOG:  database system is ready",
      "2026-07-01 12:00:06.000 UTC [17] FATAL:  the database system is shutting down",
    ]);
    await write("notes.txt", ["database"]);
  });

  it("finds words in all components, the newest line first", async () => {
    const search = { words: ["database"], limit: 10 };
    const { lines, searched, components } = await searchLogs(folder, search);
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
      at(5),
      at(4),
      at(3),
    ]);
    assert.deepEqual(await texts({ limit: 1 }), [at(6)]);
  });

  it("keeps lines without a time with the line before, and puts the later of one moment first", async () => {
    const stack = await testFolder();
    const at = "2026-07-01T12:00:01.000Z";
    const lines = [
      jsonLine(1, "error", "first"),
      "    at thrown (here)",
      jsonLine(1, "info", "second"),
    ];
    await writeFile(
      join(stack, "worker.log"),
      [...lines, jsonLine(2, "info", "third"), ""].join("\n"),
    );
    await writeFile(join(stack, "initdb.log"), "no time at all\n");
    const texts = async (search: object) =>
      (await searchLogs(stack, { words: [], limit: 10, ...search })).lines.map((line) => line.text);
    assert.deepEqual(await texts({}), [
      jsonLine(2, "info", "third"),
      ...lines.toReversed(),
      "no time at all",
    ]);
    assert.deepEqual(await texts({ until: new Date(at) }), lines.toReversed());
    assert.deepEqual(await texts({ words: ["thrown"], until: new Date(at) }), [lines[1]]);
    assert.deepEqual(await texts({ limit: 3 }), [
      jsonLine(2, "info", "third"),
      lines[2],
      lines[1],
    ]);
  });

  it("finds a word at the end of a long line", async () => {
    const long = await testFolder();
    await writeFile(
      join(long, "mcp.log"),
      `${jsonLine(1, "info", `${"x".repeat(5_000)} Needle`)}\n`,
    );
    const { lines } = await searchLogs(long, { words: ["needle"], limit: 10 });
    assert.deepEqual(lines.map(({ text }) => text.length), [2_000]);
  });

  it("neither shows secrets nor lets them be guessed", async () => {
    const leaky = await testFolder();
    const key = `slp_partner_${"k".repeat(43)}`;
    const hidden = [
      key,
      "hunter2hunter2",
      "pw-of-url",
      "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
      "MIIEvQIBADANBg",
      "sk-ant-api03-0123456789abcdef",
      "abcdef0123456789",
      "s3cr3t-in-json",
      "Tr0u&dor4,twice;",
      "p,w(o)r[d]s-in-json",
      "with words in it",
    ];
    const messages = [
      `key ${key}`,
      `password=hunter2hunter2 was wrong`,
      "postgres://app:pw-of-url@db.example/x",
      "eyJhbGciOiJIUzI1NiJ9.e30.c2ln",
      "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----",
      "sk-ant-api03-0123456789abcdef",
      "Authorization: Bearer abcdef0123456789",
      JSON.stringify({ webhook_secret: "s3cr3t-in-json" }),
      "password=Tr0u&dor4,twice; was wrong",
      JSON.stringify({ password: "p,w(o)r[d]s-in-json" }),
      "api_key: 'with words in it'",
    ];
    await writeFile(
      join(leaky, "worker.log"),
      messages.map((msg) => jsonLine(1, "info", `${msg} end`)).join("\n") + "\n",
    );
    const { lines } = await searchLogs(leaky, { words: ["end"], limit: 50 });
    assert.equal(lines.length, messages.length);
    const shown = lines.map(({ text }) => text).join("\n");
    for (const secret of hidden) {
      assert.ok(!shown.includes(secret), secret);
      const words = [secret.slice(0, -4).toLowerCase()];
      assert.deepEqual((await searchLogs(leaky, { words, limit: 50 })).lines, [], secret);
    }
    assert.match(shown, /postgres:\/\/app:\[secret\]@db\.example/);
  });

  it("lets other work go on while it searches a long log", async () => {
    const much = await testFolder();
    await writeFile(join(much, "mcp.log"), `${jsonLine(1, "info", "request")}\n`.repeat(60_000));
    let turns = 0;
    let over = false;
    const work = () => {
      turns++;
      if (!over) setImmediate(work);
    };
    work();
    const { searched } = await searchLogs(much, { words: ["nothing of it"], limit: 10 });
    over = true;
    assert.equal(searched, 60_000);
    assert.ok(turns > 25, `${turns}`);
  });

  it("finds nothing where there are no logs", async () => {
    const found = await searchLogs(join(folder, "none"), { words: [], limit: 10 });
    assert.deepEqual(found, { lines: [], searched: 0, components: [] });
  });

  it("reads a line that is cut off as text", async () => {
    const cut = await testFolder();
    await writeFile(join(cut, "worker.log"), '{"level":"error","time":');
    const { lines: [line] } = await searchLogs(cut, { words: [], limit: 1 });
    assert.deepEqual([line!.level, line!.at], ["info", null]);
  });
});
