import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { appendFile, copyFile, rename, truncate, unlink, writeFile } from "node:fs/promises";
import { detectAll } from "../../../judgement/detection/mod.ts";
import { getFinding } from "../../../store/incidents/mod.ts";
import { createTestContext, type TestContext } from "./_context.ts";
import { createTestLog, failedLogins, sshd } from "./_logs.ts";
import { asSuperuser } from "../../_superuser.ts";
import { LOG_BOMB } from "../../integrations/strangers/_bombs.ts";
import { eventually, measureCpuMs } from "../../_time.ts";

const messageForms = JSON.parse(
  readFileSync(new URL("../../vectors/log-message-forms.json", import.meta.url), "utf8"),
) as {
  messages: string[];
  error: string;
  forms: { form: string; ordinary: string; error: string }[];
};

describe("the log detector", () => {
  let context: TestContext;
  let count = 0;
  before(async () => {
    context = await createTestContext("");
  });
  beforeEach(async () => {
    await asSuperuser(context.store).execute("DELETE FROM findings");
  });
  after(() => context.close());

  const log = (options?: { file?: string; block?: string }) =>
    createTestLog(context, `log-${++count}`, options);

  describe("error rates", () => {
    const minute = (ago: number, errors: number, others: number) =>
      Array.from(
        { length: errors + others },
        (_, i) => {
          const at = new Date(Math.floor((Date.now() - ago * 60_000) / 60_000) * 60_000 + i);
          const text = i < errors ? "ERROR order failed" : "INFO order done";
          return `${at.toISOString()} ${text} id=${i}\n`;
        },
      );

    it("are found where they rise far above those of bad minutes", async () => {
      const app = await log({ file: "service: shop" });
      for (let ago = 60; ago > 30; ago--) await app.append(...minute(ago, ago % 7 ? 1 : 6, 50));
      assert.deepEqual((await app.sweep()).codes, []);
      await app.append(...minute(20, 6, 50));
      assert.deepEqual((await app.sweep()).codes, []);
      await app.append(...minute(10, 40, 50));
      const { findings: [found] } = await app.sweep();
      assert.deepEqual([found!.code, found!.service], ["error_rate", "shop"]);
      assert.match(String(found!.summary), /has 40 errors in a minute; a bad minute had 6 before/);
      assert.equal((found!.detail.samples as string[]).length, 6);
    });

    it("are found in lines with characters that PostgreSQL does not keep", async () => {
      const app = await log();
      const odd = (ago: number, errors: number) =>
        minute(ago, errors, 20).map((line) =>
          line.replace("\n", ` \0 ${"😀".repeat(150)} x${"😀".repeat(150)}\n`)
        );
      for (let ago = 60; ago > 30; ago--) await app.append(...odd(ago, 1));
      assert.deepEqual((await app.sweep()).codes, []);
      await app.append(...odd(10, 40));
      const { codes, findings: [found] } = await app.sweep();
      assert.ok(codes.includes("error_rate"), String(codes));
      for (const sample of found!.detail.samples as string[]) assert.match(sample, /\ufffd/);
    });

    it("are not found where all kinds of lines increase", async () => {
      const app = await log();
      for (let ago = 60; ago > 30; ago--) await app.append(...minute(ago, 5, 50));
      await app.sweep();
      await app.append(...minute(10, 40, 800));
      assert.deepEqual((await app.sweep()).codes, []);
    });

    const two = (value: number) => String(value).padStart(2, "0");
    const parts = (at: Date) =>
      [
        [at.getFullYear(), at.getMonth() + 1, at.getDate()].map(two),
        [at.getHours(), at.getMinutes(), at.getSeconds()].map(two),
      ] as const;
    /** Beginnings of lines by the example that shows their form. */
    const beginnings: Readonly<Record<string, (at: Date) => string>> = {
      "- 1117838570 2005.06.03 R02-M1": (at) =>
        `- ${Math.floor(at.getTime() / 1_000)} ${parts(at)[0].join(".")} R02-M1`,
      "134681 node-246 unix.hw up 1077804742 1": (at) =>
        `134681 node-246 unix.hw up ${Math.floor(at.getTime() / 1_000)} 1`,
      "081109 203615 148": (at) => `${parts(at)[0].join("").slice(2)} ${parts(at)[1].join("")} 148`,
      "2005-06-03-15.42.50.363779": (at) =>
        `${parts(at)[0].join("-")}-${parts(at)[1].join(".")}.363779`,
      "20171223-22:15:29:606|Step": (at) =>
        `${parts(at)[0].join("")}-${parts(at)[1].join(":")}:606|Step`,
      "17/06/09 20:10:40": (at) => `${parts(at)[0].join("/").slice(2)} ${parts(at)[1].join(":")}`,
      "03-17 16:13:38.811 1702": (at) =>
        `${parts(at)[0].slice(1).join("-")} ${parts(at)[1].join(":")}.811 1702`,
      "[10.30 16:49:06]": (at) => `[${parts(at)[0].slice(1).join(".")} ${parts(at)[1].join(":")}]`,
      "api.log.1.2017-05-16_13:53:08 2017-05-16 00:00:00.008": (at) =>
        `api.log.1.2017-05-16_13:53:08 ${parts(at)[0].join("-")} ${parts(at)[1].join(":")}.008`,
      "/var/log/api.log:17:2017-05-16T00:00:00Z": (at) => `/var/log/api.log:17:${at.toISOString()}`,
      '{"pid":7,"time":"2017-05-16T00:00:00.000Z"': (at) =>
        `{"pid":7,"time":"${at.toISOString()}",`,
    };
    for (const [example, begin] of Object.entries(beginnings)) {
      it(`are found by times as in ${example}`, async () => {
        const app = await log();
        const lines = (ago: number, errors: number) => {
          const at = new Date(Date.now() - ago * 60_000);
          return Array.from(
            { length: 50 },
            (_, i) => `${begin(at)} ${i < errors ? "ERROR order failed" : "INFO order done"}\n`,
          );
        };
        for (let ago = 40; ago > 15; ago--) await app.append(...lines(ago, 1));
        await app.sweep();
        await app.append(...lines(5, 40));
        const { codes, findings } = await app.sweep();
        assert.deepEqual(codes, ["error_rate"]);
        assert.match(
          String(findings[0]!.summary),
          /has 40 errors in a minute; a bad minute had 1 before/,
        );
      });
    }

    it("are not found before it is known what is usual", async () => {
      const app = await log();
      await app.sweep();
      await app.append(...minute(2, 100, 0));
      assert.deepEqual((await app.sweep()).codes, []);
    });
  });

  describe("new templates", () => {
    const known = (n: number) =>
      Array.from({ length: n }, (_, i) => `2026-01-01 00:00:00 WARN cache missed for key ${i}\n`);

    it("are found once the log is known, as one incident, and only in warnings and errors", async () => {
      const app = await log({ block: "learn_lines: 100" });
      await app.append(...known(120));
      await app.sweep();
      await app.append(
        ...known(10),
        "2026-01-01 00:00:01 INFO all is new here\n",
        "2026-01-01 00:00:01 ERROR cannot write page 7 of file 12\n",
        "2026-01-01 00:00:01 ERROR cannot write page 8 of file 13\n",
      );
      const { findings: [found], incidents } = await app.sweep();
      assert.equal(incidents.length, 1);
      assert.deepEqual([found!.code, found!.severity], ["new_templates", "medium"]);
      assert.deepEqual(found!.detail.templates, ["cannot write page <*> of file <*>"]);
    });

    it("are told by the messages, whatever columns are before these", async () => {
      const app = await log({ block: "learn_lines: 200" });
      const hosts = ["dn228", "dn731", "an12", "tbird-admin1"];
      const line = (i: number, level: string, message: string) => {
        const host = hosts[i % 4];
        const second = 1_131_566_461 + i;
        return `- ${second} 2005.11.09 ${host} Nov 9 12:01:01 ${host}/${host} part${
          i % 9
        }[${i}] ${level} app: ${message}\n`;
      };
      const kinds = (i: number) =>
        ["cache is full", `lost connection ${i} to 10.0.0.${i % 99}`, `user ada retries`][i % 3]!;
      await app.append(...Array.from({ length: 300 }, (_, i) => line(i, "WARN", kinds(i))));
      await app.sweep();
      await app.append(...Array.from({ length: 50 }, (_, i) => line(i * 7, "ERROR", kinds(i + 1))));
      assert.deepEqual((await app.sweep()).codes, []);
      await app.append(line(5, "ERROR", "disk 7 is broken"), line(6, "ERROR", "disk 8 is broken"));
      const { findings: [found] } = await app.sweep();
      assert.deepEqual(found!.detail.templates, ["disk <*> is broken"]);
    });

    it("are told by the columns of now, where a program started with lines of another form", async () => {
      const app = await log({ block: "learn_lines: 300" });
      const line = (i: number, message: string) =>
        `2026-01-01 00:00:${10 + i % 40} app/web[${"abcdefg"[i % 7]}] ERROR ${message}\n`;
      const kinds = ["page is too large", "cache is not there", "user has no basket to empty"];
      const usual = (from: number, count: number) =>
        Array.from({ length: count }, (_, i) => line(from + i, kinds[(from + i) % 3]!));
      await app.append("rare timeout of a part is known\n");
      await app.append(...Array.from({ length: 120 }, (_, i) => `  name${i} = value of ${i}\n`));
      await app.sweep();
      for (let from = 0; from < 450; from += 90) {
        await app.append(...usual(from, 90));
        assert.deepEqual((await app.sweep()).codes, []);
      }
      await app.append("rare timeout of a part is known\n", line(3, "disk 7 is broken"));
      const { findings: [found] } = await app.sweep();
      assert.deepEqual(found!.detail.templates, ["disk <*> is broken"]);
    });

    it("keep their first and newest samples, and all kinds, as long as they are open", async () => {
      const app = await log({ block: "learn_lines: 100" });
      await app.append(...known(120));
      await app.sweep();
      const messages = [
        "disk is broken",
        "no room left",
        "queue lost its reader twice",
        "certificate of the shop is too old",
        "user without name",
        "index can't be read from here",
        "price is below zero",
      ];
      const error = (message: string) => `2026-01-01 00:00:01 ERROR ${message}\n`;
      let found;
      for (const message of messages) {
        await app.append(error(message));
        ({ findings: [found] } = await app.sweep());
      }
      const detail = found!.detail as { samples: string[]; templates: string[] };
      const kept = [...messages.slice(0, 3), ...messages.slice(-3)];
      assert.deepEqual(detail.samples.map((line) => `${line}\n`), kept.map(error));
      assert.deepEqual(detail.templates, messages);
      assert.match(String(found!.summary), /has 7 new kinds of lines/);
    });

    it("are told by the field with the message, where lines have named fields", async () => {
      const app = await log({ block: "learn_lines: 100" });
      const line = (message: string, i: number) =>
        `{"level":"error","time":"2026-01-01T00:00:00Z","reqId":"r${i}","msg":"${message}"}\n`;
      await app.append(...Array.from({ length: 150 }, (_, i) => line(`order ${i} failed`, i)));
      await app.sweep();
      await app.append(line("order 9 failed", 1), line(String.raw`no \"stock\" in shop 7`, 2));
      const { findings: [found] } = await app.sweep();
      assert.deepEqual(found!.detail.templates, ["no <*> in shop <*>"]);
    });

    for (const { form, ordinary, error } of messageForms.forms) {
      it(`are found by their message in lines of the form: ${form}`, async () => {
        const app = await log({ block: "learn_lines: 100" });
        const line = (text: string, message: string) => {
          const inner = JSON.stringify(message).slice(1, -1);
          const now = new Date().toISOString();
          return `${text.replace("{time}", now).replace("{message}", inner)}\n`;
        };
        const messages = Array.from({ length: 150 }, (_, i) => messageForms.messages[i % 5]!);
        await app.append(...messages.map((message) => line(ordinary, message)));
        await app.sweep();
        await app.append(
          line(ordinary, "retry policy was loaded after an error budget of profile seven"),
          line(error, messageForms.error),
        );
        const { findings: [found] } = await app.sweep();
        assert.match(String(found?.detail.templates), new RegExp(messageForms.error));
      });
    }

    it("are told by what happened, and not by values", async () => {
      const app = await log({ block: "learn_lines: 100" });
      const line = (message: string) => `2026-01-01 00:00:00 WARN ${message}\n`;
      const known = ["job a1 of ada was started late", "job b2 of ken was started late"];
      await app.append(...Array.from({ length: 120 }, (_, i) => line(known[i % 2]!)));
      await app.sweep();
      await app.append(line("job c3 of eve was started late"));
      assert.deepEqual((await app.sweep()).codes, []);
      await app.append(line("job d4 of ada was killed late"));
      const { findings: [found] } = await app.sweep();
      assert.deepEqual(found!.detail.templates, ["job d<*> of ada was killed late"]);
    });

    it("of a log without any order are bounded in time and space", async () => {
      const app = await log();
      const word = () => Math.random().toString(36).replace(/[^a-z]/g, "");
      const lines = Array.from(
        { length: 20_000 },
        (_, i) => `same ${Array.from({ length: 30 + i % 3 }, word).join(i % 2 ? " " : '[{="/')}\n`,
      );
      await app.append(...lines, `${'[{("a-b.c/'.repeat(6_000)}\n`);
      const cpuMs = await measureCpuMs(() => app.sweep());
      assert.ok(cpuMs < 20_000, `${cpuMs} ms`);
      const [row] = await context.store.asPlatform().query(
        "SELECT length(state::text) AS size FROM log_places WHERE path = $1",
        [app.path],
      );
      assert.ok(Number(row!.size) < 1_000_000, `${row!.size} bytes`);
    });

    it("are not found while the log is young", async () => {
      const app = await log({ block: "learn_lines: 100" });
      await app.sweep();
      await app.append(...known(10), "2026-01-01 00:00:01 ERROR cannot write page 7\n");
      assert.deepEqual((await app.sweep()).codes, []);
    });
  });

  describe("reading", () => {
    it("begins at the end of an existing log", async () => {
      const auth = await log();
      await auth.append(...failedLogins("203.0.113.5", 50));
      assert.deepEqual((await auth.sweep()).codes, []);
      await auth.append(...failedLogins("203.0.113.5", 1));
      assert.deepEqual((await auth.sweep()).codes, ["brute_force"]);
    });

    it("reads every line once, also one that is written in two parts", async () => {
      const auth = await log();
      await auth.sweep();
      const first = failedLogins("203.0.113.5", 3);
      const second = failedLogins("203.0.113.5", 2).join("");
      await auth.append(...first, second.slice(0, 30));
      assert.deepEqual((await auth.sweep()).codes, []);
      await auth.append(second.slice(30));
      const { findings: [found] } = await auth.sweep();
      assert.equal((found!.detail.sources as { failures: number }[])[0]!.failures, 5);
    });

    it("refuses lines that take too long, though a sweep has less time, and goes on behind them", async () => {
      const auth = await log();
      await auth.sweep();
      await auth.append(...LOG_BOMB);
      const errors = new Set<string | null>();
      await eventually(async () => {
        errors.add((await auth.sweep(500)).error);
        return errors.has("log_too_slow");
      });
      assert.ok(!errors.has(null));
      await auth.append(...failedLogins("203.0.113.5", 5));
      const { codes, error } = await auth.sweep();
      assert.deepEqual([codes, error], [["brute_force"], null]);
    });

    it("goes on after a rotation by renaming, with the rest of the old file first", async () => {
      const auth = await log();
      await auth.append(sshd("Server listening on 0.0.0.0 port 22."));
      await auth.sweep();
      await auth.append(...failedLogins("203.0.113.5", 3));
      await rename(auth.path, `${auth.path}.1`);
      await appendFile(`${auth.path}.1`, failedLogins("203.0.113.5", 1).join(""));
      await writeFile(auth.path, failedLogins("203.0.113.5", 2).join(""));
      const { findings: [found], error } = await auth.sweep();
      assert.equal((found!.detail.sources as { failures: number }[])[0]!.failures, 6);
      assert.equal(error, null);
    });

    it("goes on after copying and truncating, also where the file has grown beyond its old size", async () => {
      const auth = await log();
      await auth.append(sshd("Server listening on 0.0.0.0 port 22."));
      await auth.sweep();
      await auth.append(...failedLogins("203.0.113.5", 3));
      await copyFile(auth.path, `${auth.path}.1`);
      await truncate(auth.path);
      await auth.append(...failedLogins("203.0.113.5", 20));
      const { findings: [found], error } = await auth.sweep();
      assert.equal((found!.detail.sources as { failures: number }[])[0]!.failures, 23);
      assert.equal(error, null);
    });

    it("reports lines that were removed with their file", async () => {
      const auth = await log();
      await auth.append(...failedLogins("203.0.113.5", 1));
      await auth.sweep();
      await unlink(auth.path);
      await writeFile(auth.path, failedLogins("203.0.113.6", 1).join(""));
      assert.equal((await auth.sweep()).error, "lines_missed_by_rotation");
    });

    it("reports a log that can't be read", async () => {
      const auth = await log();
      await unlink(auth.path);
      assert.equal((await auth.sweep()).error, "log_enoent");
    });

    it("keeps findings that the next sweep does not read again", async () => {
      const auth = await log();
      await auth.sweep();
      await auth.append(...failedLogins("203.0.113.5", 9));
      const { incidents: [before] } = await auth.sweep();
      const { incidents: [after] } = await auth.sweep();
      assert.equal(after!.fingerprint, before!.fingerprint);
      assert.equal(
        (await getFinding(context.store.asPlatform(), before!.fingerprint))!.cleared_at,
        null,
      );
    });

    it("saves nothing where it is not asked to", async () => {
      const auth = await log();
      await auth.sweep();
      await auth.append(...failedLogins("203.0.113.5", 9));
      const { findings } = await detectAll(
        await context.with(`logs: { files: [{ path: "${auth.path}" }] }`),
        { save: false },
      );
      assert.equal(findings.length, 1);
      assert.deepEqual((await auth.sweep()).codes, ["brute_force"]);
    });
  });
});
