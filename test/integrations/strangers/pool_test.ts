import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { z } from "zod";
import { parseApart } from "../../../integrations/strangers/mod.ts";
import { bombOf, MAIL_BOMB } from "./_bombs.ts";

const MAIL = Buffer.from("From: ada@example.org\r\nSubject: Hello\r\n\r\nHow are you?\r\n");
const parameters = { envelopeFrom: null };
const Words = z.object({ text: z.string() });

describe("parseApart()", () => {
  const parse = () => parseApart("mail", { bytes: MAIL, parameters }, Words);
  const isRead = (result: Awaited<ReturnType<typeof parse>>) =>
    assert.deepEqual(result, { value: { text: "How are you?" } });

  it("returns what the parser of the kind has read", async () => {
    isRead(await parse());
  });

  it("refuses what takes too long, and goes on with the next input", async () => {
    const bomb = { bytes: bombOf(MAIL_BOMB), parameters, timeoutMs: 500 };
    const slow = await parseApart("mail", bomb, Words);
    assert.deepEqual("refusal" in slow && slow.refusal.code, "too_slow");
    isRead(await parse());
  });

  it("lets this process work meanwhile", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    const bomb = { bytes: bombOf(MAIL_BOMB), parameters, timeoutMs: 3_000 };
    const slow = await parseApart("mail", bomb, Words);
    clearInterval(timer);
    assert.ok("refusal" in slow);
    assert.ok(turns > 10, `${turns} turns`);
  });

  it("refuses what takes more memory than 256 MiB, and goes on with the next input", async () => {
    const bytes = Buffer.concat([
      Buffer.from("["),
      Buffer.alloc(60_000_000, "[],"),
      Buffer.from("[]]"),
    ]);
    const large = await parseApart("alerts", { bytes }, z.array(z.unknown()));
    assert.deepEqual("refusal" in large && large.refusal.code, "too_much_memory");
    isRead(await parse());
  });

  it("refuses what its parser can't read", async () => {
    const wrong = await parseApart("log_errors", { bytes: Buffer.from("{") }, z.unknown());
    assert.deepEqual("refusal" in wrong && wrong.refusal.code, "malformed");
  });

  it("refuses an answer of another shape", async () => {
    const other = await parseApart(
      "mail",
      { bytes: MAIL, parameters },
      z.object({ text: z.number() }),
    );
    assert.deepEqual("refusal" in other && other.refusal.code, "unexpected_answer");
  });

  it("parses many inputs at once, and refuses none", async () => {
    for (const result of await Promise.all(Array.from({ length: 100 }, parse))) isRead(result);
  });

  it("tells to come again where too much waits", async () => {
    const all = await Promise.allSettled(Array.from({ length: 300 }, parse));
    const refused = all.filter((one) => one.status === "rejected");
    assert.ok(refused.length > 0 && refused.length < 100, String(refused.length));
    assert.equal((refused[0]!.reason as Error).name, "Unavailable");
  });

  it("gives its processes no environment, no files and no more memory", async function () {
    if (!existsSync("/proc/self/environ")) this.skip();
    await parse();
    const children = listChildren();
    assert.ok(children.length > 0 && children.length <= 3, String(children.length));
    for (const pid of children) {
      const environment = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
      const names = environment.map((one) => one.split("=")[0]!);
      assert.deepEqual(names.filter((name) => !["PWD", "OLDPWD", "SHLVL", "_"].includes(name)), []);
      const limits = readFileSync(`/proc/${pid}/limits`, "utf8");
      assert.match(limits, /^Max data size +268435456 +268435456/m);
      assert.match(limits, /^Max file size +0 +0/m);
      const open = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
        try {
          return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
        } catch {
          return []; // it was closed this moment
        }
      });
      const foreign = open.filter((target) =>
        !/^(pipe:|socket:|anon_inode:|\/dev\/null)/.test(target)
      );
      assert.deepEqual(foreign, []);
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      if (
        ["--permission", "--experimental-permission"].some((flag) =>
          process.allowedNodeEnvironmentFlags.has(flag)
        )
      ) {
        assert.match(command, /permission/);
        assert.doesNotMatch(
          command,
          /allow-fs-write|allow-child-process|allow-worker|allow-addons/,
        );
      }
    }
  });

  it("gives its processes no network where the system lets it", async function () {
    const { confinement } = await import("../../../integrations/strangers/mod.ts");
    if (!confinement().includes("--net")) this.skip();
    await parse();
    const own = readlinkSync("/proc/self/ns/net");
    for (const pid of listChildren()) assert.notEqual(readlinkSync(`/proc/${pid}/ns/net`), own);
  });
});

/** Lists the processes of the pool of this process. */
function listChildren(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      const [, parent] = /^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return parent === String(process.pid) && command.includes("_parser_program.js") &&
        !command.startsWith("/bin/sh");
    } catch {
      return false; // it has ended
    }
  });
}
