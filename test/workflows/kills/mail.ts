/** Mails, at each moment of SMTP. */
import assert from "node:assert/strict";
import { type SmtpStub, startSmtpStub } from "../../integrations/mail/_smtp_stub.ts";
import type { KillSubject } from "../_kill_stage.ts";
import { killDuringMails } from "../_mail_kills.ts";

let stub: SmtpStub;

/** Kills of mails. */
export const mailKills: KillSubject = {
  async open() {
    stub = await startSmtpStub({ leavesAt: "answered" });
    return {
      SEALOOP_SMTP_URL: `smtp://127.0.0.1:${stub.port}`,
      SEALOOP_SMTP_PAUSES: "0,0,0",
    };
  },
  close: () => stub?.close(),
  rows: [{
    name:
      "mails at each moment of SMTP are sent where they had not ended, and left to people where they had; none is delivered twice",
    async run(stage) {
      const kill = () => stage.replaced(Promise.resolve());
      const ends = await killDuringMails({ ...stage.bench, kill }, stub);
      assert.deepEqual(ends.filter(({ faults }) => faults.length > 0), []);
      assert.equal(ends.length, 7);
    },
  }],
};
