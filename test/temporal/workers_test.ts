import assert from "node:assert/strict";
import { NativeConnection } from "@temporalio/worker";
import { loadConfig } from "../../config.ts";
import { listWorkerQueues, startWorkers } from "../../temporal/mod.ts";
import { testTemporal } from "../_servers.ts";

describe("startWorkers()", () => {
  it("closes its connection where the workers can't be created", async () => {
    const { address, namespace } = await testTemporal();
    const connection = await NativeConnection.connect({ address });
    const starting = startWorkers({
      config: loadConfig({}),
      taskQueues: listWorkerQueues(loadConfig({})),
      activities: {},
      workflows: { workflowBundle: { codePath: "/nowhere/bundle.js" } },
      connect: () => Promise.resolve({ connection, namespace }),
      onFailure: assert.fail,
    });
    await assert.rejects(starting, /nowhere/);
    await assert.rejects(connection.workflowService.getSystemInfo({}), /closed/i);
  });

  it("can be stopped where it takes none of the task queues", async () => {
    const { address, namespace } = await testTemporal();
    const workers = await startWorkers({
      config: loadConfig({}),
      taskQueues: [],
      activities: {},
      connect: async () => ({ connection: await NativeConnection.connect({ address }), namespace }),
      onFailure: assert.fail,
    });
    await workers.stop();
  });
});

describe("listWorkerQueues()", () => {
  it("lists all queues but the sequencer's, or those of the setting", () => {
    assert.deepEqual(listWorkerQueues(loadConfig({})), ["itsm", "ledger", "media"]);
    const some = loadConfig({ SEALOOP_TASK_QUEUES: "ledger,sequencer" });
    assert.deepEqual(listWorkerQueues(some), ["ledger"]);
  });
});
