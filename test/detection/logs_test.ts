import assert from "node:assert/strict";
import { appendFile, copyFile, rename, truncate, unlink, writeFile } from "node:fs/promises";
import { detectAll } from "../../detection/mod.ts";
import { getFinding } from "../../store/mod.ts";
import { createTestContext, type TestContext } from "./_context.ts";
import { createTestLog, failedLogins, sshd } from "./_logs.ts";
import { asSuperuser } from "../_superuser.ts";

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
      assert.match(found!.summary, /has 40 errors in a minute; a bad minute had 6 before/);
      assert.equal((found!.detail.samples as string[]).length, 5);
    });

    it("are not found where all kinds of lines increase", async () => {
      const app = await log();
      for (let ago = 60; ago > 30; ago--) await app.append(...minute(ago, 5, 50));
      await app.sweep();
      await app.append(...minute(10, 40, 800));
      assert.deepEqual((await app.sweep()).codes, []);
    });

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
      assert.deepEqual(found!.detail.templates, ["ERROR cannot write page <*> of file <*>"]);
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
