import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Config, loadConfig } from "../../../config.ts";
import { readMailbox } from "../../../integrations/mail/mod.ts";
import { testFolder } from "../../_run.ts";
import { eventually } from "../../_time.ts";
import { type ImapStub, startImapStub } from "./_imap_stub.ts";

describe("readMailbox()", () => {
  let stub: ImapStub;
  let config: Config;
  let password: string;
  before(async () => {
    stub = await startImapStub("robot", "secret");
    password = join(await testFolder(), "password");
    await writeFile(password, "secret\n", { mode: 0o600 });
    config = loadConfig({
      SEALOOP_IMAP_URL: `imap://robot@127.0.0.1:${stub.port}/INBOX`,
      SEALOOP_IMAP_PASSWORD_FILE: password,
    });
  });
  after(() => stub?.close());

  const mail = (subject: string) => Buffer.from(`Subject: ${subject}\r\n\r\nHello\r\n`);
  function read(onMessage: (text: string) => Promise<void> | void) {
    const stopping = new AbortController();
    const unreadable: number[] = [];
    const reading = readMailbox(config, {
      signal: stopping.signal,
      onMessage: async (bytes) => await onMessage(bytes.toString()),
      onUnreadable: (uid) => void unreadable.push(uid),
      isRetryable: (error) => (error as Error).message === "away",
    });
    return {
      unreadable,
      reading,
      async stop() {
        stopping.abort();
        await reading;
      },
    };
  }

  it("takes in what is there and what comes, and marks it as read", async () => {
    stub.deliver(mail("first"));
    const taken: string[] = [];
    const { stop } = read((text) => void taken.push(text));
    await eventually(() => Promise.resolve(taken.length === 1 || undefined));
    stub.deliver(mail("second"));
    await eventually(() => Promise.resolve(stub.mails.every(({ seen }) => seen) || undefined));
    await stop();
    assert.deepEqual(taken.map((text) => text.slice(0, 15).trim()), [
      "Subject: first",
      "Subject: second",
    ]);
  });

  it("leaves a mail unread that can't be taken in for now, and gives up one that is broken", async () => {
    stub.deliver(mail("later"));
    const away = read(() => Promise.reject(new Error("away")));
    await assert.rejects(away.reading, /away/);
    assert.equal(stub.mails.at(-1)!.seen, false);
    const broken = read(() => Promise.reject(new Error("broken")));
    await eventually(() => Promise.resolve(stub.mails.at(-1)!.seen || undefined));
    await broken.stop();
    assert.deepEqual(broken.unreadable, [stub.mails.length]);
  });

  it("ends when the server does, so that it is connected to again", async () => {
    stub.deliver(mail("last"));
    const { reading } = read(() => {});
    const ended = assert.rejects(reading);
    await eventually(() => Promise.resolve(stub.mails.at(-1)!.seen));
    stub.hangUp();
    await ended;
  });

  it("refuses a password that others can read", async () => {
    await chmod(password, 0o644);
    await assert.rejects(read(() => {}).reading, /chmod 600/);
    await chmod(password, 0o600);
  });
});
