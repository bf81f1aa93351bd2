import assert from "node:assert/strict";
import { sendConfirmation } from "../../operations/mail/sending/mod.ts";
import { loadConfig } from "../../config.ts";
import { eraseContact } from "../../operations/crm/records/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { storeAs } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";
import { ensureSecondsLeftInDay } from "../_time.ts";
import { type SmtpStub, startSmtpStub } from "../integrations/mail/_smtp_stub.ts";
import { openPeople, type People } from "./_people.ts";

const LEAD = {
  name: "Wilhelmina Marlowe",
  email: "mina@marlowe.example",
  message: "Please call me about the engine",
  consent: true,
};

describe("leads of a website", () => {
  let people: People;
  let stub: SmtpStub;
  before(async () => {
    await ensureSecondsLeftInDay(120); // leads are counted per day
    stub = await startSmtpStub({ leavesAt: "answered" });
    people = await openPeople({
      SEALOOP_SMTP_URL: `smtp://127.0.0.1:${stub.port}`,
      SEALOOP_LIMIT_LEADS: "13",
      SEALOOP_LIMIT_ALL_LEADS: "20",
    });
  });
  after(async () => {
    await people?.stop();
    await stub?.close();
  });

  const capture = (fields: object = {}, who?: string) =>
    people.call("POST", "/api/leads/capture", who, { ...LEAD, ...fields });
  const contacts = async () => (await people.call("GET", "/api/contacts", "admin")).body.contacts;
  /** Returns what the public ledger shows, once all leads are in it. */
  const ledgerOf = (leads: number) =>
    people.eventually(async () => {
      const all = (await exportReceipts(people.store, { from: 0, to: 10_000 }))
        .map(({ text }) => JSON.parse(text));
      return all.filter(({ action }) => action === "leads.capture").length < leads
        ? undefined
        : all;
    });
  const messages = () =>
    people.store.asPlatform().query("SELECT * FROM messages WHERE kind = 'lead.captured'");

  it("become contacts without consent, and people are told what they wrote", async () => {
    const { status, body } = await capture();
    assert.deepEqual([status, body], [200, { ok: true }]);
    const [contact] = await contacts();
    assert.deepEqual(
      [contact.name, contact.email, contact.source, contact.consent],
      [LEAD.name, LEAD.email, "website", { email: "none", at: null, basis: null }],
    );
    const [message] = await messages();
    assert.equal(message!.refs.contact_id, contact.contact_id);
    assert.match(message!.text, /Please call me about the engine/);
    const receipts = JSON.stringify(
      (await exportReceipts(people.store, { from: 0, to: 10_000 })).map(({ text }) => text),
    );
    assert.ok(!/mina|marlowe|call me/i.test(receipts), "a receipt names the person");
  });

  it("leave a contact that is there as it is, and answer the same", async () => {
    const before = await contacts();
    const { status, body } = await capture({
      name: "Somebody else",
      email: "MINA@marlowe.example",
      source: "attack",
    });
    assert.deepEqual([status, body], [200, { ok: true }]);
    assert.deepEqual(await contacts(), before);
    assert.equal((await messages()).length, 2);
  });

  it("never lift an opt-out", async () => {
    const lost = { name: "Lost", email: "lost@marlowe.example" };
    const consent = { email: "opt_out", basis: "by phone" };
    await people.call("POST", "/api/contacts", "admin", { ...lost, consent });
    await capture(lost);
    const contact = (await contacts()).find(({ email }: { email: string }) => email === lost.email);
    assert.equal(contact.consent.email, "opt_out");
  });

  it("who never said anything get one mail, whose link confirms the address", async () => {
    const text = await people.eventually(() => Promise.resolve(stub.taken[0]));
    assert.match(text, /^To: mina@marlowe\.example\r$/m);
    assert.match(text, /^Auto-Submitted: auto-generated\r$/m);
    assert.doesNotMatch(text, /Wilhelmina|engine|website|attack/, "anybody can fill in a form");
    const plain = text.replaceAll("=\r\n", "").replaceAll("=3D", "=");
    const path = new URL(/http:\S+\/confirm\/\S+/.exec(plain)![0]).pathname;
    const unsubscribing = new URL(/http:\S+\/unsubscribe\/[\w-]+/.exec(plain)![0]).pathname;
    const mina = async () =>
      (await contacts()).find(({ email }: { email: string }) => email === LEAD.email);
    const open = async (link: string, method = "GET") =>
      (await fetch(people.url + link, { method })).status;

    assert.match(
      await (await fetch(people.url + path)).text(),
      /<form method="post"><button>Confirm/,
    );
    assert.equal((await mina()).consent.email, "none", "programs that scan mail open links");
    const other = unsubscribing.replace("/unsubscribe/", "/confirm/");
    for (const wrong of [`${path.slice(0, -2)}AA`, other]) {
      assert.equal(await open(wrong, "POST"), 404, wrong);
    }
    const emails = asSuperuser(people.store);
    const age =
      "UPDATE emails SET created_at = created_at + $1::interval WHERE kind = 'confirmation'";
    await emails.execute(age, ["-8 days"]);
    assert.equal(await open(path, "POST"), 404, "it is too old");
    await emails.execute(age, ["8 days"]);
    assert.equal(await open(path, "POST"), 200);
    const { consent } = await mina();
    assert.equal(consent.email, "opt_in");
    assert.match(consent.basis, /^Confirmed by the link of EML-[0-9a-f]{12}$/);
    assert.equal(await open(path, "POST"), 200);
    const sealed = await people.eventually(async () => {
      const all = (await exportReceipts(people.store, { from: 0, to: 10_000 }))
        .map(({ text }) => JSON.parse(text))
        .filter(({ action }) => action === "email.confirm");
      return all.length > 0 ? all : undefined;
    });
    assert.deepEqual(sealed.map(({ subject, details }) => [subject, details.consent]), [
      [/EML-[0-9a-f]{12}/.exec(consent.basis)![0], "opt_in"],
    ]);

    assert.equal(await open(unsubscribing, "POST"), 200);
    assert.equal(await open(path, "POST"), 404, "it lifts no opt-out");
    assert.equal((await mina()).consent.email, "opt_out");
    assert.equal(
      stub.taken.length,
      1,
      "the second form sent none, and the one of an opt-out neither",
    );
  });

  it("look alike in the public ledger, whoever is known, and have no contact in it", async () => {
    for (const name of ["yes", "no", "gone"]) {
      const consent = { email: name === "no" ? "opt_out" : "opt_in", basis: "by phone" };
      const fields = { name, email: `${name}@marlowe.example`, consent };
      await people.call("POST", "/api/contacts", "admin", fields);
    }
    const operator = await storeAs(people.store, "operator");
    await operator.db.transaction((trx) => eraseContact(trx, "gone@marlowe.example", "operator"));
    const before = await ledgerOf(3);
    for (const name of ["unknown", "unknown", "yes", "no", "gone"]) {
      await capture({ email: `${name}@marlowe.example` });
    }
    const sealed = await people.eventually(async () =>
      stub.taken.some((text) => text.includes("unknown@")) ? await ledgerOf(8) : undefined
    );
    const leads = sealed.slice(before.length).filter(({ actor }) => actor === "anonymous");
    const forms = leads.map((
      { category, outcome, action, details: { commitments, ...details } },
    ) => [category, outcome, action, details, Object.keys(commitments)]);
    assert.equal(forms.length, 5);
    for (const form of forms) assert.deepEqual(form, forms[0]);
    assert.equal(new Set(leads.map(({ subject }) => subject)).size, 5);
    const caused = sealed.filter(({ actor }) => !/^(?:key:|operator)/.test(actor));
    assert.doesNotMatch(JSON.stringify(caused), /CON-/);
    assert.doesNotMatch(
      JSON.stringify(sealed),
      /"email\.confirmation"/,
      "a mail tells who is not known",
    );
  });

  it("are asked for no consent where nobody takes the mail", async () => {
    const config = loadConfig({ SEALOOP_DATA: people.loop.config.dataDir });
    const order = {
      id: "EML-0000000000c1",
      email: "new@marlowe.example",
      receiptId: "r",
      askedByKey: null,
    };
    assert.equal(await sendConfirmation({ ...people.loop, config }, order), false);
  });

  it("of programs, and of people who did not consent, are not kept, and get the same answer", async () => {
    const before = await contacts();
    for (const fields of [{ fax_number: "555-0100" }, { consent: false }]) {
      const { status, body } = await capture({ ...fields, email: "other@marlowe.example" });
      assert.deepEqual([status, body], [200, { ok: true }]);
    }
    assert.deepEqual(await contacts(), before);
  });

  it("belong to the tenant of the key that the form sends", async () => {
    await capture({}, "rival");
    const [own] = (await people.call("GET", "/api/contacts", "rival")).body.contacts;
    assert.equal(own.email, LEAD.email);
    assert.ok(
      !(await contacts()).some(({ contact_id }: { contact_id: string }) =>
        contact_id === own.contact_id
      ),
    );
  });

  it("are refused where a field is wrong, and beyond the limit of an address", async () => {
    for (
      const wrong of [{ email: "mina" }, { name: "a\nBcc: b" }, { message: "m".repeat(4_001) }]
    ) {
      assert.equal((await capture(wrong)).status, 422, JSON.stringify(wrong));
    }
    let last = 200;
    for (let n = 0; n < 4; n++) last = (await capture({ email: `n${n}@marlowe.example` })).status;
    assert.equal(last, 429);
  });
});
