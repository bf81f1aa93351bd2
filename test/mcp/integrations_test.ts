import assert from "node:assert/strict";
import { INTEGRATIONS, type IntegrationView } from "../../contract/domain/mod.ts";
import { eventually } from "../_time.ts";
import { connectHttp, startToolServer, type TestToolServer } from "./_tool_server.ts";

describe("integration_status, by the SDK's own client over HTTP", () => {
  let server: TestToolServer;
  before(async () => {
    server = await startToolServer({
      settings: { SEALOOP_OPA_URL: "http://127.0.0.1:9", SEALOOP_LIMIT_TOOLS: "10000" },
    });
  });
  after(() => server.stop());

  it("shows eight lines, each with its form and the truth about it", async () => {
    const client = await connectHttp(server.url, (await server.key()).key);
    try {
      const integrations = await eventually(async () => {
        const { isError, structuredContent } = await client.callTool({
          name: "integration_status",
        });
        assert.ok(!isError);
        const { integrations } = structuredContent as { integrations: IntegrationView[] };
        const audit = integrations.find(({ integration }) => integration === "audit");
        return audit?.status === "degraded" ? undefined : integrations; // a busy machine reads the ledger too late
      });
      assert.deepEqual(integrations.map(({ integration }) => integration), [...INTEGRATIONS]);
      const lines = new Map(integrations.map((view) => [view.integration, view]));
      const told = (name: IntegrationView["integration"]) => {
        const { mode, status } = lines.get(name)!;
        return `${mode}: ${status}`;
      };
      assert.equal(told("policy"), "remote: down", "nothing listens at OPA's address");
      assert.equal(told("audit"), "built_in: ok");
      assert.equal(told("rag"), "built_in: down", "this tool server has no engine");
      for (const { mode, status, detail } of integrations) {
        assert.equal(mode === "not_configured", status === "not_configured");
        assert.ok(detail.length > 0);
      }
    } finally {
      await client.close();
    }
  });
});
