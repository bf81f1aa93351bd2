import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { exportReceipts } from "../../ledger/mod.ts";
import { testFolder } from "../_run.ts";
import { asSuperuser } from "../_superuser.ts";
import { openPeople, type People } from "./_people.ts";
import { mayMail } from "../../store/mail/mod.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
type Json = any;

describe("contacts and deals", () => {
  let people: People;
  let agent: Client;
  let pipelines: string;
  before(async () => {
    pipelines = join(await testFolder(), "pipelines.yaml");
    writeFileSync(
      pipelines,
      `pipelines:
  - pipeline: sales
    stages:
      - { stage: lead, probability: 10, stale_after_days: 5 }
      - { stage: proposal, probability: 50 }
      - { stage: won, ends: won }
      - { stage: lost, ends: lost }
  - pipeline: renewals
    stages:
      - { stage: due, probability: 90 }
      - { stage: renewed, ends: won }
      - { stage: gone, ends: lost }
`,
    );
    people = await openPeople({ SEALOOP_LIMIT_TOOLS: "1000", SEALOOP_PIPELINES: pipelines });
    agent = await people.agent();
  });
  after(() => people?.stop());

  const post = (path: string, body: object, who = "program", more = {}) =>
    people.call("POST", path, who, body, more);
  const get = async (path: string, who = "program") => (await people.call("GET", path, who)).body;
  async function use(
    name: string,
    input: object,
  ): Promise<{ isError: boolean; body: Json; text: string }> {
    const result = await agent.callTool({ name, arguments: { ...input } }) as Json;
    const text = result.content.map((part: Json) => part.text).join("\n");
    return { isError: result.isError === true, body: result.structuredContent, text };
  }
  let count = 0;
  async function addContact(fields: object = {}, who = "program"): Promise<Json> {
    const email = `person${++count}@example.com`;
    const { status, body } = await post("/api/contacts", { name: "Ada", email, ...fields }, who);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }
  async function addDeal(fields: object = {}): Promise<Json> {
    const { contact_id } = await addContact();
    const given = { title: "Engine", contact_id, currency: "EUR", amount_minor: 1000, ...fields };
    const { status, body } = await post("/api/deals", given);
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }
  async function receiptOf(id: string): Promise<Json> {
    await people.sealed(id);
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    return all.map(({ text }) => JSON.parse(text)).find((receipt) => receipt.id === id);
  }

  it("are added with an activity and a receipt that has no name, address or amount", async () => {
    const contact = await addContact({
      name: "Grace Hopperling",
      email: " Grace@Navy.Example",
      phone: "+1 202 555 0117",
      company: "Navy of Flow-Matic",
      tags: ["vip"],
      consent: { email: "opt_in", basis: "signed in ink" },
    });
    assert.match(contact.contact_id, /^CON-[0-9a-f]{12}$/);
    assert.equal(contact.email, "Grace@navy.example");
    assert.deepEqual(
      [contact.version, contact.consent.email, contact.consent.basis],
      [1, "opt_in", "signed in ink"],
    );
    const { body: deal } = await post("/api/deals", {
      title: "Compiler for Flow-Matic",
      contact_id: contact.contact_id,
      amount_minor: 987_654_321,
      currency: "USD",
      expected_close: "2026-12-24",
    });
    assert.deepEqual([deal.stage, deal.status, deal.version, deal.expected_close], [
      "lead",
      "open",
      1,
      "2026-12-24",
    ]);
    const { activities, total } = await get(`/api/activities?contact_id=${contact.contact_id}`);
    assert.equal(total, 2);
    assert.deepEqual(activities.map(({ kind }: Json) => kind), ["deal.created", "contact.created"]);
    for (const { receipt_id, contact_id } of activities) {
      assert.equal(contact_id, contact.contact_id);
      const text = JSON.stringify(await receiptOf(receipt_id));
      assert.ok(!/grace|hopper|navy|flow|987654321|202 555|signed in/i.test(text), text);
      assert.match(text, /"commitments"/);
    }
  });

  it("are listed newest first, a page after the other", async () => {
    const ids = [];
    for (let n = 0; n < 3; n++) ids.unshift((await addContact()).contact_id);
    const first = await get("/api/contacts?limit=2");
    assert.deepEqual(first.contacts.map((one: Json) => one.contact_id), ids.slice(0, 2));
    assert.ok(first.total >= 3);
    const next = await get(`/api/contacts?limit=1&before=${first.contacts[1].contact_id}`);
    assert.equal(next.contacts[0].contact_id, ids[2]);
    assert.equal((await people.call("GET", "/api/contacts?limit=501", "program")).status, 422);
    assert.equal((await people.call("GET", "/api/activities?limit=101", "program")).status, 422);
  });

  it("refuse a second contact with the same address, and name the first", async () => {
    const first = await addContact({ email: "twice@example.com" });
    const { status, body } = await post("/api/contacts", { name: "B", email: "TWICE@Example.COM" });
    assert.equal(status, 409);
    assert.equal(body.contact_id, first.contact_id);
    const found = await get("/api/contacts?email=twice%40EXAMPLE.com");
    assert.deepEqual([found.total, found.contacts[0].contact_id], [1, first.contact_id]);
    assert.equal((await get("/api/contacts?email=twice%40example.com", "rival")).total, 0);
    const again = await use("crm_create_contact", { name: "B", email: "twice@example.com" });
    assert.ok(again.isError && again.text.includes(first.contact_id), again.text);
  });

  it("merge a second contact into the first, which keeps what it has", async () => {
    const first = await addContact({
      email: "merge@example.com",
      name: "First",
      phone: "1",
      tags: ["a"],
    });
    const { status, body } = await post("/api/contacts", {
      email: "MERGE@example.com",
      name: "Second",
      phone: "2",
      company: "Both",
      tags: ["a", "b"],
      on_duplicate: "merge",
    });
    assert.equal(status, 200);
    assert.deepEqual(
      [body.contact_id, body.name, body.phone, body.company, body.tags, body.version],
      [first.contact_id, "First", "1", "Both", ["a", "b"], 2],
    );
    const { activities } = await get(`/api/activities?contact_id=${first.contact_id}`);
    assert.equal(activities[0].summary, "Merged company, tags");
    const same = await post("/api/contacts", {
      email: "merge@example.com",
      name: "x",
      on_duplicate: "merge",
    });
    assert.equal(same.body.version, 2, "nothing to add");
  });

  it("are added once by twenty callers at once", async () => {
    const answers = await Promise.all(
      Array.from(
        { length: 20 },
        () => post("/api/contacts", { name: "R", email: "race@example.com" }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array(19).fill(409)]);
    assert.equal(new Set(answers.map(({ body }) => body.contact_id)).size, 1);
  });

  it("are changed by agents, if they have read the current version", async () => {
    const { contact_id } = await addContact();
    const first = await use("crm_update_contact", { contact_id, company: "New", version: 1 });
    assert.deepEqual([first.body.company, first.body.version], ["New", 2]);
    const stale = await use("crm_update_contact", { contact_id, company: "Old", version: 1 });
    assert.ok(stale.isError && /version 2 by now/.test(stale.text), stale.text);
    const cleared = await use("crm_update_contact", { contact_id, company: null });
    assert.equal(cleared.body.company, null);
    const other = await addContact();
    const taken = await use("crm_update_contact", { contact_id, email: other.email });
    assert.ok(taken.isError && taken.text.includes(other.contact_id), taken.text);
    const missing = await use("crm_update_contact", { contact_id: "CON-000000000000", name: "x" });
    assert.match(missing.text, /There is no contact/);
  });

  it("refuse what is no address, and text that is too long", async () => {
    for (
      const email of [
        "ada",
        "Ada <ada@example.com>",
        "a@b.c\nBcc: d@e.f",
        `${"x".repeat(300)}@e.org`,
      ]
    ) {
      assert.equal((await post("/api/contacts", { name: "A", email })).status, 422, email);
    }
    for (
      const name of ["", "   ", "Ada\nBcc: x@y.example", "Ada\u0000", "A\u2028da", "n".repeat(201)]
    ) {
      assert.equal((await post("/api/contacts", { name, email: "a@b.example" })).status, 422, name);
    }
  });

  it("have agreed to mail for one address, and not for another that is put in its place", async () => {
    const { contact_id, email } = await addContact({ consent: { email: "opt_in", basis: "form" } });
    const spelled = await use("crm_update_contact", { contact_id, email: email.toUpperCase() });
    assert.equal(spelled.body.consent.email, "opt_in");
    const moved = await use("crm_update_contact", { contact_id, email: "stranger@example.com" });
    assert.equal(moved.body.consent.email, "none");
  });

  it("who opt out stay opted out, whatever an agent says", async () => {
    const { contact_id, email } = await addContact({ consent: { email: "opt_in", basis: "form" } });
    const db = people.store.asPlatform();
    assert.deepEqual(await mayMail(db, email), { allowed: true });
    const consent = { email: "opt_out", basis: "said so on the phone" };
    const out = await use("crm_update_contact", { contact_id, consent });
    assert.equal(out.body.consent.email, "opt_out");
    assert.deepEqual(await mayMail(db, email), { allowed: false, reason: "opted_out" });
    const { activities } = await get(`/api/activities?contact_id=${contact_id}&limit=1`);
    assert.equal(activities[0].kind, "contact.opted_out");
    const receipt = await receiptOf(activities[0].receipt_id);
    assert.deepEqual([receipt.category, receipt.subject], ["consent_changed", contact_id]);
    const back = { email: "opt_in", basis: "trust me" };
    const refused = await use("crm_update_contact", { contact_id, consent: back });
    assert.ok(refused.isError && /only|person/.test(refused.text), refused.text);
    const merged = await use("crm_create_contact", {
      name: "x",
      email,
      consent: back,
      on_duplicate: "merge",
    });
    assert.equal(merged.body.consent.email, "opt_out");
    const moved = await use("crm_update_contact", { contact_id, email: "elsewhere@example.com" });
    assert.equal(moved.body.consent.email, "opt_out");
    assert.equal((await mayMail(db, "elsewhere@example.com")).allowed, false);
    const fresh = await use("crm_create_contact", { name: "New", email, consent: back });
    assert.equal(fresh.body.consent.email, "opt_out", "the address is remembered");
  });

  it("who opted out are opted in by a person alone", async () => {
    const { email } = await addContact({ consent: { email: "opt_out", basis: "letter" } });
    const body = {
      name: "x",
      email,
      consent: { email: "opt_in", basis: "signed form" },
      on_duplicate: "merge",
    };
    assert.equal((await post("/api/contacts", body, "program")).body.consent.email, "opt_out");
    assert.equal((await post("/api/contacts", body, "ann")).body.consent.email, "opt_in");
    assert.deepEqual(await mayMail(people.store.asPlatform(), email), { allowed: true });
  });

  it("move through their pipeline, and every stay is kept", async () => {
    const { deal_id } = await addDeal();
    const moved = await use("crm_move_pipeline", { deal_id, stage: "proposal", version: 1 });
    assert.deepEqual([moved.body.stage, moved.body.status, moved.body.version], [
      "proposal",
      "open",
      2,
    ]);
    const won = await people.call("PATCH", `/api/deals/${deal_id}`, "program", {
      stage: "won",
      amount_minor: 1500,
    });
    assert.deepEqual([won.body.status, won.body.amount_minor, won.body.version], ["won", 1500, 4]);
    const again = await use("crm_move_pipeline", { deal_id, stage: "won" });
    assert.equal(again.body.version, 4, "it is there already");
    const { activities } = await get(`/api/activities?deal_id=${deal_id}`);
    assert.deepEqual(activities.map(({ summary }: Json) => summary), [
      "Moved from proposal to won",
      "Changed amount_minor",
      "Moved from lead to proposal",
      "Created the deal in lead",
    ]);
    const stale = await people.call("PATCH", `/api/deals/${deal_id}`, "program", {
      title: "Late",
      version: 2,
    });
    assert.deepEqual([stale.status, stale.body.version], [409, 4]);
    const wrong = await use("crm_move_pipeline", { deal_id, stage: "moon" });
    assert.match(wrong.text, /its stages are lead, proposal, won, lost/);
    const stays = await asSuperuser(people.store).query(
      "SELECT stage, left_at IS NULL AS open FROM deal_stays WHERE deal_id = $1 ORDER BY number",
      [deal_id],
    );
    assert.deepEqual(stays, [
      { stage: "lead", open: false },
      { stage: "proposal", open: false },
      { stage: "won", open: true },
    ]);
  });

  it("refuse a currency that is none, half amounts, and a contact that is not there", async () => {
    const { contact_id } = await addContact();
    const deal = { title: "t", contact_id, amount_minor: 1, currency: "EUR" };
    for (
      const wrong of [
        { currency: "EURO" },
        { currency: "eur" },
        { currency: "XQQ" },
        { amount_minor: 1.5 },
        { amount_minor: -1 },
        { amount_minor: 1e13 },
        { expected_close: "2026-02-30" },
        { pipeline: "moon" },
        { stage: "moon" },
      ]
    ) {
      assert.equal(
        (await post("/api/deals", { ...deal, ...wrong })).status,
        422,
        JSON.stringify(wrong),
      );
    }
    const missing = await post("/api/deals", { ...deal, contact_id: "CON-000000000000" });
    assert.equal(missing.status, 404);
  });

  it("have figures for each currency, from what happened", async () => {
    const db = asSuperuser(people.store);
    await db.execute("DELETE FROM deal_stays");
    await db.execute("DELETE FROM deals");
    const ids: string[] = [];
    for (const [amount_minor, currency] of [[1000, "EUR"], [2000, "EUR"], [500, "JPY"]] as const) {
      ids.push((await addDeal({ amount_minor, currency })).deal_id);
    }
    const move = (deal_id: string, stage: string) => use("crm_move_pipeline", { deal_id, stage });
    await db.execute(
      "UPDATE deal_stays SET entered_at = now() - interval '4 days' WHERE deal_id = $1",
      [ids[0]],
    );
    await db.execute(
      "UPDATE deal_stays SET entered_at = now() - interval '2 days' WHERE deal_id = $1",
      [ids[1]],
    );
    await move(ids[0]!, "proposal");
    await move(ids[1]!, "won");
    await move(ids[2]!, "lost");
    const { pipelines: all } = await get("/api/pipeline/stats");
    const stage = (entry: Json, name: string) =>
      entry.stages.find((one: Json) => one.stage === name);
    const of = (name: string, currency: string | null) =>
      all.find((one: Json) => one.name === name && one.currency === currency);
    const euro = of("sales", "EUR");
    assert.deepEqual(euro.stages.map((one: Json) => one.stage), [
      "lead",
      "proposal",
      "won",
      "lost",
    ]);
    assert.deepEqual(stage(euro, "lead"), {
      stage: "lead",
      count: 0,
      amount_minor: 0,
      weighted_minor: 0,
      median_days: 3,
    });
    assert.deepEqual(
      [stage(euro, "proposal").amount_minor, stage(euro, "proposal").weighted_minor],
      [1000, 500],
    );
    assert.deepEqual([stage(euro, "won").amount_minor, stage(euro, "won").weighted_minor], [
      2000,
      2000,
    ]);
    assert.equal(euro.win_rate, 1);
    assert.equal(of("sales", "JPY").win_rate, 0);
    assert.deepEqual([of("renewals", null).win_rate, stage(of("renewals", null), "due").count], [
      null,
      0,
    ]);
  });

  it("say on which line a file of pipelines is wrong", async () => {
    const right = await import("node:fs").then(({ readFileSync }) =>
      readFileSync(pipelines, "utf8")
    );
    writeFileSync(
      pipelines,
      "pipelines:\n  - pipeline: sales\n    stages:\n      - { stage: only, ends: won }\n",
    );
    const { status, body } = await people.call("GET", "/api/pipeline/stats", "program");
    writeFileSync(pipelines, right);
    assert.equal(status, 503);
    assert.match(body.detail, /line \d: /);
  });

  it("are told in a digest: what is new, and what waits", async () => {
    const db = asSuperuser(people.store);
    await db.execute("DELETE FROM crm_activities");
    await db.execute("DELETE FROM deal_stays");
    await db.execute("DELETE FROM deals");
    await db.execute("DELETE FROM contacts");
    const empty = await get("/api/crm/digest");
    assert.deepEqual([empty.new_contacts, empty.text], [0, "Nothing is new, and nothing waits."]);
    const { contact_id } = await addContact({ name: "Ada Lovelace" });
    const [{ deal_id }] = [await addDeal({ title: "Old" }), await addDeal({ title: "Fresh" })];
    await db.execute("UPDATE deals SET changed_at = now() - interval '6 days' WHERE id = $1", [
      deal_id,
    ]);
    await db.execute(
      "UPDATE crm_activities SET at = now() - interval '6 days' WHERE deal_id = $1",
      [deal_id],
    );
    const start = new Date(Date.now() + 3_600_000).toISOString();
    const event = { title: "Tea", start, duration_minutes: 30, contact_id };
    assert.ok((await post("/v1/calendar/events", event)).status < 300);
    const digest = await get("/api/crm/digest");
    const { since: _, text, ...counts } = digest;
    assert.deepEqual(counts, {
      new_contacts: 3,
      stale_deals: 1,
      held_emails: 0,
      replies_waiting: 0,
      appointments: 1,
    });
    assert.match(text, new RegExp(`1 stale deal:\n- Old: 6 days in lead \\(${deal_id}\\)`));
    assert.match(text, new RegExp(`- Ada Lovelace \\(${contact_id}\\)`));
    assert.match(text, /1 appointment within a day:\n- Tea/);
    const later = await get(`/api/crm/digest?since=${encodeURIComponent(start)}`);
    assert.equal(later.new_contacts, 0);
    assert.equal((await get("/api/crm/digest", "rival")).stale_deals, 0);
  });

  it("of another tenant are not there", async () => {
    const deal = await addDeal();
    assert.equal((await get("/api/contacts", "rival")).total, 0);
    const change = await people.call("PATCH", `/api/deals/${deal.deal_id}`, "rival", {
      stage: "won",
    });
    assert.equal(change.status, 404);
    const foreign = { title: "t", contact_id: deal.contact_id, currency: "EUR" };
    assert.equal((await post("/api/deals", foreign, "rival")).status, 404);
    const same = await addContact({ email: "person1@example.com" }, "rival");
    assert.match(same.contact_id, /^CON-/);
  });
});
