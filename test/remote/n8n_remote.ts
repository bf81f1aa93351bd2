import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../../config.ts";
import { openN8n, type SoarClient } from "../../integrations/soar/mod.ts";
import { installNpm, LONG_TIMEOUT_MS } from "../_download.ts";
import { startN8n, type TestN8n } from "./_n8n.ts";
import { skipSuite } from "./_skip.ts";

const ACT = "ACT-5b1e09c77a42";
const webhook = (path: string, more = {}) => ({
  id: path,
  name: "Webhook",
  type: "n8n-nodes-base.webhook",
  typeVersion: 2,
  position: [0, 0],
  webhookId: `1b4e28ba-2fa1-11d2-883f-${path.padEnd(12, "0")}`,
  parameters: { path, httpMethod: "POST", options: {}, ...more },
});

describe("n8n", function () {
  this.timeout(900_000);
  let n8n: TestN8n | undefined;
  let client: SoarClient;
  let id: string;

  const open = (key: string) =>
    openN8n(loadConfig({
      SEALOOP_N8N_URL: n8n!.url,
      SEALOOP_CREDENTIALS: JSON.stringify({ n8n: key }),
    }))!;

  before(async function () {
    const installed = await installNpm("n8n", LONG_TIMEOUT_MS);
    if ("missing" in installed) return skipSuite(this, installed.missing);
    n8n = await startN8n(installed.folder);
    client = open(n8n.apiKey);
    id = await n8n.addWorkflow("Restart the printer", [webhook("restart")]);
  });
  after(() => n8n?.close());

  it("accepts its key, and no other", async () => {
    await client.check();
    await assert.rejects(open("another").check(), /does not accept our credential \(401\)/);
  });

  it("lists its workflows, and the webhooks that start them", async () => {
    assert.deepEqual(await client.listWorkflows(), [
      { id, name: "Restart the printer", isStartable: true },
    ]);
    assert.equal(await client.findWebhook(id), "restart");
    await assert.rejects(client.findWebhook("nothing"), { code: "refused" });
  });

  it("shows the execution that an act has started, and none for another act", async () => {
    const since = new Date();
    await client.trigger("restart", ACT, { floor: 3 });
    let execution;
    for (let n = 0; n < 40 && !execution?.hasEnded; n++) {
      await sleep(500);
      execution = await client.findExecution(id, ACT, since);
    }
    assert.equal(execution?.status, "success");
    assert.equal(await client.findExecution(id, "ACT-000000000000", since), undefined);
  });

  it("refuses a webhook that it does not have", async () => {
    await assert.rejects(client.trigger("nothing", ACT, {}), {
      code: "refused",
      outcome: "unknown",
    });
  });
});
