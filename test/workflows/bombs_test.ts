import assert from "node:assert/strict";
import { receiveMail } from "../../operations/mail/sending/mod.ts";
import {
  type MailReceiver,
  type MailServer,
  startReceiver,
  transmitMail,
} from "../../integrations/mail/mod.ts";
import { openPeople, type People } from "../api/_people.ts";
import {
  bombOf,
  MAIL_BOMB,
  MAIL_OF_EMPTY_PARTS,
  mailOfDepth,
} from "../integrations/strangers/_bombs.ts";
import { freePort } from "../_run.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
type Json = any;

/** Bombs of mail by the reason of their refusal. */
const BOMBS: Readonly<Record<string, Buffer>> = {
  too_slow: bombOf(MAIL_BOMB),
  too_many_parts: bombOf(MAIL_OF_EMPTY_PARTS),
  too_deep: mailOfDepth(300),
};

describe("mail that is built to exhaust the worker", () => {
  let people: People;
  let receiver: MailReceiver;
  let server: MailServer;
  before(async () => {
    const port = await freePort();
    people = await openPeople({ SEALOOP_MAIL_PORT: String(port) });
    receiver = await startReceiver(people.loop.config, (mail) => receiveMail(people.loop, mail));
    server = { kind: "local", host: "127.0.0.1", port, tls: "none" };
  });
  after(async () => {
    await receiver?.close();
    await people?.stop();
  });

  async function write(from: string, bytes: Buffer): Promise<void> {
    const mail = { from, to: "sealoop@sealoop.local", bytes };
    const { state } = await transmitMail(server, mail, () => Promise.resolve(true));
    assert.equal(state, "sent"); // so that its sender does not send it again
  }

  it("is taken and refused, while a loop of another tenant goes on to its end", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 10);
    const bombs = Promise.all(
      Object.values(BOMBS).map((bytes) => write("stranger@example.net", bytes)),
    );
    const { body } = await people.call("POST", "/v1/itsm/loop", "rival", {
      incident: "The weighbridge prints nonsense",
    });
    const started: Json = body;
    const { workflow_id } = started;
    await people.eventually(async () => {
      const { body } = await people.call("GET", `/v1/workflows/${workflow_id}`, "rival");
      return body.status && body.status.toLowerCase() !== "running" ? body : undefined;
    });
    await bombs;
    clearInterval(timer);
    assert.ok(turns > 50, `The worker had ${turns} turns`);
  });

  it("is listed with its reason, and people are told once", async () => {
    const { body } = await people.call("GET", "/v1/email-replies", "program");
    const refused = body.replies.filter(({ subject }: Json) => subject === "Boom");
    assert.deepEqual(
      refused.map(({ state, ignored_because }: Json) => `${state} ${ignored_because}`).sort(),
      Object.keys(BOMBS).map((code) => `ignored ${code}`).sort(),
    );
    for (const { from, excerpt, draft } of refused) {
      assert.deepEqual([from, excerpt, draft], ["stranger@example.net", "", null]);
    }
    const feed: Json = (await people.call("GET", "/v1/comms", "program")).body;
    const told = feed.messages.filter(({ subject }: Json) => subject === "Boom");
    assert.equal(told.length, refused.length);
    for (const { text } of told) assert.match(text, /^It was refused, and nothing but its head/);
  });

  it("keeps nobody else's mail from being read", async () => {
    await write(
      "ops@sealoop.local",
      Buffer.from(
        "From: ops@sealoop.local\r\nTo: sealoop@sealoop.local\r\nSubject: After it\r\n" +
          "Message-ID: <after@test>\r\n\r\nIs all well?\r\n",
      ),
    );
    const { body } = await people.call("GET", "/v1/email-replies", "program");
    const read = body.replies.find(({ subject }: Json) => subject === "After it");
    assert.deepEqual([read.excerpt, read.ignored_because], ["Is all well?", null]);
  });
});
