import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { terminalLine } from "../../calls/approvals/mod.ts";
import { checkMail, type MailParts, sendMail } from "../../operations/mail/sending/mod.ts";
import { issueSealedKey, revokeSealedKey } from "../../calls/mod.ts";
import { recoverCall } from "../../calls/recover/mod.ts";
import { loadConfig } from "../../config.ts";
import { Problem } from "../../contract/mod.ts";
import { optOut } from "../../operations/crm/records/mod.ts";
import {
  mailboxFolder,
  type MailReceiver,
  parseAddress,
  startReceiver,
} from "../../integrations/mail/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import { addStop, listDecisions, removeStop } from "../../store/calls/mod.ts";
import { addContact, getContact } from "../../store/crm/mod.ts";
import { listMessages, needsPeople } from "../../store/notices/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { setFlag } from "../_flags.ts";
import { freePort } from "../_run.ts";
import { asSuperuser } from "../_superuser.ts";
import { allowTools } from "../_governance.ts";
import { type SmtpStub, startSmtpStub } from "../integrations/mail/_smtp_stub.ts";
import type { Watch } from "../workflows/_loop.ts";
import { openPeople, type People } from "./_people.ts";
import { getEmail } from "../../store/mail/mod.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
type Json = any;

describe("crm_send_email", () => {
  let people: People;
  let stub: SmtpStub;
  let receiver: MailReceiver;
  let agent: Awaited<ReturnType<People["agent"]>>;
  /** Mails that a worker has begun to send, one for each try. */
  const tried: string[] = [];
  const watch: Watch = (moment, activity, [mail]) => {
    if (moment === "before" && activity === "transmitEmail") {
      tried.push((mail as { readonly email_id: string }).email_id);
    }
  };
  before(async () => {
    stub = await startSmtpStub({ leavesAt: "answered" });
    const settings = {
      SEALOOP_SMTP_URL: `smtp://127.0.0.1:${stub.port}`,
      SEALOOP_MAIL_PORT: String(await freePort()),
      SEALOOP_SMTP_PAUSES: "0,0,0",
    };
    people = await openPeople(settings, [], undefined, watch);
    receiver = await startReceiver(people.loop.config);
    agent = await people.agent();
    await allowTools(people.store, ["nothing"]);
  });
  after(async () => {
    await people?.stop();
    await stub?.close();
    await receiver?.close();
  });

  async function send(fields: Record<string, unknown>): Promise<Json> {
    const { isError, structuredContent, content } = await agent.callTool({
      name: "crm_send_email",
      arguments: { subject: "Maintenance", body: "On Sunday from 2 to 3.", ...fields },
    }) as Json;
    assert.ok(!isError, JSON.stringify(content));
    return structuredContent ?? JSON.parse(content[0].text);
  }
  const fail = async (fields: Record<string, unknown>): Promise<string> => {
    const { isError, content } = await agent.callTool({
      name: "crm_send_email",
      arguments: { subject: "Maintenance", body: "On Sunday from 2 to 3.", ...fields },
    }) as Json;
    assert.ok(isError);
    return content[0].text;
  };
  const ended = (id: string) =>
    people.eventually(async () => {
      const email = await getEmail(people.store.db, id);
      return email?.receiptId ? email : undefined;
    });
  const agreed = async (email: string) => {
    const fields = { name: "Ada", email };
    return (await addContact(people.store.db, fields, { email: "opt_in", basis: "form" }))!;
  };

  it("keeps mail while the flag pause_mail is set, and sends it afterwards", async () => {
    await setFlag(people.store, "pause_mail", true);
    const sent = await Promise.all(
      ["one", "two"].map((subject) => send({ to: "paused@sealoop.local", subject })),
    );
    for (const { email_id } of sent) {
      const tries = () => tried.filter((one) => one === email_id).length;
      await people.eventually(() => Promise.resolve(tries() > 1 || undefined));
      const { state, attempts } = (await getEmail(people.store.db, email_id))!;
      assert.deepEqual([state, attempts], ["queued", 0]);
    }
    await setFlag(people.store, "pause_mail", false);
    for (const { email_id } of sent) {
      const { state, attempts } = await ended(email_id);
      assert.deepEqual([state, attempts], ["sent", 1], "a pause is no attempt");
    }
  });

  it("delivers to a mailbox of this machine, and proves it", async () => {
    const { email_id, state, findings, message_id } = await send({ to: "Ops@sealoop.local" });
    assert.deepEqual([state, findings], ["queued", []]);
    const { state: end, code, message } = await ended(email_id);
    assert.deepEqual([end, code], ["sent", "delivered"]);
    const { config } = people.loop;
    const folder = join(mailboxFolder(config.dataDir, parseAddress("ops@sealoop.local")!), "new");
    const [name] = await readdir(folder);
    const delivered = await readFile(join(folder, name!));
    assert.ok(delivered.equals(message));
    assert.match(delivered.toString(), new RegExp(`Message-ID: ${message_id}`, "i"));
    const { messages } = await listMessages(people.store.db, { kind: "mail.sent" }, 10);
    assert.equal(messages[0]!.refs.email_id, email_id);
  });

  it("hands mail for a contact to the relay, with a link to opt out that works once without a login", async () => {
    stub.taken.length = 0;
    const contactId = await agreed("ada@example.org");
    const { email_id } = await send({ to: "ada@example.org" });
    assert.equal((await ended(email_id)).state, "sent");
    const [text] = stub.taken;
    const unfolded = text!.replace(/\r\n[ \t]/g, " ");
    const url = /List-Unsubscribe: <([^>]+)>/i.exec(unfolded)![1]!;
    assert.match(unfolded, /List-Unsubscribe-Post: List-Unsubscribe=One-Click/i);
    const path = new URL(url).pathname;
    assert.doesNotMatch(path, /ada|example/);
    const page = await fetch(people.url + path);
    assert.match(await page.text(), /<form method="post">/);
    assert.equal((await getContact(people.store.db, contactId))!.consent.email, "opt_in");
    const done = await fetch(people.url + path, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: "List-Unsubscribe=One-Click",
    });
    assert.equal(done.status, 200);
    assert.equal((await getContact(people.store.db, contactId))!.consent.email, "opt_out");
    assert.equal((await fetch(people.url + path, { method: "POST" })).status, 200);
    assert.match(await fail({ to: "ADA@example.org" }), /opted out/);
    const forged = `${path.slice(0, -2)}AA`;
    assert.equal((await fetch(people.url + forged, { method: "POST" })).status, 404);
  });

  it("holds a mail with a card's number until a person approves exactly this mail", async () => {
    stub.taken.length = 0;
    await agreed("bob@example.org");
    const { email_id, state, findings, approval_id } = await send({
      to: "bob@example.org",
      body: "Charge 4111 1111 1111 1111",
    });
    assert.deepEqual([state, findings[0].code], ["held", "card_number"]);
    const approval = await people.eventually(async () => {
      const { status, body } = await people.call("GET", `/v1/approvals/${approval_id}/info`, "ann");
      return status === 200 && body.notice !== undefined ? body : status === 200 ? body : undefined;
    });
    assert.match(JSON.stringify(approval), /number of a payment card/);
    const line = terminalLine((await getApproval(people.store.db, approval_id))!);
    assert.match(
      line,
      new RegExp(`: rule mail-review · until .*approvals -- show ${approval_id}$`),
    );
    assert.doesNotMatch(line, /bob|Maintenance|card/);
    assert.equal(stub.taken.length, 0);
    assert.equal((await people.vote(approval_id, "approve", "ann")).status, 200);
    assert.equal((await ended(email_id)).state, "sent");
    assert.equal(stub.taken.length, 1);
  });

  it("is kept for its approval where a later call with the same id can't be started", async () => {
    const temporal = () => Promise.reject(new Problem("Unavailable", "Temporal is away"));
    const order = (id: string) => ({
      id,
      kind: "mail" as const,
      to: "ops@sealoop.local",
      subject: "Maintenance",
      body: "Charge 4111 1111 1111 1111",
      askedBy: "ann",
      askedByKey: null,
    });
    const { state } = await sendMail(people.loop, order("EML-00000000cc01"));
    assert.equal(state, "held");
    for (const id of ["EML-00000000cc01", "EML-00000000cc02"]) {
      const sending = sendMail({ ...people.loop, temporal }, order(id));
      await assert.rejects(sending, { name: "Unavailable" });
    }
    assert.equal((await getEmail(people.store.db, "EML-00000000cc01"))?.state, "held");
    assert.equal(await getEmail(people.store.db, "EML-00000000cc02"), undefined);
  });

  it("is what a message to an address by comms/send is, with its review and consent", async () => {
    const { db } = people.store;
    const say = (fields: object) => {
      const said = { channel: "email", subject: "Maintenance", text: "On Sunday", ...fields };
      return people.call("POST", "/v1/comms/send", "ann", said);
    };
    const near = (await say({ to: "Desk@sealoop.local" })).body;
    const [{ email_id: sent, state }] = near.deliveries;
    assert.deepEqual([state, (await ended(sent)).state], ["queued", "sent"]);
    const held = (await say({ to: "stranger@example.org" })).body;
    assert.equal(held.deliveries[0].state, "held");
    assert.match(held.deliveries[0].approval_id, /^APR-/);
    const contactId = await agreed("gone@example.org");
    const opting = { basis: "by telephone", actor: "ann", action: "contacts.update" };
    await db.transaction((trx) => optOut(trx, contactId, opting));
    assert.equal((await say({ to: "gone@example.org" })).status, 403);
    assert.equal((await say({ to: "desk@sealoop.local", subject: "" })).status, 422);
    const stop = { kind: "tool", name: "crm_send_email" } as const;
    await addStop(people.store.asPlatform(), { ...stop, reason: "we look into it" });
    assert.equal((await say({ to: "desk@sealoop.local" })).status, 403);
    assert.equal((await say({ channel: "feed" })).status, 200, "it is no mail");
    await removeStop(people.store.asPlatform(), stop);

    const { messages } = await listMessages(db, { kind: "said", channel: "email" }, 10);
    assert.deepEqual(messages.map(({ id }) => id), [held.message_id, near.message_id]);
    const [decision] = (await listDecisions(db, { limit: 50 }))
      .filter(({ operation, id }) => operation === "comms.send" && sent.endsWith(id.slice(4, 16)));
    const call = { operation: "comms.send", decisionId: decision!.id, since: new Date() };
    const recovery = await recoverCall(people.platform, call);
    assert.equal(recovery.state, "done");
    assert.equal((recovery as Json).output.message_id, near.message_id);
    assert.equal((recovery as Json).output.deliveries[0].state, "delivered");
  });

  it("does not send what people deny, unless they reopen and approve it", async () => {
    stub.taken.length = 0;
    await agreed("cy@example.org");
    const { email_id, approval_id } = await send({ to: "cy@example.org", body: "On 10.1.2.3" });
    const vote = async (how: "approve" | "deny" | "reopen") =>
      assert.equal((await people.vote(approval_id, how, "ann")).status, 200);
    await vote("deny");
    const { state, code } = await ended(email_id);
    assert.deepEqual([state, code, stub.taken.length], ["not_sent", "approval_denied", 0]);
    await vote("reopen");
    await vote("approve");
    await people.eventually(async () => {
      const email = await getEmail(people.store.db, email_id);
      return email?.state === "sent" && email.receiptId ? true : undefined;
    });
    assert.equal(stub.taken.length, 1);
    const isNeeded = (kind: "mail.unknown" | "approval.requested") =>
      needsPeople(people.store.db, { kind, refs: { approval_id } });
    assert.equal(await isNeeded("approval.requested"), false);
    assert.ok(await isNeeded("mail.unknown"), "the approval is not what it asks people about");
  });

  it("has nobody approve a mail in vain that was cancelled while it waited", async () => {
    await agreed("dee@example.org");
    const { email_id, approval_id } = await send({ to: "dee@example.org", body: "On 10.1.2.3" });
    const asking = people.loop.client.workflow.getHandle(`approval-${approval_id}`);
    await people.eventually(() => asking.describe().then(() => true, () => undefined));
    await people.loop.client.workflow.getHandle(`sendEmail-${email_id}`).cancel();
    assert.equal((await ended(email_id)).code, "cancelled");
    await assert.rejects(asking.result(), "it ends with the mail's run");
    const { body } = await people.call("POST", `/v1/approvals/${approval_id}/reopen`, "ann");
    assert.match(body.detail, /has ended \(not_sent\)/);
  });

  it("does not send what people approve once the key that asked is revoked", async () => {
    const fields = {
      tenant: "platform",
      tier: "partner",
      scope: "full",
      principal: "hal",
      mayApprove: false,
      expiresAt: null,
    } as const;
    const { record } = await issueSealedKey(people.store, "operator", fields, {});
    await agreed("hal@example.org");
    const { email_id, approval_id } = await sendMail(people.platform, {
      id: "EML-0123456789ab",
      kind: "mail",
      to: "hal@example.org",
      subject: "Maintenance",
      body: "On 10.1.2.3",
      askedBy: record.principal,
      askedByKey: record.id,
    });
    await revokeSealedKey(people.platform, "operator", record.id);
    assert.equal((await people.vote(approval_id!, "approve", "ann")).status, 200);
    const { state, code } = await ended(email_id);
    assert.deepEqual([state, code], ["not_sent", "key_revoked"]);
  });

  it("delivers to each spelling of an address that opting out tells apart", () => {
    const folderOf = (local: string) =>
      mailboxFolder("data", parseAddress(`${local}@sealoop.local`)!);
    const spellings = ["ada", "a!da", "a_da"];
    assert.equal(new Set(spellings.map(folderOf)).size, spellings.length);
    assert.equal(folderOf("ada+news"), folderOf("ada"), "a sub-address is its mailbox");
  });

  it("tries again only while nothing was sent", async () => {
    stub.taken.length = 0;
    await agreed("dee@example.org");
    for (const leavesAt of ["EHLO", "MAIL", "RCPT", "DATA"] as const) {
      stub.script = {
        leavesAt,
        onMoment: (moment) =>
          void (moment === leavesAt && (stub.script = { leavesAt: "answered" })),
      };
      const { email_id } = await send({ to: "dee@example.org", body: `Left at ${leavesAt}` });
      const { state, attempts } = await ended(email_id);
      assert.deepEqual([state, attempts], ["sent", 2], leavesAt);
    }
    assert.equal(stub.taken.length, 4);
  });

  it("tells a person how to find out where the answer was lost, and does not send again", async () => {
    stub.taken.length = 0;
    await agreed("eve@example.org");
    stub.script = { leavesAt: "dot" };
    const { email_id, message_id } = await send({ to: "eve@example.org" });
    const { state, code, attempts } = await ended(email_id);
    assert.deepEqual([state, code, attempts], ["unknown", "answer_lost", 1]);
    stub.script = { leavesAt: "answered" };
    assert.equal(stub.taken.length, 1);
    const { messages } = await listMessages(people.store.db, { kind: "mail.unknown" }, 1);
    assert.ok(messages[0]!.text.includes(message_id), messages[0]!.text);
  });

  it("ends a mail whose workflow was ended from outside, and seals that", async () => {
    const { email_id, workflow_id } = await send({ to: "ops@sealoop.local", body: "On 10.1.2.3" });
    await people.loop.client.workflow.getHandle(workflow_id).terminate("by hand");
    await asSuperuser(people.store).execute(
      "UPDATE emails SET created_at = now() - interval '1 hour' WHERE id = $1",
      [email_id],
    );
    await people.loop.client.workflow.execute(WORKFLOW.reconcileRuns, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "reconcile-mail",
      args: [],
    });
    const { state, code } = await ended(email_id);
    assert.deepEqual([state, code], ["not_sent", "cancelled"]);
  });

  it("has a person look at mail for those who have not agreed to it", async () => {
    await addContact(people.store.db, { name: "Fay", email: "fay@example.org" }, {
      email: "none",
      basis: null,
    });
    assert.equal((await send({ to: "fay@example.org" })).findings[0].code, "no_consent");
    assert.equal((await send({ to: "gus@example.org" })).findings[0].code, "unknown_recipient");
  });

  it("refuses a subject that would add fields to the header", async () => {
    assert.match(await fail({ to: "ops@sealoop.local", subject: "Hi\r\nBcc: x@y.z" }), /one line/);
    assert.match(await fail({ to: "ops@sealoop.local\nBcc: x@y.z" }), /plain address/);
    assert.match(await fail({ to: "a@x.org, b@x.org" }), /plain address/);
  });
});

describe("crm_send_email without a relay", () => {
  it("says not_configured where the relay's password can't be read", async () => {
    const config = loadConfig({ SEALOOP_SMTP_URL: "smtps://robot@mail.example.org" });
    const checking = checkMail({ config } as MailParts, { to: "ada@example.org", kind: "notice" });
    await assert.rejects(checking, { name: "NotConfigured", message: /SMTP_PASSWORD_FILE/ });
  });

  it("says not_configured of an address elsewhere", async () => {
    const people = await openPeople({ SEALOOP_MAIL_PORT: String(await freePort()) });
    try {
      const agent = await people.agent();
      const { isError, content } = await agent.callTool({
        name: "crm_send_email",
        arguments: { to: "ada@example.org", subject: "Hi", body: "Hello" },
      }) as Json;
      assert.ok(isError);
      assert.match(content[0].text, /SEALOOP_SMTP_URL/);
    } finally {
      await people.stop();
    }
  });
});
