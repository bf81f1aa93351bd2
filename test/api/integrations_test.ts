import assert from "node:assert/strict";
import { INTEGRATIONS } from "../../contract/domain/mod.ts";
import { addStop } from "../../store/calls/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import { callTool } from "./_call_tool.ts";
import { type Answer, readViews, startGateway, type TestGateway } from "./_gateway.ts";

describe("the integrations' views", () => {
  let gateway: TestGateway;
  let key: string;
  before(async () => {
    gateway = await startGateway();
    key = await gateway.key();
  });
  after(() => gateway.stop());

  const get = async (path: string, credential?: string): Promise<Answer> => {
    const response = await fetch(`${gateway.url}/v1/integrations/${path}`, {
      headers: credential ? { "x-api-key": credential } : {},
    });
    return { status: response.status, body: await response.json() };
  };

  it("lists all eight without a key, those of parts that are away as down", async () => {
    const body = await readViews(async (path) => (await get(path)).body);
    const views = Object.fromEntries(
      body.integrations.map((one: Answer["body"]) => [one.integration, one]),
    );
    assert.deepEqual(Object.keys(views), [...INTEGRATIONS]);
    assert.equal(views.policy.status, "ok");
    assert.equal(views.audit.mode, "built_in");
    assert.equal(views.rag.status, "down", "this gateway has no engine");
    assert.equal(views.rag.detail, "The engine does not answer");
    assert.equal(views.rmm.detail, "No device is enrolled");
    for (const { checked_at, latency_ms } of body.integrations) {
      assert.ok(Date.parse(checked_at) <= Date.parse(body.checked_at));
      assert.ok(latency_ms >= 0);
    }
    assert.equal((await get("all?name=grc")).body.integrations.length, 1);
    assert.equal((await get("all?name=other")).status, 422);
  });

  it("shows decisions of one's own tenant alone, at both addresses", async () => {
    const stranger = await gateway.key({ tenant: "another" });
    const title = { title: "Printer on floor 3 jams" };
    assert.equal((await gateway.call(key, "POST", "/v1/itsm/tickets", title)).status, 200);
    const { body } = await get("policy/decisions?limit=1", key);
    assert.equal(body.integration, "policy");
    assert.deepEqual([body.counts.allow, body.decisions.length], [1, 1]);
    assert.deepEqual((await get("policy?limit=1", key)).body, body);
    const theirs = (await get("policy", stranger)).body;
    assert.deepEqual([theirs.counts.allow, theirs.decisions], [0, []]);
    assert.equal((await get("policy")).status, 401);
  });

  it("lists workflows, collections and trails", async () => {
    const { body: soar } = await get("soar/workflows");
    assert.equal(soar.status, "down", "this gateway has no Temporal");
    assert.ok(
      soar.workflows.some(({ workflow_id }: Answer["body"]) => workflow_id === "itsmLoop"),
    );
    assert.ok(soar.workflows.every(({ active }: Answer["body"]) => !active));
    assert.deepEqual((await get("soar")).body, soar);
    const { body: rag } = await get("rag/collections");
    assert.deepEqual(rag.collections.map(({ name }: Answer["body"]) => name), [
      "articles",
      "incidents",
    ]);
    const { body: audit } = await get("audit/trails", key);
    assert.deepEqual(audit.trails.map(({ trail }: Answer["body"]) => trail), [
      "ledger",
      "governance_decisions",
    ]);
    assert.equal((await get("audit/trails")).status, 401);
  });

  it("gives the scores with the view of grc", async () => {
    const { body } = await get("grc/compliance");
    assert.equal(body.integration, "grc");
    assert.deepEqual(Object.keys(body.scores).sort(), ["hipaa", "nist_csf", "soc2"]);
  });

  const tool = (name: string, input = {}) => callTool(gateway.platform, key, name, input);

  it("gives the same views as tools", async () => {
    for (const name of ["integration_status", "rag_health", "soar_health"]) {
      await tool(name);
    }
  });

  it("starts a workflow by the rules of its own operation alone", async () => {
    const trigger = (workflow_id: string, body = {}) => tool("soar_trigger", { workflow_id, body });
    const message = (work: Promise<unknown>) => work.then(() => "", ({ message }) => message);
    assert.match(await message(trigger("other")), /There is no workflow other to start/);
    assert.match(await message(trigger("webhookDelivery")), /There is no workflow webhookDelivery/);
    assert.match(await message(trigger("runbook:own")), /start itsmLoop with a service/);
    assert.match(await message(trigger("itsmTest", { scenario: "?" })), /^body\.scenario/);
    assert.match(await message(trigger("itsmTest")), /Temporal/, "it would start");
    const { store } = gateway.platform;
    await asSuperuser(store).transaction(async (trx) => {
      await addStop(trx, { kind: "tool", name: "itsm_run_test", reason: "Not on Fridays" });
    });
    assert.match(await message(trigger("itsmTest")), /Not on Fridays/);
  });

  it("asks the engine for passages", async () => {
    await assert.rejects(tool("rag_query", { question: "Why?" }), /engine can't be reached/);
  });
});
