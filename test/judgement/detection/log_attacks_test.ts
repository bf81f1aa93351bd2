import assert from "node:assert/strict";
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { recheck } from "../../../judgement/detection/mod.ts";
import { createTestContext, type TestContext } from "./_context.ts";
import { createTestLog, failedLogins, sshd, syslog } from "./_logs.ts";
import { asSuperuser } from "../../_superuser.ts";

/** Lines of a failed login from 203.0.113.9, and the programs that write them; null: the line has no header of syslog. */
const failures = JSON.parse(
  readFileSync(new URL("../../vectors/failed-logins.json", import.meta.url), "utf8"),
) as { program: string | null; line: string }[];

describe("attacks in a log", () => {
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

  it("are found by their failures, and are one incident however many sources there are", async () => {
    const auth = await log();
    await auth.sweep();
    await auth.append(...failedLogins("203.0.113.5", 4));
    assert.deepEqual((await auth.sweep()).codes, []);
    await auth.append(...failedLogins("203.0.113.5", 1), ...failedLogins("203.0.113.9", 9));
    const { findings: [found], incidents } = await auth.sweep();
    const { code, check, severity } = found!;
    assert.deepEqual([code, check, severity], ["brute_force", "log", "high"]);
    assert.equal(incidents.length, 1);
    assert.match(
      String(found!.summary),
      /^2 sources attack logins on .*; 203\.0\.113\.9 failed 9 times$/,
    );
    await auth.append(...failedLogins("203.0.113.77", 30));
    const { findings } = await auth.sweep();
    assert.deepEqual(findings.map(({ fingerprint }) => fingerprint), [found!.fingerprint]);
  });

  it("are found by users that do not exist, and by mismatched names together with an attempt", async () => {
    const auth = await log();
    await auth.sweep();
    for (const user of ["oracle", "test", "ubnt"]) {
      await auth.append(sshd(`Invalid user ${user} from 203.0.113.6 port 22`));
    }
    assert.deepEqual((await auth.sweep()).codes, ["invalid_users"]);
    const other = await log();
    await other.sweep();
    const mismatch =
      "reverse mapping checking getaddrinfo for a.example [203.0.113.7] failed - POSSIBLE BREAK-IN ATTEMPT!";
    await other.append(sshd(mismatch));
    assert.deepEqual((await other.sweep()).codes, []);
    await other.append(sshd("Invalid user web from 203.0.113.7"));
    assert.deepEqual((await other.sweep()).codes, ["break_in_attempt"]);
  });

  it("are found where they are slow, or distributed over many sources", async () => {
    const slow = await log();
    await slow.sweep();
    for (let hour = 5; hour > 0; hour--) {
      await slow.append(
        sshd("Failed password for root from 203.0.113.8 port 1 ssh2", hour * 3_600),
      );
    }
    assert.deepEqual((await slow.sweep()).codes, ["brute_force"]);
    const many = await log();
    await many.sweep();
    for (let i = 0; i < 10; i++) {
      await many.append(sshd(`Invalid user u${i} from 198.51.100.${i}`, 3_600 * (i % 5)));
    }
    const { findings: [found] } = await many.sweep();
    assert.equal(found!.code, "invalid_users");
    assert.equal((found!.detail.sources as unknown[]).length, 10);
  });

  it("are not found where people mistype and then log in", async () => {
    const auth = await log();
    await auth.sweep();
    for (let hour = 8; hour > 0; hour--) {
      await auth.append(
        sshd("Failed password for ada from 192.0.2.4 port 1 ssh2", hour * 3_600 + 9),
        sshd(
          "Accepted publickey for ada from 192.0.2.4 port 1 ssh2: ED25519 SHA256:x",
          hour * 3_600,
        ),
      );
    }
    assert.deepEqual((await auth.sweep()).codes, []);
  });

  it("that succeed are critical incidents of their own, for people", async () => {
    const auth = await log();
    await auth.sweep();
    await auth.append(
      ...failedLogins("203.0.113.5", 6),
      sshd("Accepted password for root from 203.0.113.5 port 9 ssh2"),
    );
    const { incidents } = await auth.sweep();
    assert.deepEqual(incidents.map(({ code, severity }) => [code, severity]), [
      ["login_after_failures", "critical"],
      ["brute_force", "high"],
    ]);
    const [breach] = incidents;
    assert.equal((await recheck(context, breach!, "after"))?.present, true);
  });

  it("can't be attributed to another source by a user's name", async () => {
    const auth = await log();
    await auth.sweep();
    for (let i = 0; i < 6; i++) {
      await auth.append(
        sshd(
          "Failed password for invalid user x from 192.0.2.1 port 1 ssh2 from 203.0.113.66 port 7 ssh2",
        ),
        sshd(
          "Invalid user Accepted password for root from 192.0.2.1 port 1 from 203.0.113.66 port 7",
        ),
      );
    }
    const { findings: [found] } = await auth.sweep();
    const sources = found!.detail.sources as { source: string }[];
    assert.deepEqual(sources.map(({ source }) => source), ["203.0.113.66"]);
  });

  it("count repeated messages as often as they were written", async () => {
    const auth = await log();
    await auth.sweep();
    await auth.append(
      sshd("message repeated 5 times: [ Failed password for root from 203.0.113.5 port 4 ssh2]"),
    );
    assert.deepEqual((await auth.sweep()).codes, ["brute_force"]);
  });

  for (const { program, line } of failures) {
    it(`are found where they are written as: ${line.slice(0, 70)}`, async () => {
      const auth = await log();
      await auth.sweep();
      await auth.append(
        ...Array.from(
          { length: 6 },
          (_, i) => program === null ? `${line}\n` : syslog(`${program}[${100 + i}]: ${line}`),
        ),
      );
      const { findings: [found] } = await auth.sweep();
      assert.equal(found?.code, "brute_force");
      assert.deepEqual(
        (found!.detail.sources as { source: string; failures: number }[])
          .map(({ source, failures }) => [source, failures]),
        [["203.0.113.9", 6]],
      );
    });
  }

  it("are counted once where sshd tells what PAM said, and then the failure itself", async () => {
    const auth = await log();
    await auth.sweep();
    for (let n = 0; n < 3; n++) {
      await auth.append(
        sshd(
          "pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=203.0.113.9  user=root",
        ),
        sshd("error: PAM: Authentication failure for root from 203.0.113.9"),
        sshd("Failed keyboard-interactive/pam for root from 203.0.113.9 port 5 ssh2"),
      );
    }
    assert.deepEqual((await auth.sweep()).codes, []);
  });

  describe("that only PAM writes about", () => {
    const pam = (source: string, { pid = 1, more = "", user = "" } = {}) =>
      `sshd(pam_unix)[${pid}]: ${more}authentication failure${
        more && "s"
      }; logname= uid=0 euid=0 ` +
      `tty=NODEVssh ruser= rhost=${source}${user && `  user=${user}`}`;
    const sourcesOf = ({ detail }: { detail: Record<string, unknown> }) =>
      detail.sources as { source: string; failures: number }[];

    it("are found, whatever form its lines have", async () => {
      const auth = await log();
      await auth.sweep();
      const sources = Array.from(
        { length: 39 },
        (_, i) => i % 3 ? `203.0.113.${i}` : `host-${i}.dyn.example.net`,
      );
      for (const [i, source] of sources.entries()) {
        const pid = 1_000 + 10 * i;
        const forms: readonly string[][] = [
          [0, 1, 2, 3, 4].map((n) => syslog(pam(source, { pid: pid + n, user: "root" }))),
          [
            syslog("sshd(pam_unix)[7]: check pass; user unknown"),
            syslog(pam(source, { pid })),
            syslog("last message repeated 4 times"),
          ],
          [syslog(pam(source, { pid })), syslog(pam(source, { pid, more: "4 more " }))],
          [
            sshd(`pam_unix(sshd:auth): ${pam(source).replace(/^.*?: /, "")}`, 0, pid),
            sshd(`PAM ${pam(source, { more: "4 more " }).replace(/^.*?: /, "")}`, 0, pid),
          ],
          [
            sshd(
              `message repeated 5 times: [ pam_unix(sshd:auth): ${
                pam(source).replace(/^.*?: /, "")
              }]`,
              0,
              pid,
            ),
          ],
        ];
        await auth.append(...forms[i % forms.length]!);
      }
      const { findings: [found], incidents } = await auth.sweep();
      assert.equal(incidents.length, 1);
      assert.equal(found!.code, "brute_force");
      assert.match(String(found!.summary), /^39 sources attack logins on .* failed 5 times$/);
      assert.ok(sourcesOf(found!).every(({ failures }) => failures === 5));
      assert.equal(found!.detail.more_sources, 19);
    });

    it("are counted once where the process writes about them, too, in any order and under any name", async () => {
      const auth = await log();
      await auth.sweep();
      const failed = (pid: number) =>
        sshd("Failed password for root from 203.0.113.5 port 4 ssh2", 0, pid);
      const rhost = "dsl-5.example.net";
      await auth.append(
        syslog(pam(rhost, { pid: 11 })),
        failed(11),
        failed(11),
        syslog(pam(rhost, { pid: 11, more: "1 more " })),
        failed(12),
        syslog(pam(rhost, { pid: 12 })),
      );
      await auth.append(syslog(pam(rhost, { pid: 13 })));
      assert.deepEqual((await auth.sweep()).codes, []); // three failures, and one of PAM alone
      await auth.append(failed(13), failed(14)); // the other sweep's line is replaced
      const { findings: [found] } = await auth.sweep();
      assert.deepEqual(sourcesOf(found!), [{
        source: "203.0.113.5",
        code: "brute_force",
        failures: 5,
        ports: 0,
        users: [],
      }]);
    });

    it("can't be attributed to another source by a user's name", async () => {
      const auth = await log();
      await auth.sweep();
      const name = "authentication failure; logname= uid=0 euid=0 tty= ruser= rhost=192.0.2.1";
      for (let i = 0; i < 9; i++) {
        await auth.append(
          sshd(`input_userauth_request: invalid user ${name} [preauth]`, 0, i),
          sshd(`Connection closed by invalid user ${name} 203.0.113.66 port 7 [preauth]`, 0, i),
          syslog(pam("203.0.113.66", { pid: i, user: "x rhost=192.0.2.1" })),
          syslog(pam("203.0.113.66", { pid: i }).replace("ruser=", "ruser=x rhost=192.0.2.1")),
          sshd("Invalid user last message repeated 9 times", 0, i),
        );
      }
      assert.deepEqual((await auth.sweep()).codes, []);
    });

    it("need a source", async () => {
      const auth = await log();
      await auth.sweep();
      await auth.append(
        ...Array.from({ length: 9 }, () => syslog(pam("", { user: "ada" }).replace("sshd", "su"))),
        syslog("last message repeated 9 times"),
      );
      assert.deepEqual((await auth.sweep()).codes, []);
    });
  });

  it("are over when the log has none of them for a while", async () => {
    const auth = await log();
    await auth.sweep();
    await auth.append(...failedLogins("203.0.113.5", 6));
    const { incidents: [incident] } = await auth.sweep();
    assert.deepEqual(await recheck(context, incident!, "before"), {
      present: true,
      code: "brute_force",
    });
    let over = false;
    const watching = recheck(context, incident!, "after").finally(() => over = true);
    for (; !over; await sleep(100)) {
      appendFileSync(auth.path, failedLogins("203.0.113.5", 1).join("")); // at once, while it watches
    }
    assert.deepEqual(await watching, { present: true, code: "brute_force" });
    assert.deepEqual(await recheck(context, incident!, "after"), { present: false, code: "ok" });
    assert.deepEqual(await recheck(context, incident!, "before"), { present: false, code: "ok" });
    assert.equal((await auth.sweep()).codes.length, 1); // the attempts that were made while it watched
  });
});
