import assert from "node:assert/strict";
import { exportReceipts } from "../../ledger/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import { ensureSecondsLeftInDay } from "../_time.ts";
import { openPeople, type People } from "./_people.ts";

// deno-lint-ignore no-explicit-any -- whatever came over the wire
type Json = any;

const FORM = "/api/v1/website/partner-applications";
const ADMIN = "/api/v1/admin/partner-applications";
const APPLICATION = {
  name: "Wilhelmina Marlowe",
  email: "mina@marlowe.example",
  company: "Marlowe Shipping",
  message: "We would like to sell it in Rotterdam",
  consent: true,
};

describe("applications of partners", () => {
  let people: People;
  before(async () => {
    await ensureSecondsLeftInDay(120); // applications are counted per day
    people = await openPeople({
      SEALOOP_LIMIT_APPLICATIONS: "14",
      SEALOOP_LIMIT_ALL_APPLICATIONS: "20",
    });
  });
  after(() => people?.stop());

  const apply = (fields: object = {}, more = {}, who?: string) =>
    people.call("POST", FORM, who, { ...APPLICATION, ...fields }, more);
  const move = (id: number, status: string, who = "admin", more = {}) =>
    people.call("PATCH", `${ADMIN}/${id}`, who, { status, ...more });
  const list = async (query = "") => (await people.call("GET", `${ADMIN}${query}`, "admin")).body;
  async function receiptOf(id: string): Promise<Json> {
    await people.sealed(id);
    const all = await exportReceipts(people.store, { from: 0, to: 10_000 });
    return all.map(({ text }) => JSON.parse(text)).find((receipt) => receipt.id === id);
  }

  it("are taken without a key, and told to the operator by their number", async () => {
    const { status, body } = await apply({ website: "https://marlowe.example/about" });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(Object.keys(body), ["application_id", "status"]);
    assert.ok(Number.isInteger(body.application_id));
    const { applications: [kept] } = await list();
    assert.deepEqual(
      [kept.application_id, kept.name, kept.status, kept.website, kept.version],
      [body.application_id, APPLICATION.name, "new", "https://marlowe.example/about", 1],
    );
    const receipt = JSON.stringify(await receiptOf(kept.receipt_id));
    assert.ok(!/mina|marlowe|rotterdam|commitment/i.test(receipt), receipt);
    assert.match(receipt, new RegExp(`"subject":"application:${body.application_id}"`));
    const messages = await people.store.asPlatform().query("SELECT * FROM messages");
    assert.deepEqual(messages.map(({ kind, refs }) => [kind, refs.application_id]), [
      ["partner.applied", String(body.application_id)],
    ]);
    assert.ok(!/mina|marlowe|rotterdam/i.test(JSON.stringify(messages)));
  });

  it("of a program that fills in what people do not see get the same answer, and are not kept", async () => {
    const { total } = await list();
    const head = await exportReceipts(people.store, { from: 0, to: 10_000 });
    const { status, body } = await apply({ fax_number: "555-0100" });
    assert.equal(status, 200);
    assert.deepEqual(Object.keys(body), ["application_id", "status"]);
    assert.equal((await list()).total, total);
    const next = await apply();
    assert.equal(next.body.application_id, body.application_id + 1);
    assert.ok(head.length <= (await exportReceipts(people.store, { from: 0, to: 10_000 })).length);
    const rows = await people.store.asPlatform().query("SELECT FROM messages");
    assert.equal(rows.length, 2);
  });

  it("are taken once under an idempotency key", async () => {
    const key = { "idempotency-key": "form-0001" };
    const first = await apply({}, key);
    const again = await apply({}, key);
    assert.deepEqual(again.body, first.body);
    assert.equal((await apply({ name: "Other" }, key)).status, 409);
  });

  it("are refused without consent, and where a field is missing, wrong or too long", async () => {
    for (
      const wrong of [
        { consent: false },
        { consent: undefined },
        { consent: "true" },
        { email: "mina" },
        { name: " " },
        { message: "m".repeat(4_001) },
        { website: "javascript:alert(1)" },
        { website: "marlowe" },
        { status: "approved" },
      ]
    ) {
      assert.equal((await apply(wrong)).status, 422, JSON.stringify(wrong));
    }
    assert.equal((await apply({ message: "m".repeat(1_100_000) })).status, 413);
  });

  it("move as the contract says, by admins alone, and each move is sealed", async () => {
    const { body: { application_id: id } } = await apply();
    assert.equal((await people.call("GET", ADMIN)).status, 401);
    assert.equal((await people.call("GET", ADMIN, "program")).status, 403);
    assert.equal((await move(id, "reviewing", "program")).status, 403);
    const wrong = await move(id, "approved");
    assert.equal(wrong.status, 409);
    assert.match(wrong.body.detail, /it is new, and it can become reviewing/);
    assert.equal((await move(id, "reviewing", "admin", { version: 7 })).status, 409);
    const reviewing = await move(id, "reviewing", "admin", { version: 1 });
    assert.deepEqual([reviewing.body.status, reviewing.body.version], ["reviewing", 2]);
    assert.equal((await move(id, "rejected")).body.status, "rejected");
    assert.match((await move(id, "approved")).body.detail, /it can become reviewing/);
    assert.equal((await move(id, "reviewing")).body.status, "reviewing");
    const keys = async () => (await asSuperuser(people.store).query("SELECT FROM keys")).length;
    const before = await keys();
    const approved = await move(id, "approved");
    assert.equal(await keys(), before, "no key is issued");
    const receipt = await receiptOf(approved.body.receipt_id);
    assert.deepEqual(
      [receipt.category, receipt.subject, receipt.outcome, receipt.details.from],
      ["partner_application", `application:${id}`, "approved", "reviewing"],
    );
    assert.match((await move(id, "reviewing")).body.detail, /that is its end/);
    assert.equal((await move(999_999, "reviewing")).status, 404);
    assert.equal((await move(id, "moon")).status, 422);
    assert.equal(
      (await people.call("PATCH", `${ADMIN}/x`, "admin", { status: "new" })).status,
      422,
    );
    const { total, applications } = await list("?status=approved");
    assert.deepEqual([total, applications.length], [1, 1]);
  });

  it("are moved once by admins at once", async () => {
    const { body: { application_id: id } } = await apply();
    await move(id, "reviewing");
    const answers = await Promise.all(
      ["approved", "rejected", "approved"].map((to) => move(id, to)),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
  });

  it("of a caller with a key are the operator's, too", async () => {
    const { body } = await apply({}, {}, "rival");
    const { applications } = await list();
    assert.equal(applications[0].application_id, body.application_id);
    const own = await people.store.asTenant("elsewhere").query("SELECT FROM partner_applications");
    assert.equal(own.length, 0);
  });

  it("have limits of their own: of an address, and of all", async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++) statuses.push((await apply()).status);
    assert.ok(statuses.includes(429), statuses.join());
    assert.equal((await apply({ fax_number: "1" })).status, 429, "programs are counted alike");
    const { headers, body } = await apply();
    assert.match(body.detail, /of applications/);
    assert.ok(Number(headers.get("retry-after")) > 0);
    assert.equal((await people.call("GET", "/v1/health")).status, 200);
    const counted = await asSuperuser(people.store).query(
      "SELECT subject, used::int FROM usage WHERE kind = 'applications' ORDER BY subject",
    );
    assert.deepEqual(counted, [
      { subject: "address:127.0.0.1", used: 14 },
      { subject: "everybody", used: 14 },
    ]);
  });
});
