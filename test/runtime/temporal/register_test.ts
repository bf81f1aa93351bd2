import assert from "node:assert/strict";
import { Client, Connection } from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import { loadConfig } from "../../../config.ts";
import {
  ensureRelay,
  ensureSequencer,
  keepWorkflowRunning,
  registerTemporal,
} from "../../../runtime/temporal/mod.ts";
import { testTemporal } from "../../_servers.ts";
import { eventually } from "../../_time.ts";

const DAY_SECONDS = 86_400;

describe("registerTemporal()", () => {
  let connection: Connection;
  let client: Client;
  before(async () => {
    const { address, namespace } = await testTemporal();
    connection = await Connection.connect({ address });
    client = new Client({ connection, namespace });
  });
  after(() => connection.close());

  async function retention(): Promise<number> {
    const { namespace } = client.options;
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    return Number(config?.workflowExecutionRetentionTtl?.seconds) / DAY_SECONDS;
  }

  it("prolongs the retention of histories to that of temporal.yaml, and never shortens it", async () => {
    const config = loadConfig({});
    assert.ok(
      await retention() < config.temporal.retention_days,
      "there must be something to do",
    );
    await registerTemporal(client, config);
    assert.equal(await retention(), config.temporal.retention_days);
    const { namespace } = client.options;
    const workflowExecutionRetentionTtl = msToTs("60 days");
    const { workflowService } = connection;
    await workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } });
    await registerTemporal(client, config);
    assert.equal(await retention(), 60);
  });
});

describe("keepWorkflowRunning()", () => {
  let connection: Connection;
  let client: Client;
  before(async () => {
    const { address, namespace } = await testTemporal();
    connection = await Connection.connect({ address });
    client = new Client({ connection, namespace });
  });
  after(() => connection.close());

  it("starts a workflow that never ends, and again after somebody has ended it", async () => {
    const over = new AbortController();
    const keeping = [ensureSequencer, ensureRelay]
      .map((ensure) => keepWorkflowRunning(client, ensure, over.signal, 50));
    const names = ["ledger-sequencer", "relay"];
    const running = async (name: string): Promise<string | undefined> => {
      const found = await client.workflow.getHandle(name).describe().catch(() => undefined);
      return found?.status.name === "RUNNING" ? found.runId : undefined;
    };
    try {
      for (const name of names) {
        const first = await eventually(() => running(name));
        await client.workflow.getHandle(name).terminate("by mistake");
        assert.notEqual(await eventually(() => running(name)), first);
      }
    } finally {
      over.abort();
      await Promise.all(keeping);
      for (const name of names) await client.workflow.getHandle(name).terminate();
    }
  });
});
