import assert from "node:assert/strict";
import { type SmtpStub, startSmtpStub } from "../integrations/mail/_smtp_stub.ts";
import { type CompiledPlatform, startCompiledPlatform } from "./_compiled.ts";
import { killDuringMails } from "./_mail_kills.ts";

describe("mails whose worker is killed with -9 at each moment of SMTP", () => {
  let stub: SmtpStub;
  let platform: CompiledPlatform;
  before(async () => {
    stub = await startSmtpStub({ leavesAt: "answered" });
    platform = await startCompiledPlatform(() => {}, {
      SEALOOP_SMTP_URL: `smtp://127.0.0.1:${stub.port}`,
      SEALOOP_SMTP_PAUSES: "0,0,0",
    });
  });
  after(async () => {
    await stub?.close();
    await platform?.close();
  });

  it("are sent where they had not ended, and left to people where they had; none is delivered twice", async () => {
    const ends = await killDuringMails(platform, stub);
    assert.deepEqual(ends.filter(({ faults }) => faults.length > 0), []);
    assert.equal(ends.length, 7);
  });
});
