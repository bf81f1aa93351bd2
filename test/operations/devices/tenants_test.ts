import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { openPeople, type People } from "../../api/_people.ts";
import { findReceipt } from "../../../ledger/mod.ts";
import { asSuperuser } from "../../_superuser.ts";

describe("organizations", () => {
  let people: People;
  before(async () => {
    people = await openPeople();
  });
  after(() => people?.stop());

  const create = (body: object, who = "admin", headers = {}) =>
    people.call("POST", "/v1/tenants", who, body, headers);
  const resultOf = ({ workflow_id }: { workflow_id: string }) =>
    people.eventually(async () => {
      const { body } = await people.call("GET", `/v1/workflows/${workflow_id}/result`, "admin");
      return body.result ?? undefined; // it may still run
    });

  it("are made with a token that is shown once, and are registered by a run", async () => {
    const { status, body } = await create({ name: "Ácme Ltd.", domains: ["acme.example"] });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal(body.org_id, "acme-ltd");
    assert.match(body.tenant_token, /^slp_tenant_[A-Za-z0-9_-]{43}$/);
    assert.ok(body.install_url.endsWith(`/v1/devices/agent/install/${body.tenant_token}`));
    const { created } = await resultOf(body);
    assert.deepEqual(created, ["acme-ltd"]);
    const list = await people.call("GET", "/v1/tenants", "admin");
    const listed = list.body.tenants.find((one: { org_id: string }) => one.org_id === "acme-ltd");
    assert.equal(listed.status, "active");
    assert.deepEqual([listed.idp.mode, listed.idp.id, listed.devices], ["built_in", "acme-ltd", 0]);
    await people.sealed(body.receipt_id);
    const receipt = (await findReceipt(people.store, body.receipt_id)).text;
    assert.doesNotMatch(receipt, /acme|Ácme/i, "the ledger is public");
    assert.match(receipt, /"category":"tenant_created"/);
  });

  it("are known by the hash of their token alone", async () => {
    const { body } = await create({ name: "Hashed" });
    const rows = await asSuperuser(people.store).query<{ text: string }>(
      `SELECT t::text AS text FROM tenant_tokens t UNION ALL SELECT k::text FROM idempotent_calls k
       UNION ALL SELECT o::text FROM seal_outbox o UNION ALL SELECT e::text FROM evidence e
       UNION ALL SELECT d::text FROM governance_decisions d UNION ALL SELECT p::text FROM private_texts p`,
    );
    const text = rows.map((row) => row.text).join("\n");
    assert.ok(!text.includes(body.tenant_token.slice("slp_tenant_".length)));
    assert.ok(text.includes(hash("sha256", body.tenant_token)));
  });

  it("are made once: a repeated call gets the same one, without the token", async () => {
    const headers = { "idempotency-key": "once-and-no-more" };
    const first = await create({ name: "Once" }, "admin", headers);
    const again = await create({ name: "Once" }, "admin", headers);
    assert.deepEqual([again.status, again.body.org_id], [200, "once"]);
    assert.equal(again.body.tenant_token, null);
    assert.equal(again.body.install_url, null);
    assert.equal(again.body.receipt_id, first.body.receipt_id);
    const other = await create({ name: "ONCE" });
    assert.deepEqual([other.status, /already/.test(other.body.detail)], [409, true]);
  });

  it("are refused with a name, an alias or a domain that is another's or can be mistaken", async () => {
    await create({ name: "Domains", domains: ["taken.example"] });
    const refused = [
      await create({ name: "Other", domains: ["taken.example"] }),
      await create({ name: "Pаypal" }), // a Cyrillic а
      await create({ name: "Ω" }),
      await create({ name: "Platform" }),
      await create({ name: "Everyone" }),
      await create({ name: "x", alias: "Not-lower" }),
      await create({ name: "x", domains: ["no domain"] }),
    ];
    assert.deepEqual(refused.map(({ status }) => status), [409, 422, 422, 409, 409, 422, 422]);
    assert.equal((await create({ name: "Theirs" }, "program")).status, 403);
  });

  it("list themselves alone, and all of them for a key of tier admin", async () => {
    const own = await people.call("GET", "/v1/tenants", "rival");
    assert.deepEqual(own.body.tenants.map((one: { org_id: string }) => one.org_id), ["elsewhere"]);
    const all = await people.call("GET", "/v1/tenants", "operator");
    const ids = all.body.tenants.map((one: { org_id: string }) => one.org_id);
    assert.ok(ids.includes("elsewhere") && ids.includes("platform") && !ids.includes("everyone"));
    assert.equal(all.body.total, ids.length);
  });

  it("are compared with the identity provider by one run, which tells of domains named twice", async () => {
    await asSuperuser(people.store).query(
      `INSERT INTO tenants (id, name, domains, status) VALUES
         ('twin-a', 'Twin A', '{twin.example}', 'pending'), ('twin-b', 'Twin B', '{twin.example}', 'pending')`,
    );
    const dry = await people.call("POST", "/v1/tenants/sync", "admin", { dry_run: true });
    const planned = await resultOf(dry.body);
    assert.ok(planned.created.includes("twin-a"));
    assert.equal(planned.receipt_id, null);
    const run = await people.call("POST", "/v1/tenants/sync", "admin", {});
    const result = await resultOf(run.body);
    assert.ok(result.created.includes("twin-b"));
    assert.deepEqual(
      result.conflicts.map(({ domain, org_ids }: Record<string, unknown>) => [
        domain,
        [...org_ids as string[]].sort(),
      ]),
      [["twin.example", ["twin-a", "twin-b"]]],
    );
    await people.sealed(result.receipt_id);
    const again = await people.call("POST", "/v1/tenants/sync", "admin", { dry_run: true });
    assert.deepEqual((await resultOf(again.body)).created, []);
  });
});
