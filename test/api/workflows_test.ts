import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { Client, Connection } from "@temporalio/client";
import { PLATFORM_TENANT, tenantAttribute } from "../../contract/domain/mod.ts";
import { registry } from "../../operations/mod.ts";
import { hashKey, type NewKey } from "../../store/keys/mod.ts";
import { clientFor } from "../../runtime/temporal/mod.ts";
import { setGovernance } from "../_governance.ts";
import { testTemporal } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";
import { eventually, runInOneMinute } from "../_time.ts";
import { WORKFLOW_TYPES } from "../workflows/_histories.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

describe("the list of workflow types", () => {
  it("has every type that workers run, and says of each whether callers may start it", async () => {
    const listTypes = registry.get("workflows.types")!;
    const { types } = await listTypes.run({}, { operations: registry } as never) as {
      types: { type: string; startable: boolean; operation: string | null }[];
    };
    assert.deepEqual(types.map(({ type }) => type).sort(), [...WORKFLOW_TYPES].sort());
    const startable = types.flatMap((one) => one.startable ? [one.operation] : []);
    assert.deepEqual(startable.sort(), [
      "approvals.create",
      "articles.deploy",
      "articles.generate",
      "attacks.simulate",
      "crew.dispatch",
      "devices.command",
      "devices.discover",
      "itsm.loop",
      "itsm.test",
      "mail.send",
      "reasoning.invoke",
      "security.scan",
      "tenants.sync",
      "video.render",
      "voice.speak",
      "voice.transcribe",
    ]);
  });
});

describe("POST /v1/workflows/start", () => {
  let gateway: TestGateway;
  let key: string;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_LIMIT_SIMULATE: "1" } });
    await setGovernance(gateway.platform.store, {
      rules: [{ name: "no-tests", when: { tools: ["itsm_run_test"] }, then: "deny" }],
    });
    key = await gateway.key();
  });
  after(() => gateway?.stop());

  async function start(body: object, headers: Record<string, string> = {}) {
    const answer = await fetch(`${gateway.url}/v1/workflows/start`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": key, ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  }
  const dry = { "x-dry-run": "true" };

  it("is decided on as a call of the operation that starts the type", async () => {
    const { status, body } = await start({ type: "itsmTest", input: { scenario: "hang" } });
    assert.deepEqual([status, /no-tests/.test(body.detail)], [403, true]);
    const { body: { governance } } = await start({ type: "itsmTest" }, dry);
    assert.deepEqual([governance.decision, governance.rule, governance.arguments.scenario], [
      "deny",
      "no-tests",
      "crash",
    ]);
  });

  it("takes what both ask of a key, and counts against the limit of the operation", async () => {
    const free = { "x-api-key": await gateway.key({ tier: "free" }) };
    assert.equal((await start({ type: "attackSimulation" }, free)).status, 403);
    const drill = { type: "attackSimulation", input: { scenario: "port_scan" } };
    const [first, { status, body }] = await runInOneMinute(10, async () => {
      const as = { ...dry, "x-api-key": await gateway.key() };
      return [await start(drill, as), await start(drill, as)] as const;
    });
    assert.equal(first.status, 200);
    assert.deepEqual([status, /1\/minute of simulate/.test(body.detail)], [429, true]);
  });

  it("says what is wrong where it was written, and which types there are", async () => {
    const { status, body } = await start({ type: "itsmTest", input: { scenario: "flood" } });
    assert.deepEqual([status, body.detail[0].loc], [422, ["body", "input", "scenario"]]);
    assert.equal((await start({ type: "itsmTest", input: 1 })).status, 422);
    assert.equal((await start({ type: "itsmTest", more: 1 })).status, 422);
    assert.equal((await start({ type: "none" })).status, 404);
    assert.equal((await start({ type: "scrubLedger" })).status, 409);
  });
});

describe("a gateway that is about to end", () => {
  it("answers calls that wait with how it stands, instead of cutting them off", async () => {
    const { address, namespace } = await testTemporal();
    const connection = await Connection.connect({ address });
    const gateway = await startGateway(); // without a sequencer
    const client = clientFor(new Client({ connection, namespace }), gateway.platform.store);
    Object.assign(gateway.platform, { temporal: () => Promise.resolve(client) });
    try {
      const workflowId = randomUUID();
      await client.workflow.start("itsmSweep", {
        taskQueue: "nobody",
        workflowId,
        args: [{}],
        typedSearchAttributes: [tenantAttribute(PLATFORM_TENANT)],
      });
      const key = await gateway.key({ tier: "admin" });
      const event = { service: "billing", event: "backup", status: "complete" };
      const waits = Promise.all([
        gateway.call(key, "GET", `/v1/workflows/${workflowId}/result?timeout_seconds=60`),
        gateway.call(key, "POST", "/api/v1/receipts/seal", event),
      ]);
      const outbox = asSuperuser(gateway.platform.store);
      await eventually(() => outbox.first("SELECT FROM seal_outbox WHERE category = 'api_seal'"));
      gateway.endWaits();
      await gateway.drain(60_000);
      const [run, sealed] = await waits;
      assert.deepEqual([run.status, run.body.status], [200, "RUNNING"]);
      assert.equal(sealed.status, 503);
      assert.match(sealed.body.detail, /stopping; the receipt will still be sealed/);
    } finally {
      await gateway.stop();
      await connection.close();
    }
  });
});

describe("GET /v1/workflows/{workflow_id}/result", () => {
  let gateway: TestGateway;
  let connection: Connection;
  let client: Client;
  before(async () => {
    const { address, namespace } = await testTemporal();
    connection = await Connection.connect({ address });
    gateway = await startGateway();
    client = clientFor(new Client({ connection, namespace }), gateway.platform.store);
    Object.assign(gateway.platform, { temporal: () => Promise.resolve(client) });
  });
  after(async () => {
    await gateway?.stop();
    await connection?.close(); // fails the test where Temporal is still being asked
  });

  /** A run that nobody works on. */
  async function started(
    type: string,
    asked: object | string,
    prefix = "",
    tenant = PLATFORM_TENANT,
  ): Promise<string> {
    const workflowId = prefix + randomUUID();
    await client.workflow.start(type, {
      taskQueue: "nobody",
      workflowId,
      args: [asked],
      typedSearchAttributes: [tenantAttribute(tenant)],
    });
    return workflowId;
  }
  async function statusFor(fields: Partial<NewKey>, workflowId: string): Promise<number> {
    const headers = { "x-api-key": await gateway.key(fields) };
    const path = `/v1/workflows/${workflowId}/result?timeout_seconds=0`;
    return (await fetch(gateway.url + path, { headers })).status;
  }

  it("gives what somebody asked in words to the key that asked, and to admins", async () => {
    const key = await gateway.key();
    const by = hashKey(key).toString("hex").slice(0, 16);
    const runs = [
      await started("a2aTask", { key_id: by }),
      await started("reasoning", { requested_by: `key:${by}` }),
      await started("crew", { requested_by: `key:${by}` }),
    ];
    for (const run of runs) {
      const own = await fetch(`${gateway.url}/v1/workflows/${run}/result?timeout_seconds=0`, {
        headers: { "x-api-key": key },
      });
      const result = await own.json() as { status: string };
      assert.equal(result.status, "RUNNING", JSON.stringify(result));
      assert.equal(await statusFor({}, run), 403);
      assert.equal(await statusFor({ tier: "admin" }, run), 200);
    }
    assert.equal(await statusFor({}, await started("itsmLoop", {})), 200);
    assert.equal(await statusFor({}, await started("a2aTask", { key_id: "a2a-token" })), 200);
  });

  it("of what a tenant's key has started is that tenant's, as is cancelling it", async () => {
    const key = await gateway.key({ tenant: "acme" });
    const by = `key:${hashKey(key).toString("hex").slice(0, 16)}`;
    const ask = async (path: string, key: string, method = "GET") => {
      const headers = { "x-api-key": key };
      const answer = await fetch(`${gateway.url}/v1/workflows/${path}`, { method, headers });
      const { detail } = await answer.json() as { detail?: string };
      return { status: answer.status, detail };
    };
    const keys = {
      rival: await gateway.key({ tenant: "rival" }),
      colleague: await gateway.key({ tenant: "acme" }),
      admin: await gateway.key({ tenant: "operators", tier: "admin" }),
    };
    const drill = await started("attackSimulation", { requested_by: by }, "", "acme");
    const sweep = await started("itsmSweep", by, "", "acme");
    for (const run of [drill, sweep]) {
      for (const path of [run, `${run}/history`, `${run}/result?timeout_seconds=0`]) {
        const { status, detail } = await ask(path, keys.rival);
        assert.deepEqual([status, detail], [404, `There is no workflow ${run}`], path);
        for (const one of [key, keys.colleague, keys.admin]) {
          assert.equal((await ask(path, one)).status, 200, path);
        }
      }
    }
    for (const one of [keys.colleague, keys.admin]) {
      const loop = await started("itsmLoop", { requested_by: by }, "loop-", "acme");
      const { status, detail } = await ask(`${loop}/cancel`, keys.rival, "POST");
      assert.deepEqual([status, detail], [404, `There is no workflow ${loop}`]);
      assert.equal((await ask(`${loop}/cancel`, one, "POST")).status, 200);
    }
    const own = await started("itsmLoop", {}, "loop-", "rival");
    assert.equal((await ask(`${own}/cancel`, keys.rival, "POST")).status, 200);
  });

  it("is not listed of conversations, but to admins", async () => {
    const conversation = await started("a2aTask", { key_id: "somebody" });
    const drill = await started("attackSimulation", {});
    const listed = async (fields: Partial<NewKey>) => {
      const headers = { "x-api-key": await gateway.key(fields) };
      const answer = await fetch(`${gateway.url}/v1/workflows?limit=200`, { headers });
      const { workflows } = await answer.json() as { workflows: { workflow_id: string }[] };
      const ids = workflows.map(({ workflow_id }) => workflow_id);
      return [drill, conversation].map((id) => ids.includes(id));
    };
    // Lists lag a moment behind, each run by itself.
    await eventually(async () => (await listed({ tier: "admin" })).every(Boolean) || undefined);
    assert.deepEqual(await listed({}), [true, false]);
  });

  it("is 404 of a run that there is not, as is all else that is asked of it", async () => {
    const headers = { "x-api-key": await gateway.key() };
    for (const path of ["", "/result?timeout_seconds=0", "/history"]) {
      const response = await fetch(`${gateway.url}/v1/workflows/loop-none${path}`, { headers });
      assert.equal(response.status, 404, path);
    }
    const cancelled = await fetch(`${gateway.url}/v1/workflows/loop-none/cancel`, {
      method: "POST",
      headers,
    });
    assert.equal(cancelled.status, 404);
  });
});
