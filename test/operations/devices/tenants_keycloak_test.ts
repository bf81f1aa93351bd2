/** Organizations with Keycloak as their identity provider, played by a server in the documented shapes. */
import assert from "node:assert/strict";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { settleOpenActs } from "../../../activities/acts/mod.ts";
import { tenantsKind } from "../../../activities/mod.ts";
import { receiptIdOf } from "../../../calls/mod.ts";
import { findReceipt } from "../../../ledger/mod.ts";
import { openAct } from "../../../store/acts/mod.ts";
import { openPeople, type People } from "../../api/_people.ts";
import { asSuperuser } from "../../_superuser.ts";
import {
  type HostileServer,
  SECRET,
  startHostileServer,
} from "../../integrations/remote/_hostile.ts";
import { answerAsKeycloak } from "../../integrations/remote/_identity.ts";

describe("organizations at Keycloak", () => {
  let server: HostileServer;
  let keycloak: ReturnType<typeof answerAsKeycloak>;
  let people: People;
  before(async () => {
    server = await startHostileServer();
    keycloak = answerAsKeycloak(server);
    people = await openPeople({
      SEALOOP_KEYCLOAK_URL: `${server.url}/realms/acme`,
      SEALOOP_CREDENTIALS: JSON.stringify({ keycloak: SECRET }),
    });
  });
  after(async () => {
    await people?.stop();
    server.close();
  });

  const create = async (body: object) => {
    const made = await people.call("POST", "/v1/tenants", "admin", body);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    return { made: made.body, result: await resultOf(made.body) };
  };
  const sync = async (body = {}) =>
    await resultOf((await people.call("POST", "/v1/tenants/sync", "admin", body)).body);
  const resultOf = ({ workflow_id }: { workflow_id: string }) =>
    people.eventually(async () => {
      const { body } = await people.call("GET", `/v1/workflows/${workflow_id}/result`, "admin");
      return body.result ?? undefined; // it may still run
    });
  const tenant = async (id: string) => {
    const { body } = await people.call("GET", "/v1/tenants", "admin");
    return body.tenants.find((one: { org_id: string }) => one.org_id === id);
  };
  const named = (id: string) =>
    keycloak.organizations.filter(({ attributes }) => attributes.sealoop_tenant?.includes(id));

  it("are registered there once, and the intent is sealed before", async () => {
    const { made, result } = await create({ name: "Acme Ltd", domains: ["acme.example"] });
    assert.deepEqual([made.idp.mode, made.status], ["keycloak", "pending"]);
    assert.deepEqual([result.created, result.failed], [["acme-ltd"], []]);
    assert.equal(named("acme-ltd").length, 1);
    const { status, idp } = await tenant("acme-ltd");
    assert.deepEqual([status, idp.mode, idp.id], ["active", "keycloak", named("acme-ltd")[0]!.id]);
    await people.sealed(result.receipt_id);
    const receipt = (await findReceipt(people.store, result.receipt_id)).text;
    assert.doesNotMatch(receipt, /acme/i, "the ledger is public");
    const intent = receiptIdOf(made, "INTENT");
    await people.sealed(intent);
    const { text } = await findReceipt(people.store, intent);
    assert.match(text, /"category":"tenants_sync_intended"/);
    assert.doesNotMatch(text, /acme/i);
  });

  it("whose run was ended are sealed as far as Keycloak shows them", async () => {
    const run = {
      workflow_id: "tenants-sync-ended",
      run_id: "12345678-1234-4234-8234-123456789abc",
    };
    const plan = { created: ["acme-ltd", "lost"], updated: [], missing: [], ambiguous: [] };
    await asSuperuser(people.store).transaction((trx) =>
      openAct(trx, { kind: "tenants", id: run.run_id, run, act: { ...plan, conflicts: [] } })
    );
    const settle = () => settleOpenActs(people.loop, { tenants: tenantsKind });
    assert.deepEqual([await settle(), await settle()], [1, 0]);
    const id = receiptIdOf(run, "SYNC");
    await people.sealed(id);
    const { outcome, details } = JSON.parse((await findReceipt(people.store, id)).text);
    assert.deepEqual([outcome, details.created, details.unknown], ["unknown", 1, 1]);
  });

  it("are not made again by a repeated run, also where the first answer was lost", async () => {
    keycloak.afterAdding = (_, response) => {
      response.destroy();
      return true;
    };
    const { result } = await create({ name: "Lost answer" });
    assert.deepEqual(result.created, ["lost-answer"]);
    keycloak.afterAdding = () => false;
    await sync();
    await sync();
    assert.equal(named("lost-answer").length, 1);
  });

  it("tell what was not done and what is unknown, and are registered later", async () => {
    const act = (request: { method?: string | undefined }) => request.method === "POST";
    keycloak.before = (request, response) => {
      if (act(request)) response.writeHead(403).end();
      return act(request);
    };
    const refused = await create({ name: "Refused" });
    assert.deepEqual(refused.result.failed, [{
      org_id: "refused",
      outcome: "not_done",
      reason: "Keycloak does not accept our credential (403)",
    }]);
    assert.equal((await tenant("refused")).status, "failed");
    keycloak.before = (request, response) => {
      if (act(request)) response.destroy();
      return act(request);
    };
    const unknown = await create({ name: "Unknown" });
    assert.equal(unknown.result.failed[0].outcome, "unknown");
    assert.equal((await tenant("unknown")).status, "pending");
    keycloak.before = () => false;
    const { created } = await sync();
    assert.ok(["refused", "unknown"].every((id) => created.includes(id)));
    assert.deepEqual([named("refused").length, named("unknown").length], [1, 1]);
  });

  it("that Keycloak has lost are reported, and not made again", async () => {
    keycloak.organizations.splice(keycloak.organizations.indexOf(named("acme-ltd")[0]!), 1);
    assert.deepEqual((await sync({ dry_run: true })).missing, ["acme-ltd"]);
    assert.deepEqual((await sync()).missing, ["acme-ltd"]);
    assert.deepEqual([named("acme-ltd").length, (await tenant("acme-ltd")).status], [0, "failed"]);
  });

  it("leave no secret in receipts, the database and Temporal's histories", async () => {
    const rows = await asSuperuser(people.store).query<{ text: string }>(
      `SELECT o::text AS text FROM seal_outbox o UNION ALL SELECT e::text FROM evidence e
       UNION ALL SELECT d::text FROM governance_decisions d UNION ALL SELECT p::text FROM private_texts p
       UNION ALL SELECT t::text FROM tenants t`,
    );
    assert.ok(rows.length > 0);
    for (const id of ["tenants-sync", "tenant-acme-ltd", "tenant-refused", "tenant-unknown"]) {
      const history = await people.loop.client.workflow.getHandle(id).fetchHistory();
      rows.push({
        text: historyToJSON(history).replace(
          /"data": "([^"]*)"/g,
          (_, data) => Buffer.from(data, "base64").toString(),
        ),
      });
    }
    assert.match(rows.at(-1)!.text, /registerTenants.*"unknown"/s);
    assert.doesNotMatch(rows.at(-1)!.text, /Keycloak/, "reasons stay in the database");
    assert.doesNotMatch(rows.map(({ text }) => text).join("\n"), new RegExp(`${SECRET}|eyJhbGci`));
  });
});
