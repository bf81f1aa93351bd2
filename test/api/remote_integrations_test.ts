/** Integrations in their remote forms, against servers that answer in the documented shapes. */
import assert from "node:assert/strict";
import { answerAs, DOCUMENTED } from "../integrations/remote/_documented.ts";
import { type HostileServer, SECRET, startHostileServer } from "../integrations/remote/_hostile.ts";
import { callTool } from "./_call_tool.ts";
import { readViews, startGateway, type TestGateway } from "./_gateway.ts";

describe("integrations in their remote forms", () => {
  let outside: HostileServer;
  let gateway: TestGateway;
  let key: string;
  let stranger: string;
  before(async () => {
    outside = await startHostileServer();
    gateway = await startGateway({
      settings: {
        SEALOOP_CISO_ASSISTANT_URL: outside.url,
        SEALOOP_FLEET_URL: outside.url,
        SEALOOP_N8N_URL: outside.url,
        SEALOOP_WEAVIATE_URL: outside.url,
        SEALOOP_CREDENTIALS: JSON.stringify({
          "ciso-assistant": SECRET,
          fleet: SECRET,
          n8n: SECRET,
          weaviate: SECRET,
        }),
      },
    });
    key = await gateway.key();
    stranger = await gateway.key({ tenant: "another" });
    answerAs(outside, DOCUMENTED);
  });
  after(async () => {
    await gateway?.stop();
    outside.close();
  });

  const get = async (path: string, credential = key) =>
    (await gateway.call(credential, "GET", `/v1/integrations/${path}`)).body;
  const tool = (name: string, credential = key, input = {}) =>
    callTool(gateway.platform, credential, name, input);

  it("shows in the views what the systems have", async () => {
    const { integrations } = await readViews(get);
    const told = Object.fromEntries(
      integrations.map((one: Record<string, string>) => [
        one.integration,
        `${one.mode} ${one.status}: ${one.detail}`,
      ]),
    );
    assert.equal(
      told.grc,
      "remote ok: CISO Assistant has 2 frameworks, 1 assessments, 3 applied controls and 1 risk scenarios",
    );
    assert.equal(told.rmm, "remote degraded: Fleet manages 2 machines: 1 online, 1 offline");
    assert.equal(told.soar, "remote ok: n8n is healthy and accepts our key");
    assert.equal(told.rag, "remote ok: Weaviate has 12 documents in 1 collections");
    assert.match(told.policy, /^built_in ok/);
    for (const credential of [stranger, ""]) {
      const { integrations } = await get("all", credential);
      assert.deepEqual(
        new Set(integrations.map((one: { mode: string }) => one.mode)),
        new Set(["built_in"]),
      );
      assert.doesNotMatch(JSON.stringify(integrations), /CISO|Fleet|n8n|Weaviate/);
    }
  });

  it("lists what they have to the operator's keys alone", async () => {
    const agents = await get("rmm/agents");
    assert.deepEqual(agents.agents.map((one: { agent_id: string }) => one.agent_id), [
      "fleet:1",
      "fleet:2",
    ]);
    assert.match(agents.detail, /^0 devices; Fleet manages 2 machines/);
    const theirs = await get("rmm/agents", stranger);
    assert.deepEqual([theirs.total, theirs.mode], [0, "built_in"]);

    const ids = async (credential?: string) =>
      (await get("soar/workflows", credential)).workflows
        .filter(({ workflow_id }: { workflow_id: string }) => workflow_id.startsWith("n8n:"))
        .map(({ workflow_id, active }: Record<string, unknown>) => [workflow_id, active]);
    assert.deepEqual(await ids(), [["n8n:tqX81", true], ["n8n:by-hand", false]]);
    assert.deepEqual(await ids(stranger), []);

    assert.deepEqual((await get("rag/collections")).collections, [{
      name: "Handbook",
      documents: 12,
    }]);
    assert.equal((await get("rag/collections", stranger)).collections[0].name, "articles");
    const { passages } = await tool("rag_query", key, { question: "Why?" });
    assert.equal(
      (passages as { text: string }[])[0]!.text,
      "Certificates\nThe chain is incomplete",
    );

    const { register } = await tool("grc_health") as { register: { frameworks: object } };
    assert.deepEqual(register.frameworks, {
      total: 2,
      names: ["ISO 27001:2022", "NIST CSF 2.0"],
    });
    assert.equal((await tool("grc_health", stranger)).register, null);
  });

  it("tells admins the hosts, and nobody the credentials", async () => {
    const admin = await gateway.key({ tier: "admin" });
    const { body } = await gateway.call(admin, "GET", "/v1/admin/integrations");
    const grc = body.integrations.find((one: Record<string, string>) => one.integration === "grc");
    assert.deepEqual([grc.configured, grc.host, grc.credential_set], [
      true,
      new URL(outside.url).host,
      true,
    ]);
    assert.doesNotMatch(JSON.stringify(body), new RegExp(SECRET));
  });

  it("goes on with the platform's own forms while the systems fail, and repeats nothing of them", async () => {
    outside.answer((_, response) => response.writeHead(500).end(SECRET));
    assert.deepEqual((await get("rmm/agents")).agents, []);
    const { workflows } = await get("soar");
    const own = workflows.find((one: Record<string, string>) => one.workflow_id === "itsmLoop");
    assert.equal(own.active, true);
    assert.deepEqual((await get("rag/collections")).collections, []);
    assert.equal((await tool("grc_health")).register, null);
    await assert.rejects(tool("rag_query", key, { question: "Why?" }), /^Unavailable: Weaviate/);
    for (let n = 0; n < 3; n++) await get("rmm/agents");
    const { status, detail } = (await get("all?name=rmm")).integrations[0];
    assert.equal(status, "down");
    assert.match(detail, /^Fleet failed again and again, and is asked again in \d+ s$/);
    assert.doesNotMatch(gateway.log(), new RegExp(SECRET));
  });
});
