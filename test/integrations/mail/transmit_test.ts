import assert from "node:assert/strict";
import { composeMail, type MailServer, transmitMail } from "../../../integrations/mail/mod.ts";
import { freePort } from "../../_run.ts";
import { type Moment, type Script, type SmtpStub, startSmtpStub } from "./_smtp_stub.ts";

const MAX_WAIT_MS = 120_000;
/** More than the system takes of a client whose server does not read. */
const LONG_MAIL = Buffer.alloc(2 ** 25, "a line\r\n");

describe("transmitMail()", () => {
  let stub: SmtpStub;
  let bytes: Buffer;
  before(async () => {
    stub = await startSmtpStub({ leavesAt: "answered" });
    bytes = await composeMail({
      from: "sealoop@example.com",
      to: "ada@example.org",
      subject: "Hello",
      text: `A line\n.\n.dotted\n${"a long text ".repeat(30_000)}`,
      messageId: "EML-1@example.com",
    });
  });
  after(() => stub?.close());

  async function send(
    script: Script,
    mayEnd: () => Promise<boolean> = () => Promise.resolve(true),
    sent = bytes,
  ) {
    stub.script = script;
    stub.taken.length = 0;
    let ends = 0;
    const result = await transmitMail(
      serverAt(stub.port),
      { from: "sealoop@example.com", to: "ada@example.org", bytes: sent },
      () => (ends++, mayEnd()),
      { connectMs: MAX_WAIT_MS, silenceMs: script.isSilent ? 300 : MAX_WAIT_MS },
    );
    return { ...result, ends, taken: stub.taken.length };
  }

  it("hands over the bytes as they are", async () => {
    const { state, code, taken, ends } = await send({ leavesAt: "answered" });
    assert.deepEqual({ state, code, taken, ends }, {
      state: "sent",
      code: "accepted_250",
      taken: 1,
      ends: 1,
    });
    const received = `${stub.taken[0]!.replace(/(^|\n)\.\./g, "$1.")}\r\n`;
    assert.ok(Buffer.from(received, "latin1").equals(bytes));
  });

  for (const leavesAt of ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "body"] as const) {
    for (const isSilent of leavesAt === "body" ? [false] : [false, true]) {
      it(`proves that nothing was sent to a server that ${isSilent ? "is silent" : "leaves"} at ${leavesAt}`, async () => {
        const script = { leavesAt, isSilent };
        const { state, isRetryable, ends, taken } = await send(
          script,
          undefined,
          leavesAt === "body" ? LONG_MAIL : bytes,
        );
        assert.deepEqual([state, isRetryable, taken], ["not_sent", true, 0]);
        assert.equal(ends, 0);
      });
    }
  }

  for (const isSilent of [false, true]) {
    it(`can't tell about a server that ${isSilent ? "is silent" : "leaves"} after the end of the mail`, async () => {
      const attempt = () => send({ leavesAt: "dot", isSilent });
      let result = await attempt();
      while (result.taken === 0) result = await attempt(); // its silence was over before the end
      const { state, code, isRetryable, taken } = result;
      assert.deepEqual([state, code, isRetryable, taken], ["unknown", "answer_lost", false, 1]);
    });
  }

  const refusals: readonly [Moment, string, string, boolean][] = [
    ["greeting", "421 busy", "refused_421", true],
    ["greeting", "554 no", "refused_554", false],
    ["MAIL", "451 later", "refused_451", true],
    ["RCPT", "550 unknown", "refused_550", false],
    ["RCPT", "450 greylisted", "refused_450", true],
    ["DATA", "554 no", "refused_554", false],
    ["dot", "552 too large", "refused_552", false],
    ["dot", "451 try again", "refused_451", false],
  ];
  for (const [moment, answer, code, isRetryable] of refusals) {
    it(`takes ${answer} at ${moment} for a refusal${isRetryable ? " for now" : ""}`, async () => {
      const result = await send({ leavesAt: "answered", answers: { [moment]: answer } });
      const { state, taken } = result;
      assert.deepEqual([state, result.code, result.isRetryable, taken], [
        "not_sent",
        code,
        isRetryable,
        0,
      ]);
    });
  }

  it("does not end a mail that another attempt has taken over", async () => {
    const { state, code, taken } = await send(
      { leavesAt: "answered" },
      () => Promise.resolve(false),
    );
    assert.deepEqual([state, code, taken], ["not_sent", "superseded", 0]);
  });

  it("does not end a mail whose end could not be noted", async () => {
    const { state, taken } = await send(
      { leavesAt: "answered" },
      () => Promise.reject(new Error("The database is away")),
    );
    assert.deepEqual([state, taken], ["not_sent", 0]);
  });

  it("sends nothing in plain text to another machine", async () => {
    stub.script = { leavesAt: "answered" };
    stub.taken.length = 0;
    const server = { ...serverAt(stub.port), tls: "starttls" } as const;
    const mail = { from: "sealoop@example.com", to: "ada@example.org", bytes };
    const { state, code } = await transmitMail(server, mail, () => Promise.resolve(true));
    assert.deepEqual([state, code, stub.taken.length], ["not_sent", "tls", 0]);
  });

  it("proves that nothing was sent where nobody listens", async () => {
    const mail = { from: "sealoop@example.com", to: "ada@example.org", bytes };
    const result = await transmitMail(
      serverAt(await freePort()),
      mail,
      () => Promise.resolve(true),
    );
    assert.deepEqual(result, { state: "not_sent", code: "connection", isRetryable: true });
  });
});

function serverAt(port: number): MailServer {
  return { kind: "relay", host: "127.0.0.1", port, tls: "none" };
}
