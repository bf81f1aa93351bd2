import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "../../config.ts";
import { readMailbox } from "../../integrations/mail/mod.ts";
import { testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { type Dovecot, startDovecot, unpackDovecot } from "./_dovecot.ts";
import { skipSuite } from "./_skip.ts";

describe("readMailbox() with Dovecot", function () {
  this.timeout(120_000);
  let dovecot: Dovecot | undefined;
  before(async function () {
    const folder = await testFolder();
    const missing = await unpackDovecot(folder);
    if (missing !== undefined) return skipSuite(this, missing);
    const home = await testFolder();
    await chmod(home, 0o755);
    dovecot = await startDovecot(folder, home);
  });
  after(() => dovecot?.close());

  async function deliver(subject: string): Promise<void> {
    for (const name of ["tmp", "new", "cur"]) {
      await mkdir(join(dovecot!.maildir, name), { recursive: true });
    }
    const path = join(dovecot!.maildir, "new", `${Date.now()}.${subject}.test`);
    await writeFile(path, `Subject: ${subject}\n\nHello\n`, { mode: 0o666 });
  }

  it("takes in what is there and what comes while it waits, each once, and marks it as read", async () => {
    const password = join(await testFolder(), "password");
    await writeFile(password, "secret", { mode: 0o600 });
    const config = loadConfig({
      SEALOOP_IMAP_URL: `imap://robot@127.0.0.1:${dovecot!.port}/INBOX`,
      SEALOOP_IMAP_PASSWORD_FILE: password,
    });
    const taken: string[] = [];
    const read = () => {
      const stopping = new AbortController();
      const reading = readMailbox(config, {
        signal: stopping.signal,
        onMessage: (bytes) =>
          Promise.resolve(void taken.push(/Subject: (\w+)/.exec(bytes.toString())![1]!)),
        onUnreadable: (_, error) => assert.fail(error),
        isRetryable: () => true,
      });
      return async () => {
        stopping.abort();
        await reading;
      };
    };
    // Dovecot makes the mailbox with its own rights at the first login.
    const stopFirst = read();
    await eventually(() => Promise.resolve(existsSync(join(dovecot!.maildir, "new")) || undefined));
    await deliver("first");
    await eventually(() => Promise.resolve(taken.includes("first") || undefined));
    await stopFirst();
    await deliver("second");
    const stopSecond = read();
    await eventually(() => Promise.resolve(taken.includes("second") || undefined));
    await eventually(async () =>
      (await readdir(join(dovecot!.maildir, "cur"))).every((name) => name.endsWith("S")) ||
      undefined
    );
    await stopSecond();
    assert.deepEqual(taken, ["first", "second"]);
  });
});
