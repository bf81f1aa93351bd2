import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { receiveMail } from "../../operations/mail/sending/mod.ts";
import type { Context } from "../../calls/mod.ts";
import { recoverCall } from "../../calls/recover/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { optOut } from "../../operations/crm/records/mod.ts";
import {
  mailboxFolder,
  type MailReceiver,
  parseAddress,
  startReceiver,
} from "../../integrations/mail/mod.ts";
import { addContact, listActivities } from "../../store/crm/mod.ts";
import { getEvent } from "../../store/calendar/mod.ts";
import { freePort } from "../_run.ts";
import { asSuperuser } from "../_superuser.ts";
import type { Watch } from "../workflows/_loop.ts";
import { openPeople, type People } from "./_people.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
type Json = any;

const SEQUENCES = [
  {
    sequence: "short",
    steps: [
      { after: "0s", subject: "First, {name}", body: "Hello {name}" },
      { after: "1s", subject: "Second", body: "Hello again" },
    ],
  },
  {
    sequence: "slow",
    steps: [
      { after: "0s", subject: "First", body: "Hello" },
      { after: "1s", subject: "Second", body: "Hello again" },
    ],
  },
  {
    sequence: "flagged",
    steps: [
      { after: "0s", subject: "First", body: "Charge 4111 1111 1111 1111" },
      { after: "0s", subject: "Second", body: "Hello again" },
    ],
  },
];

describe("sequences and appointments", () => {
  let people: People;
  let receiver: MailReceiver;
  let agent: Awaited<ReturnType<People["agent"]>>;
  /** Second mails wait for it. */
  let held = Promise.resolve();
  /** Number of times that a worker began to plan or to send a second mail. */
  let tries = 0;
  const watch: Watch = async (moment, activity, args) => {
    if (moment !== "before" || !/^(plan|run)SequenceStep$/.test(activity)) return;
    if ((args[0] as { step: number }).step < 2) return;
    if (activity === "runSequenceStep") await held;
    tries++;
  };
  before(async () => {
    const settings = { SEALOOP_MAIL_PORT: String(await freePort()) };
    people = await openPeople(settings, [], undefined, watch);
    const { config } = people.loop;
    receiver = await startReceiver(config, (mail) => receiveMail(people.loop, mail));
    agent = await people.agent();
    await mkdir(config.dataDir, { recursive: true });
    const rules = JSON.stringify({ sequences: SEQUENCES });
    await writeFile(join(config.dataDir, "sealoop.mail.yaml"), rules);
  });
  after(async () => {
    await people?.stop();
    await receiver?.close();
  });

  async function call(name: string, input: Record<string, unknown>): Promise<Json> {
    const { isError, structuredContent, content } = await agent.callTool({
      name,
      arguments: input,
    }) as Json;
    return isError ? { error: content[0].text } : structuredContent;
  }
  const add = async (name: string) =>
    (await addContact(people.store.db, { name, email: `${name}@sealoop.local` }, {
      email: "opt_in",
      basis: "form",
    }))!;
  async function mailbox(name: string): Promise<string[]> {
    const address = parseAddress(`${name}@sealoop.local`)!;
    const folder = join(mailboxFolder(people.loop.config.dataDir, address), "new");
    const names = await readdir(folder).catch(() => []);
    return await Promise.all(names.map((one) => readFile(join(folder, one), "utf8")));
  }
  async function run(contact_id: string, workflow: string): Promise<Json> {
    const { workflow_id, run_id } = await call("crm_trigger_workflow", { contact_id, workflow });
    return await people.loop.client.workflow.getHandle(workflow_id, run_id);
  }
  async function newestTo(address: string) {
    const [row] = await people.store.db.query<{ id: string; approvalId: string; keyId: string }>(
      `SELECT id, approval_id AS "approvalId", asked_by_key AS "keyId" FROM emails WHERE recipient = $1 ORDER BY created_at DESC LIMIT 1`,
      [address],
    );
    return row;
  }
  /** Keeps second mails back from now on. @returns the function that lets them go */
  function holdSecondMails(): () => void {
    let release = () => {};
    held = new Promise((resolve) => release = resolve);
    return release;
  }
  const firstMail = (name: string) => people.eventually(async () => (await mailbox(name))[0]);

  it("sends all mails of a sequence, in the contact's name, and records it", async () => {
    const contact = await add("ada");
    const { outcome, steps } = await (await run(contact, "short")).result();
    assert.deepEqual([outcome, steps], ["completed", 2]);
    const mails = await people.eventually(async () => {
      const all = await mailbox("ada");
      return all.length === 2 ? all : undefined;
    });
    assert.ok(mails.some((text) => /^Subject: First, ada\r$/m.test(text)));
    const { activities } = await listActivities(people.store.db, {
      contact_id: contact,
      limit: 20,
    });
    const kinds = activities.map(({ kind }) => kind);
    assert.ok(
      kinds.includes("sequence.started") && kinds.includes("sequence.ended"),
      String(kinds),
    );
  });

  it("ends a sequence when the contact answers", async () => {
    const contact = await add("bob");
    const release = holdSecondMails();
    const handle = await run(contact, "slow");
    const [, messageId] = /^Message-ID: (<.*>)\r$/mi.exec(await firstMail("bob"))!;
    const bytes = Buffer.from(
      `From: bob@sealoop.local\r\nIn-Reply-To: ${messageId}\r\nSubject: Re: First\r\n\r\nThank you\r\n`,
    );
    await receiveMail(people.loop, { from: "bob@sealoop.local", bytes });
    release();
    const { outcome, steps } = await handle.result();
    assert.deepEqual([outcome, steps], ["replied", 1]);
  });

  it("ends a sequence when the contact opts out", async () => {
    const contact = await add("cy");
    const release = holdSecondMails();
    const handle = await run(contact, "slow");
    await firstMail("cy");
    const how = { basis: "on the phone", actor: "test", action: "test" };
    await people.store.db.transaction((trx) => optOut(trx, contact, how));
    release();
    const { outcome } = await handle.result();
    assert.equal(outcome, "opted_out");
    assert.equal((await mailbox("cy")).length, 1);
    assert.match(
      (await call("crm_trigger_workflow", { contact_id: contact, workflow: "slow" })).error,
      /opted out/,
    );
  });

  for (
    const [how, name, end] of [
      ["approve", "gil", ["completed", 2]],
      ["deny", "hal", ["not_sent", 0]],
    ] as const
  ) {
    it(`waits while a mail waits for people, who ${how} it`, async () => {
      const handle = await run(await add(name), "flagged");
      const { id, approvalId } = await people.eventually(() => newestTo(`${name}@sealoop.local`));
      assert.equal((await people.vote(approvalId, how, "ann")).status, 200);
      const { outcome, steps } = await handle.result();
      assert.deepEqual([outcome, steps], end);
      const { id: last } = (await newestTo(`${name}@sealoop.local`))!;
      assert.equal(last === id, how === "deny");
    });
  }

  it("goes on after a mistake in the file is corrected", async () => {
    const path = join(people.loop.config.dataDir, "sealoop.mail.yaml");
    const release = holdSecondMails();
    const handle = await run(await add("ida"), "slow");
    await firstMail("ida");
    await writeFile(path, "sequences: 7");
    release();
    const before = tries;
    await people.eventually(() => Promise.resolve(tries > before + 2 || undefined)); // some of them in vain
    await writeFile(path, JSON.stringify({ sequences: SEQUENCES }));
    const { outcome, steps } = await handle.result();
    assert.deepEqual([outcome, steps], ["completed", 2]);
  });

  it("refuses a sequence that is not there, and names those that are", async () => {
    const contact = await add("dee");
    const { error } = await call("crm_trigger_workflow", { contact_id: contact, workflow: "nope" });
    assert.match(error, /short, slow, flagged, welcome/);
  });

  it("books the calendar and invites the contact with what calendar programs read", async () => {
    const contact_id = await add("eve");
    const input = {
      contact_id,
      start: "2031-07-07T09:00",
      duration_minutes: 45,
      time_zone: "Europe/Vienna",
    };
    const booked = await call("crm_book_appointment", input);
    assert.deepEqual([booked.start, booked.end], [
      "2031-07-07T07:00:00.000Z",
      "2031-07-07T07:45:00.000Z",
    ]);
    const text = await firstMail("eve");
    assert.match(text, /Content-Type: text\/calendar;[^]*?method=REQUEST/i);
    const decoded = text.replace(/=\r\n/g, "") + Buffer.from(
      /text\/calendar[^]*?base64\r\n[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/i.exec(text)?.[1] ?? "",
      "base64",
    ).toString();
    assert.ok(decoded.includes("DTSTART:20310707T070000Z"), decoded);
    assert.ok(decoded.includes(booked.uid));
    const again = await call("crm_book_appointment", { ...input, start: "2031-07-07T09:30" });
    assert.match(again.error, /busy/);
  });

  it("books nothing where the invitation can't be sent, so that the call may be repeated", async () => {
    const { platform, store } = people;
    const operation = platform.operations.get("mail.appointment")!;
    const input = {
      contact_id: await add("fay"),
      start: "2031-07-08T09:00",
      duration_minutes: 30,
      time_zone: "UTC",
    };
    const decisionId = "GOV-00000000000000000000000000000001";
    const context = {
      ...platform,
      temporal: () => Promise.reject(new Problem("Unavailable", "Temporal is away")),
      caller: { keyId: people.keyId("program"), principal: "Program" },
      decisionId,
    } as unknown as Context;
    await assert.rejects(operation.run(input, context), { name: "Unavailable" });
    assert.ok((await getEvent(store.db, `EVT-${decisionId.slice(4, 16)}`))!.cancelledAt);
    const lost = { operation: operation.name, decisionId, since: new Date() };
    assert.deepEqual(await recoverCall(platform, lost), { state: "not_done" });
    assert.match((await call("crm_book_appointment", input)).event_id, /^EVT-/);
  });

  it("ends a sequence when the key that began it is revoked", async () => {
    const release = holdSecondMails();
    const handle = await run(await add("kim"), "slow");
    await firstMail("kim");
    const { keyId } = (await newestTo("kim@sealoop.local"))!;
    await asSuperuser(people.store).execute(
      "UPDATE keys SET revoked_at = now() WHERE id = $1",
      [keyId],
    );
    release();
    const { outcome, steps } = await handle.result();
    assert.deepEqual([outcome, steps], ["key_revoked", 1]);
  });
});
